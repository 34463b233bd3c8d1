"""Estimators in files of skops and in notebooks."""

import pickle

import numpy as np
import pytest

from structsvm import Ranker, RankerCV, StructuralSVM, StructuralSVMCV
from structsvm.estimators import FeatureEliminationCV, RampRanker
from structsvm.rankers import LambdaMART, MaximumEntropy, RankBoost, RankNet, RankSVM, TreeRanker, WeightSearch
from structsvm.result import Status

ESTIMATORS = [
    Ranker(normalize="standard"),
    RankerCV(Cs=[1.0], cv=2),
    StructuralSVM("zero_one"),
    StructuralSVMCV(StructuralSVM("multiclass"), Cs=[1.0], cv=2),
    FeatureEliminationCV(cv=2),
    RampRanker(),
    LambdaMART(n_estimators=2),
    MaximumEntropy(),
    RankBoost(n_estimators=2),
    RankNet(max_iter=2),
    RankSVM(),
    TreeRanker(),
    WeightSearch(),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_skops_restores_estimators_that_have_predicted(estimator):
    io = pytest.importorskip("skops.io")
    X = np.random.default_rng(0).normal(size=(100, 3))
    y = (X[:, 0] > 0.5).astype(int)
    queries = {} if "Structural" in type(estimator).__name__ else {"qid": np.repeat(np.arange(10), 10)}
    predicted = estimator.fit(X, y, **queries).predict(X)
    content = io.dumps(estimator)
    restored = io.loads(content, trusted=io.get_untrusted_types(data=content))
    np.testing.assert_array_equal(restored.predict(X), predicted)


def test_what_skops_reads_of_a_status_is_its_value_and_of_a_model_its_fields():
    constructor, arguments = Status.CONVERGED.__reduce__()
    assert constructor(*arguments) is Status.CONVERGED
    assert pickle.loads(pickle.dumps(Status.STALLED)) is Status.STALLED
    ranker = Ranker().fit([[1.0], [2.0]], [0, 1], qid=[1, 1])
    ranker.predict([[1.0]])
    assert ranker.model_ not in ranker.model_.__getstate__().values()


@pytest.mark.parametrize("estimator", [Ranker(C=2.0), StructuralSVM("zero_one"), RampRanker()], ids=repr)
def test_notebooks_show_the_certificate_of_a_fit(estimator):
    unfitted = estimator._repr_mimebundle_()["text/html"]
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 1, 0])
    fitted = estimator.fit(X, y)._repr_mimebundle_()["text/html"]
    shown = f"<p>optimum between {estimator.result_.dual:.8g} (dual)"
    assert [shown in html for html in (unfitted, fitted)] == [False, not isinstance(estimator, RampRanker)]
    assert estimator._repr_mimebundle_()["text/plain"] == repr(estimator)
