import numpy as np
import pandas as pd
import pytest

from structsvm import Ranker
from structsvm.exceptions import InputError
from structsvm.rankers import LambdaMART
from tests.objectives.product_of_two import product_of_two

pyterrier = pytest.importorskip("pyterrier")
from structsvm.objectives.for_pyterrier import LearnedRanking  # noqa: E402


def retrieved(seed=0):
    X, y, qid = product_of_two(queries=12, seed=seed)
    y = (X[:, 0] > 0.5).astype(int)
    names = [f"d{number}" for number in range(len(y))]
    results = pd.DataFrame({"qid": qid.astype(str), "docno": names, "score": 0.0, "features": list(X)})
    qrels = pd.DataFrame({"qid": qid.astype(str), "docno": names, "label": y})
    return results.sample(frac=1.0, random_state=0, ignore_index=True), qrels, X, y, qid


def test_it_learns_what_a_ranker_learns_and_ranks_by_it():
    results, qrels, X, y, qid = retrieved()
    judged = qrels[qrels["label"] > 0].sample(frac=1.0, random_state=1)  # results without a judgment count 0
    step = LearnedRanking(Ranker(tol=1e-8)).fit(results, judged)
    ranked = step.transform(results)
    expected = pd.Series(Ranker(tol=1e-8).fit(X, y, qid=qid).predict(X), [f"d{number}" for number in range(len(y))])
    np.testing.assert_allclose(ranked["score"], expected[ranked["docno"]], atol=1e-3)
    by_rank = ranked.sort_values(["qid", "rank"]).groupby("qid")["score"]
    assert by_rank.is_monotonic_decreasing.all()
    assert "features" in ranked
    assert not len(step.transform(results[:0]))


def test_it_is_a_step_of_a_pipeline():
    results, qrels, *_ = retrieved()
    topics = pd.DataFrame({"qid": results["qid"].unique(), "query": "words"})
    pipeline = pyterrier.Transformer.from_df(results) >> LearnedRanking(Ranker(normalize="query-z-score"))
    pipeline.fit(topics, qrels, topics, qrels)
    result = pipeline.transform(topics).merge(qrels, on=["qid", "docno"])
    assert result[result["rank"] == 0]["label"].all()


def test_validation_reaches_rankers_that_learn_step_by_step():
    pytest.importorskip("lightgbm")
    results, qrels, *_ = retrieved()
    others, judgments, *_ = retrieved(seed=1)
    step = LearnedRanking(LambdaMART(10, min_child_samples=5, params={"num_threads": 1}))
    step.fit(results, qrels, others, judgments)
    assert len(step.ranker.validation_scores_) == 10


def test_mistakes_are_told():
    results, qrels, *_ = retrieved()
    step = LearnedRanking(Ranker())
    with pytest.raises(InputError, match="it has no features. A step before it makes features"):
        step.fit(results.drop(columns="features"), qrels)
    with pytest.raises(InputError, match="the judgments must be a data frame with qid, docno, label"):
        step.fit(results, qrels.drop(columns="label"))
    with pytest.raises(InputError, match="each result must have a vector of features"):
        step.fit(results.assign(features=[np.zeros(i % 2 + 1) for i in range(len(results))]), qrels)
    with pytest.raises(InputError, match="ranker must be a Ranker"):
        LearnedRanking("map")
