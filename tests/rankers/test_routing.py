"""Every ranker in pipelines and grid searches, with qid and weights handed on by metadata routing."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structsvm import Ranker, fusion, rankers
from structsvm.estimators.ranking import RankingEstimator
from structsvm.fusion import Fusion

CLASSES = {
    name: thing
    for package in (rankers, fusion)
    for name, thing in vars(package).items()
    if isinstance(thing, type) and issubclass(thing, RankingEstimator) and thing is not Fusion
}
SMALL = {
    "LambdaMART": {"n_estimators": 3, "params": {"num_threads": 1}},
    "RankBoost": {"n_estimators": 3},
    "RankNet": {"max_iter": 3, "random_state": 0},
    "TreeRanker": {"n_estimators": 3, "trees": "scikit-learn", "random_state": 0},
}
ESTIMATORS = {"Ranker": Ranker()} | {name: CLASSES[name](**SMALL.get(name, {})) for name in sorted(CLASSES)}
LEARNERS = [name for name, estimator in ESTIMATORS.items() if not isinstance(estimator, Fusion)]


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = (X[:, 0] + rng.normal(size=90) > 0.3).astype(float)
    return X, y, np.repeat(np.arange(9), 10), np.repeat(rng.uniform(0.1, 5.0, 9), 10)


def estimator_of(name):
    if name == "LambdaMART":
        pytest.importorskip("lightgbm")
    return clone(ESTIMATORS[name])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_pipeline_scores_as_its_ranker_does(name):
    X, y, qid, _ = data()
    scaled = StandardScaler().fit_transform(X)
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), estimator_of(name)).fit(X, y, qid=qid)
        assert pipeline.score(X, y, qid=qid) == estimator_of(name).fit(scaled, y, qid=qid).score(scaled, y, qid=qid)


@pytest.mark.parametrize("name", LEARNERS)
def test_weights_of_queries_reach_fit_and_score(name):
    X, y, qid, weights = data()
    scaled = StandardScaler().fit_transform(X)
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, estimator_of(name)).fit(X, y, qid=qid, sample_weight=weights)
        result = pipeline.score(X, y, qid=qid, sample_weight=weights)
    alone = estimator_of(name).fit(scaled, y, qid=qid, sample_weight=weights)
    assert result == alone.score(scaled, y, qid=qid, sample_weight=weights)
    assert result != alone.score(scaled, y, qid=qid)
