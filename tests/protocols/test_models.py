"""The models, one by one."""

import numpy as np
import pytest
from attrs import evolve
from sklearn.base import clone

from structsvm import Ranker
from structsvm.exceptions import UnknownNameError
from structsvm.features import Thresholds
from structsvm.protocols.catalogue import PAPER_MODELS
from structsvm.protocols.svm_models import merge_equal
from structsvm.rankers import tree_ranker
from structsvm.registry import benchmark_models
from structsvm.registry.built_in import experiment_models
from tests.protocols.experiment.conftest import scored_documents

SCORES, Y, QID = scored_documents(6, 40, 3)
X = Thresholds(8).fit_transform(SCORES)


def test_the_models_of_the_paper_by_name():
    assert list(PAPER_MODELS[:6]) == ["SVM-map", "SVM-roc", "SVM-acc", "SVM-acc2", "SVM-acc3", "SVM-acc4"]
    assert list(PAPER_MODELS[6:]) == ["SVM-acc+b", "SVM-acc2+b", "SVM-acc3+b", "SVM-acc4+b"]
    assert experiment_models.create("svm-ACC2+b", bins=20).name == "SVM-acc2+b"
    assert experiment_models.create("SVM-acc3", bins=20).features.transformer().get_params() == {
        "bins": 20,
        "spacing": "even",
        "low": 0.0,
        "high": 1.0,
    }
    with pytest.raises(UnknownNameError, match="unknown experiment model 'svm-mpa'. Did you mean 'SVM-map'"):
        experiment_models.create("svm-mpa")


@pytest.mark.parametrize("name", ["SVM-acc", "SVM-acc+b", "SVM-acc2", "SVM-acc2+b"])
def test_the_classifiers_have_the_optimum_of_zero_one(name):
    """Merged documents, and class weights in the ratio of the classes, change only the speed."""
    model = experiment_models.create(name)
    model = evolve(model, Cs=(0.01, 1.0, 100.0))
    for candidate in model.candidates(X, Y, QID):
        exact = Ranker(
            "zero_one",
            candidate.value,
            tol=1e-6,
            fit_intercept=name.endswith("+b"),
            class_weight="balanced" if "acc2" in name else None,
        ).fit(X, Y, qid=QID)
        primal = candidate.scores.args[0].result_.primal
        assert candidate.gap <= 1e-6
        assert abs(primal - exact.result_.primal) <= 2e-6 * candidate.value


def test_documents_on_the_margin_of_a_classifier_are_tied():
    model = evolve(experiment_models.create("SVM-acc"), Cs=(1e4,), tol=1e-10)
    (candidate,) = model.candidates(X, Y, QID)
    assert np.count_nonzero(candidate.scores(X, QID) == -1.0) >= 20


def test_equal_documents_are_merged_and_keep_their_weight():
    relevant, weight = np.arange(240) % 3 == 0, np.arange(240) % 5 + 1.0
    rows, merged = merge_equal(X, relevant, weight)
    keys = [(*codes, kind) for codes, kind in zip(X.codes.tolist(), relevant.tolist(), strict=True)]
    assert len(rows) == len(set(keys)) < 240
    for row, total in zip(rows, merged, strict=True):
        assert total == sum(weight[k] for k in range(240) if keys[k] == keys[row])


def test_features_that_are_no_bins_are_not_merged():
    rows, merged = merge_equal(X.toarray(), Y > 0, np.full(240, 2.0))
    assert rows.tolist() == list(range(240))
    assert set(merged) == {2.0}


@pytest.mark.slow
def test_trees_grow_once_for_all_values_of_C(monkeypatch):
    """Each value has the scores of a separate fit, up to tol."""
    pytest.importorskip("lightgbm")
    model = evolve(benchmark_models.create("svm-map-trees"), Cs=(0.01, 0.1, 1.0))
    grow, grown = tree_ranker._grow, []
    with monkeypatch.context() as patch:
        patch.setattr(tree_ranker, "_grow", lambda *arguments: grown.append(1) or grow(*arguments))
        candidates = model.candidates(SCORES, Y, QID)
    assert len(grown) == 1
    for candidate in candidates:
        alone = clone(model.ranker).set_params(C=candidate.value).fit(SCORES, Y, QID)
        np.testing.assert_allclose(candidate.scores(SCORES, QID), alone.predict(SCORES, QID), atol=0.03)
