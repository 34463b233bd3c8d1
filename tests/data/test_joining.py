"""Joined runs without judgments, from which pools are made."""

import numpy as np
import pytest

from structsvm.data import Qrels, Run, join_runs, pool_runs
from structsvm.exceptions import InputError


def runs():
    rng = np.random.default_rng(0)
    result = []
    for name in ("one", "two", "three"):
        chosen = rng.permutation(80)[:30]
        result.append(Run.from_scores(name, chosen // 20, [f"d{k % 20:02}" for k in chosen], rng.integers(0, 9, 30)))
    return result


def test_an_example():
    one = Run.from_scores("one", qid=[7, 7, 10], doc_ids=["x", "y", "x"], scores=[2.0, 1.0, 3.0])
    two = Run.from_scores("two", qid=[7], doc_ids=["z"], scores=[0.5])
    joined = join_runs([one, two])
    assert repr(joined) == "JoinedRuns(2 topics, 4 documents, 2 runs)"
    assert joined.topics == ("7", "10")
    assert joined.run_names == ("one", "two")
    assert joined.qid.tolist() == ["7", "7", "7", "10"]
    assert joined.doc_ids.tolist() == ["z", "y", "x", "x"]
    np.testing.assert_array_equal(joined.X, [[np.nan, 0.5], [1.0, np.nan], [2.0, np.nan], [3.0, np.nan]])


@pytest.mark.parametrize(("depth", "topics"), [(1000, None), (2, None), (1000, [0, 2]), (3, ["3"])])
def test_a_pool_has_the_same_rows(depth, topics):
    joined = join_runs(runs(), depth=depth, topics=topics)
    everything = Qrels.from_grades(joined.qid, joined.doc_ids, np.ones(len(joined.qid)))
    pool = pool_runs(runs(), everything, depth=depth, topics=topics)
    np.testing.assert_array_equal(joined.X, pool.X)
    assert joined.qid.tolist() == pool.qid.tolist()
    assert joined.doc_ids.tolist() == pool.doc_ids.tolist()
    assert joined.run_names == pool.run_names
    assert joined.topics == pool.topics


def test_what_cannot_be_joined():
    for arguments, message in (
        ({"runs": []}, "the list of runs is empty"),
        ({"runs": [runs()[0], runs()[0]]}, "two runs are named 'one'"),
        ({"depth": 0}, "depth must be"),
        ({"topics": "3"}, "topics must be a list"),
        ({"runs": runs()[0]}, "got one run, 'one'"),
        ({"runs": iter([runs()[0], "two"])}, r"runs\[1\] must be a Run, .* got 'two'"),
        ({"topics": [99]}, "no run has any of the 1 topics"),
        ({"topics": []}, "no run has any of the 0 topics"),
    ):
        with pytest.raises(InputError, match=message):
            join_runs(**{"runs": runs(), **arguments})


def test_one_run_is_no_list_of_runs_to_pool():
    qrels = Qrels.from_grades(qid=[3], doc_ids=["a"], grades=[1])
    with pytest.raises(InputError, match="got one run, 'one'"):
        pool_runs(runs()[0], qrels)


def test_a_run_without_documents_adds_an_empty_column():
    one = Run.from_scores("one", qid=[7, 7], doc_ids=["x", "y"], scores=[2.0, 1.0])
    none = Run("none", one.qid[:0], one.doc_ids[:0], one.scores[:0])
    joined = join_runs([one, none])
    assert joined.X[:, 0].tolist() == [1.0, 2.0]
    assert np.isnan(joined.X[:, 1]).all()
