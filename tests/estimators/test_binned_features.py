"""Estimators take a BinnedMatrix wherever they take an array."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, cross_val_score, train_test_split
from sklearn.svm import LinearSVC

from structsvm import Ranker, StructuralSVM
from structsvm.exceptions import InputError
from structsvm.features import BinnedMatrix, Thresholds
from tests.slow import slow


@pytest.fixture(scope="module")
def binned(queries: Any) -> Any:
    X, y, qid = queries
    order = np.random.default_rng(0).permutation(len(y))
    return Thresholds(bins=5).fit_transform(X[order]), y[order], qid[order]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        *slow({"fit_intercept": True}),
        {"loss": "zero_one", "class_weight": "balanced"},
    ],
)
def test_a_ranker(binned: Any, settings: Any, tmp_path: Path) -> None:
    B, y, qid = binned
    ranker = Ranker(C=10.0, tol=1e-6, **settings).fit(B, y, qid=qid)
    expanded = Ranker(C=10.0, tol=1e-6, **settings).fit(B.toarray(), y, qid=qid)
    assert ranker.n_features_in_ == B.shape[1] == 30
    assert ranker.result_.primal == pytest.approx(expanded.result_.primal, abs=2e-5)
    np.testing.assert_allclose(ranker.predict(B), ranker.predict(B.toarray()), atol=1e-12)
    assert ranker.score(B, y, qid=qid) == pytest.approx(ranker.score(B.toarray(), y, qid=qid))
    ranker.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(Ranker.load(tmp_path / "model.npz").predict(B), ranker.predict(B))


def test_a_path_and_a_look(binned: Any) -> None:
    B, y, qid = binned
    rankers = Ranker(tol=1e-5).path(B, y, qid, Cs=[1.0, 100.0])
    assert [ranker.result_.C for ranker in rankers] == [1.0, 100.0]
    one = qid == 2
    seen = rankers[1].most_violated(B[one], y[one])
    assert seen.hinge == pytest.approx(rankers[1].most_violated(B[one].toarray(), y[one]).hinge)


def test_a_structural_svm(binned: Any) -> None:
    B, _, qid = binned
    svm = StructuralSVM(C=10.0).fit(B, qid % 3)
    assert svm.n_features_in_ == 30
    assert svm.predict(B[:7]).shape == (7,)
    assert svm.score(B, qid % 3) == pytest.approx(svm.score(B.toarray(), qid % 3))


def test_cross_validation_and_splits(binned: Any, routing: Any) -> None:
    B, y, qid = binned
    routed = {"qid": qid, "groups": qid}
    scores = cross_val_score(Ranker(), B, y, cv=GroupKFold(3), params=routed)
    expected = cross_val_score(Ranker(), B.toarray(), y, cv=GroupKFold(3), params=routed)
    np.testing.assert_allclose(scores, expected, atol=0.02)
    train, test = train_test_split(B, random_state=0)
    assert isinstance(train, BinnedMatrix)
    assert len(train) + len(test) == len(B)


def test_other_estimators_see_an_array(binned: Any) -> None:
    B, y, _ = binned
    np.testing.assert_array_equal(LinearSVC().fit(B, y).predict(B), LinearSVC().fit(B.toarray(), y).predict(B.tocsr()))


def test_inconsistent_arguments_are_errors(binned: Any) -> None:
    B, y, qid = binned
    ranker = Ranker().fit(B, y, qid=qid)
    with pytest.raises(InputError, match="X has 3 features, but Ranker is expecting 30 features"):
        ranker.predict(BinnedMatrix([[1]], [0, 3]))
    with pytest.raises(InputError, match="1 sample.*while a minimum of 2"):
        Ranker().fit(B[:1], y[:1])
    with pytest.raises(InputError, match="0 feature.*No function has thresholds"):
        Ranker().fit(BinnedMatrix([[0], [0]], [0, 0]), [0, 1])
