"""Estimators with a center and weights of the regularizer."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from structsvm import Ranker, StructuralSVM, load
from structsvm.estimators import RampRanker

RNG = np.random.default_rng(0)
X, QID = RNG.standard_normal((60, 3)), np.repeat(np.arange(10), 6)
Y = (X[:, 0] + RNG.standard_normal(60) > 0.3).astype(float)
CENTER, PENALTY = np.array([0.0, 2.0, -1.0]), np.array([1.0, 0.1, 10.0])


def test_a_path_a_warm_start_and_a_file(tmp_path: Path) -> None:
    ranker = Ranker("roc_area", center=CENTER, feature_penalty=PENALTY.tolist(), warm_start=True)
    path = ranker.path(X, Y, qid=QID, Cs=[1e-6, 1.0, 10.0])
    np.testing.assert_allclose(path[0].coef_, CENTER, atol=1e-4)
    ranker.set_params(C=10.0).fit(X, Y, qid=QID)
    first = len(ranker.result_.history)
    assert len(ranker.fit(X, Y, qid=QID).result_.history) <= max(2, first // 2)
    ranker.save(tmp_path / "model.npz")
    again = Ranker.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.center, CENTER)
    np.testing.assert_array_equal(again.feature_penalty, PENALTY)
    np.testing.assert_allclose(load(tmp_path / "model.npz").predict(X), ranker.predict(X), atol=1e-12)
    assert clone(again).fit(X, Y, qid=QID).result_.primal == pytest.approx(ranker.result_.primal, abs=0.02)


def test_features_without_entries_keep_the_weight_of_the_center() -> None:
    wide = sp.csr_array((np.concatenate([X.ravel()]), np.tile([5, 900, 1500], 60), np.arange(61) * 3), shape=(60, 2000))
    center = np.zeros(2000)
    center[[5, 7]] = 1.0
    ranker = Ranker("map", C=1.0, center=center).fit(wide, Y, qid=QID)
    assert ranker.coef_[7] == 1.0
    assert ranker.coef_[8] == 0.0


def test_a_structural_svm_and_ramps_take_them() -> None:
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    center = RNG.standard_normal(9)
    svm = StructuralSVM("multiclass", C=1e-6, center=center).fit(X, labels)
    np.testing.assert_allclose(svm.coef_, center, atol=1e-4)
    ramps = RampRanker("map", C=1e-6, center=CENTER, feature_penalty=PENALTY).fit(X, Y, qid=QID)
    np.testing.assert_allclose(ramps.coef_, CENTER, atol=1e-4)
    free = RampRanker("roc_area", C=10.0, center=CENTER, feature_penalty=PENALTY).fit(X, Y, qid=QID)
    assert free.stationary_
