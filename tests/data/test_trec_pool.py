"""Pools of runs: the union of their documents, and average precision over it by two denominators."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.data import Pool, Qrels, RankingData, Run, pool_runs
from structsvm.exceptions import InputError, UnknownNameError
from structsvm.metrics import AP
from tests.data.trec_reference import average_precision, average_precisions, ranked

Scores = dict[str, dict[str, float]]
Grades = dict[str, dict[str, int]]


def run_of(name: str, scores: Scores) -> Run:
    rows = [(topic, doc, score) for topic, of in scores.items() for doc, score in of.items()]
    return Run.from_scores(name, *zip(*rows, strict=True))


def qrels_of(grades: Grades) -> Qrels:
    rows = [(topic, doc, grade) for topic, of in grades.items() for doc, grade in of.items()]
    return Qrels.from_grades(*zip(*rows, strict=True))


def head(scores: dict[str, float], depth: int) -> dict[str, float]:
    return {doc: scores[doc] for doc in ranked(scores)[:depth]}


ONE: Scores = {"10": {"a": 3, "b": 2, "c": 1}, "9": {"x": 1, "y": 1, "z": 0.5}, "7": {"x": 1}}
TWO: Scores = {"10": {"d": -3, "a": -4}, "9": {"w": 1}, "8": {"a": 1}}
JUDGED: Grades = {
    "10": {"a": 0, "b": -1, "d": 2, "unfound": 1},
    "9": {"x": 1, "w": 1},
    "8": {"a": 0},
    "6": {"a": 1},
    "5": {"a": 1, "b": 1},
}


@pytest.fixture
def pool() -> Pool:
    return pool_runs([run_of("one", ONE), run_of("two", TWO)], qrels_of(JUDGED), depth=2)


def test_the_pool_is_the_union_of_the_first_documents(pool):
    nan = np.nan
    assert repr(pool) == "Pool(2 topics, 6 documents, 2 runs)"
    assert pool.run_names == ("one", "two")
    assert pool.topics == ("9", "10")
    assert pool.qid.tolist() == ["9", "9", "9", "10", "10", "10"]
    assert pool.doc_ids.tolist() == ["y", "x", "w", "d", "b", "a"]
    np.testing.assert_array_equal(pool.X, [[1, nan], [1, nan], [nan, 1], [nan, -3], [2, nan], [3, -4]])
    assert pool.y.tolist() == [0, 1, 1, 2, 0, 0]
    assert pool.relevant == {"9": 2, "10": 1}
    assert pool.relevant_judged == {"9": 2, "10": 2}
    assert sorted(set(pool.qrels.qid.tolist())) == ["10", "9"]


def test_it_says_what_is_left_out(pool):
    assert dict(pool.left_out) == {
        "5": "no run has it",
        "6": "no run has it",
        "7": "it is not judged",
        "8": "no document is judged relevant",
    }
    with pytest.raises(TypeError):
        pool.left_out["1"] = "for a reason"
    deep = pool_runs([run_of("one", {"1": {"a": 3, "b": 2}, "2": {"a": 1}})], qrels_of({"1": {"b": 1}, "2": {"a": 1}}))
    assert deep.topics == ("1", "2")
    shallow = pool_runs(
        [run_of("one", {"1": {"a": 3, "b": 2}, "2": {"a": 1}})], qrels_of({"1": {"b": 1}, "2": {"a": 1}}), depth=1
    )
    assert dict(shallow.left_out) == {"1": "no run retrieved any of the 1 documents judged relevant"}


def test_only_the_topics_asked_for():
    runs, qrels = [run_of("one", ONE), run_of("two", TWO)], qrels_of(JUDGED)
    chosen = pool_runs(runs, qrels, topics=[10, "8", 77])
    assert chosen.topics == ("10",)
    assert dict(chosen.left_out) == {
        "8": "no document is judged relevant",
        "77": "no run has it and it is not judged",
    }
    assert chosen.doc_ids.tolist() == ["d", "c", "b", "a"]


def test_the_scores_of_a_submission(pool):
    assert pool.submission_scores("two").tolist() == [-np.inf, -np.inf, 1, -3, -np.inf, -4]
    assert pool.retrieved("two").tolist() == [False, False, True, True, False, True]
    for method in (pool.submission_scores, pool.retrieved):
        with pytest.raises(UnknownNameError, match="unknown run 'tow'. Did you mean 'two'"):
            method("tow")


def test_it_is_ranking_data(pool):
    assert isinstance(pool.data, RankingData)
    assert pool.data.X is pool.X
    assert repr(pool.data) == "RankingData(2 queries, 6 documents, 2 features, dense)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"runs": []}, "the list of runs is empty"),
        ({"runs": [run_of("r", ONE), run_of("r", TWO)]}, r"'r': rename one of them, for .* load_run\(path, name=...\)"),
        ({"depth": 0}, "depth must be an integer of at least 1, got 0"),
        ({"depth": 2.5}, "depth must be an integer"),
        ({"depth": True}, "depth must be an integer"),
        ({"topics": "10"}, r"topics must be a list of topics, such as \['10'\]"),
        ({"topics": []}, "the pool has no topics: the list of topics is empty"),
        (
            {"topics": [8, 5, 7, 1]},
            "the pool has no topics: 1, because no run has it and it is not judged; 5, .*; and 1 more",
        ),
        ({"qrels": qrels_of({"99": {"a": 1}})}, "the pool has no topics: 7, because it is not judged"),
    ],
)
def test_pools_that_cannot_be(change, message):
    with pytest.raises(InputError, match=message):
        pool_runs(**{"runs": [run_of("one", ONE)], "qrels": qrels_of(JUDGED)} | change)


topic_ids = st.sampled_from(["1", "2", "10"])
doc_ids = st.sampled_from(["a", "b", "c", "aa", "é", "9"])
submissions = st.dictionaries(
    topic_ids, st.dictionaries(doc_ids, st.sampled_from([0.0, 1.0, 1.0 + 1e-12, -2.0]), min_size=1), min_size=1
)


@given(
    runs=st.lists(submissions, min_size=1, max_size=3),
    judged=st.dictionaries(topic_ids, st.dictionaries(doc_ids, st.integers(-1, 2), min_size=1), min_size=1),
    depth=st.integers(1, 4),
)
def test_pool_against_sets_and_both_average_precisions(runs, judged, depth):
    """The union, the labels, R of the pool with unretrieved documents last, and trec_eval's denominators."""
    heads = [{topic: head(scores, depth) for topic, scores in run.items()} for run in runs]
    relevant = {topic: {doc for doc, grade in of.items() if grade > 0} for topic, of in judged.items()}
    union = {topic: {doc for run in heads for doc in run.get(topic, {})} for topic in ("1", "2", "10")}
    topics = [topic for topic, docs in union.items() if docs & relevant.get(topic, set())]
    submitted = [run_of(f"run{k}", run) for k, run in enumerate(runs)]
    if not topics:
        with pytest.raises(InputError, match="the pool has no topics"):
            pool_runs(submitted, qrels_of(judged), depth=depth)
        return
    pool = pool_runs(submitted, qrels_of(judged), depth=depth)
    rows = [(topic, doc) for topic in topics for doc in sorted(union[topic], reverse=True)]
    assert list(zip(pool.qid.tolist(), pool.doc_ids.tolist(), strict=True)) == rows
    assert set(pool.left_out) == ({*judged, *(topic for run in runs for topic in run)}) - set(topics)
    assert pool.relevant == {topic: len(union[topic] & relevant[topic]) for topic in topics}
    assert pool.relevant_judged == {topic: len(relevant[topic]) for topic in topics}
    assert pool.y.tolist() == [max(judged[topic].get(doc, 0), 0) for topic, doc in rows]
    for name, run in zip(pool.run_names, heads, strict=True):
        scores, retrieved = pool.submission_scores(name), pool.retrieved(name)
        over_pool = AP().per_query(scores, pool.y, pool.qid, ties="input")
        assert dict(zip(*map(np.ndarray.tolist, over_pool), strict=True)) == pytest.approx(
            {
                topic: average_precision(
                    (mine := ranked(run.get(topic, {}))) + sorted(union[topic] - set(mine), reverse=True),
                    relevant[topic] & union[topic],
                )
                for topic in topics
            }
        )
        if retrieved.any():
            expected_values = AP().per_query(
                scores[retrieved], pool.y[retrieved], pool.qid[retrieved], judged=pool.qrels.judged, ties="input"
            )
            expected = average_precisions({topic: run[topic] for topic in topics if topic in run}, judged)
            assert dict(zip(*map(np.ndarray.tolist, expected_values), strict=True)) == pytest.approx(expected)
