"""A weighted sum of scores: the sources of its weights, and errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from structsvm import Ranker
from structsvm.data import Qrels, Run
from structsvm.exceptions import InputError, ZeroWeightsWarning
from structsvm.features import FillMissing, QueryMinMax
from structsvm.fusion import CombMNZ, CombSUM, WeightedCombSUM, fuse_runs
from structsvm.metrics import NDCG
from structsvm.rankers import RankBoost
from tests.fusion.literal import matrices
from tests.fusion.test_estimators import queries

nan = np.nan


@given(X=matrices(), how=st.sampled_from(["none", "min-max", "z", "sum"]))
def test_equal_weights_are_comb_sum(X, how):
    if how == "none":
        X = np.clip(X, -1e100, 1e100)
    given_weights = WeightedCombSUM(how, weights=np.full(X.shape[1], 2.0))
    np.testing.assert_array_equal(given_weights.fit(X).predict(X), 2.0 * CombSUM(how).fit(X).predict(X))


def test_weights_are_the_measure_of_each_system_alone():
    X, y, qid = queries()
    fitted = WeightedCombSUM(measure="ndcg@5", power=2.0).fit(X, y, qid=qid)
    retrieved = ~np.isnan(X.T)
    alone = [
        NDCG(5).mean(column[rows], y[rows], qid[rows], judged=(y, qid))
        for column, rows in zip(X.T, retrieved, strict=True)
    ]
    np.testing.assert_allclose(fitted.weights_, np.square(alone), rtol=1e-14)


@pytest.mark.parametrize("measure", ["map", "p@5", "ndcg", "bpref", "gm_map", "map(empty=skip)"])
@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]])
def test_documents_that_a_system_did_not_retrieve_count_nothing_for_it(measure, order):
    """The first system retrieves irrelevant documents, the second relevant ones, the third only of the first query."""
    X = np.array([[2.0, nan, nan], [nan, 2.0, 1.0], [nan, 1.0, 3.0], [1.0, nan, nan], [nan, 4.0, nan], [3.0, 2.0, nan]])
    y, qid = np.array([-1, 1, -1, -1, 2, -1]), np.array([1, 1, 1, 2, 2, 2])
    weights = WeightedCombSUM(measure=measure).fit(X[order], y[order], qid=qid[order]).weights_
    least = 1e-5
    third = {"map": 0.25, "p@5": 0.1, "ndcg": 0.5 / np.log2(3.0), "bpref": 0.0, "gm_map": np.sqrt(0.5 * least)}
    expected = [
        least if measure == "gm_map" else 0.0,
        0.2 if measure == "p@5" else 1.0,
        third[measure.partition("(")[0]],
    ]
    np.testing.assert_allclose(weights, expected, rtol=1e-12)


def test_queries_without_relevant_documents_are_left_out_where_the_measure_says_so():
    X, y, qid = [[1.0, nan], [2.0, 1.0], [3.0, nan]], [1, 0, 0], [1, 1, 2]
    assert WeightedCombSUM(measure="map(empty=skip)").fit(X, y, qid=qid).weights_.tolist() == [0.5, 0.0]
    assert WeightedCombSUM(measure="map").fit(X, y, qid=qid).weights_.tolist() == [0.25, 0.0]


def test_weights_that_all_are_0_are_told():
    with pytest.warns(
        ZeroWeightsWarning, match="all weights and fused scores of WeightedCombSUM are 0.*p@1 of each system alone"
    ):
        WeightedCombSUM(measure="p@1").fit([[1.0, 2.0], [3.0, 4.0]], [1, 0])


def test_weights_of_a_ranker_are_of_the_scores_as_they_are_combined():
    X, y, qid = queries()
    ranker = Ranker("map", C=10.0, normalize="standard")
    fitted = WeightedCombSUM(weights=ranker).fit(X, y, qid=qid)
    features = FillMissing(0.0).fit_transform(QueryMinMax().fit_transform(X, qid=qid), qid=qid)
    learned = clone(ranker).fit(features, y, qid=qid)
    shift = (fitted.predict(X, qid) - learned.predict(features))[~np.isnan(X).all(axis=1)]
    np.testing.assert_allclose(shift, shift[0], atol=1e-2)
    with pytest.raises(InputError, match="the ranker normalizes by query"):
        WeightedCombSUM(weights=Ranker(normalize="query-min-max")).fit(X, y, qid=qid)


def test_weights_that_a_ranker_learns():
    X, y, qid = queries()
    fitted = WeightedCombSUM(weights=Ranker("map", C=10.0, tol=1e-6)).fit(X, y, qid=qid)
    features = FillMissing(0.0).fit_transform(QueryMinMax().fit_transform(X, qid=qid), qid=qid)
    ranker = Ranker("map", C=10.0, tol=1e-6).fit(features, y, qid=qid)
    np.testing.assert_allclose(fitted.weights_, ranker.coef_, atol=1e-3)
    retrieved = ~np.isnan(X).all(axis=1)
    np.testing.assert_allclose(fitted.predict(X, qid)[retrieved], features[retrieved] @ fitted.weights_, rtol=1e-12)


@pytest.mark.parametrize(
    ("method", "y", "message"),
    [
        (WeightedCombSUM(), None, "learns its weights from labels: fit requires y.*or weights="),
        (WeightedCombSUM(), [0, 0], "no label of y is above 0"),
        (WeightedCombSUM(), [1], "y"),
        (WeightedCombSUM(weights=[1.0]), None, "weights must be 2 finite numbers, one for each system, got \\[1.0\\]"),
        (WeightedCombSUM(weights=1.0), None, "weights must be 2 finite numbers, one for each system, got 1.0"),
        (WeightedCombSUM(weights=[1.0, nan]), None, "weights must be 2 finite numbers"),
        (WeightedCombSUM(weights=RankBoost(2)), [1, 0], "RankBoost learns no weights"),
    ],
)
def test_invalid_arguments_are_errors(method, y, message):
    with pytest.raises(InputError, match=message):
        clone(method).fit([[1.0, 2.0], [3.0, 1.0]], y)


def runs():
    """Return a run that is right about topic 1 and one that is wrong, and both of topic 2."""
    one = Run.from_scores("one", qid=[1, 1, 2, 2], doc_ids=["a", "b", "c", "d"], scores=[2.0, 1.0, 2.0, 1.0])
    two = Run.from_scores("two", qid=[1, 1, 2, 2], doc_ids=["a", "b", "c", "d"], scores=[1.0, 2.0, 1.0, 2.0])
    return [one, two]


def test_runs_are_weighed_by_judged_topics_and_all_are_fused():
    training = Qrels.from_grades([1, 1, 5], ["a", "b", "x"], [1, 0, 1])
    fused = fuse_runs(runs(), "weighted-comb-sum", qrels=training)
    assert fused.doc_ids.tolist() == ["a", "b", "c", "d"]
    assert fused.scores.tolist() == [1.0, 0.5, 1.0, 0.5]  # AP of topic 1 is 1 for one run and 1/2 for the other
    asked = fuse_runs(runs(), "weighted-comb-sum", qrels=training, topics=[2])
    assert asked.scores.tolist() == [1.0, 0.5]


@pytest.mark.parametrize(
    ("method", "qrels", "message"),
    [
        ("weighted-comb-sum", None, "WeightedCombSUM learns its weights from judgments: pass judgments"),
        ("weighted-comb-sum", Qrels.from_grades([9], ["a"], [1]), "no relevant document that the runs retrieved"),
        (CombMNZ(), Qrels.from_grades([1], ["a"], [1]), "CombMNZ does not use judgments"),
        ("weighted-comb-sum", "qrels.txt", "qrels must be Qrels"),
    ],
)
def test_judgments_that_cannot_be_used(method, qrels, message):
    with pytest.raises(InputError, match=message):
        fuse_runs(runs(), method, qrels=qrels)
