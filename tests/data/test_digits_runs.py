import numpy as np
import pytest
from sklearn.datasets import load_digits

from structsvm.data import load_digits_runs, pool_runs
from structsvm.exceptions import InputError


@pytest.fixture(scope="module")
def small():
    return load_digits_runs(n_queries=6, n_candidates=80, depth=20)


def test_sizes(small):
    runs, qrels = small
    assert len(runs) == len({run.name for run in runs}) == 15
    assert all(len(run.qid) == 6 * 20 for run in runs)
    assert len(qrels.qid) == 6 * 80
    assert set(qrels.grades) == {0, 1}


def test_relevant_documents_show_one_digit(small):
    _, qrels = small
    shown = load_digits().target
    for topic in np.unique(qrels.qid):
        images = qrels.doc_ids[(qrels.qid == topic) & (qrels.grades > 0)].astype(int)
        others = qrels.doc_ids[(qrels.qid == topic) & (qrels.grades == 0)].astype(int)
        (digit,) = set(shown[images])
        assert digit not in shown[others]


def test_every_run_retrieves_judged_documents_and_the_pool_has_gaps(small):
    runs, qrels = small
    judged = set(zip(qrels.qid, qrels.doc_ids, strict=True))
    for run in runs:
        assert set(zip(run.qid, run.doc_ids, strict=True)) <= judged
    pool = pool_runs(runs, qrels)
    assert np.isnan(pool.X).any()
    assert not np.isnan(pool.X).all(axis=1).any()


def test_the_top_of_a_run_is_most_similar(small):
    """By definition: nothing left out has a smaller distance."""
    runs, qrels = small
    images = load_digits().images.reshape(-1, 64) / 16.0
    manhattan = next(run for run in runs if run.name == "manhattan")
    for topic in ("1", "6"):
        retrieved = manhattan.doc_ids[manhattan.qid == topic].astype(int)
        judged = qrels.doc_ids[qrels.qid == topic].astype(int)
        (query,) = [
            q
            for q in range(len(images))
            if np.allclose(-np.abs(images[retrieved] - images[q]).sum(axis=1), manhattan.scores[manhattan.qid == topic])
        ]
        left_out = np.setdiff1d(judged, retrieved)
        distance = np.abs(images - images[query]).sum(axis=1)
        assert distance[retrieved].max() <= distance[left_out].min()
        assert query not in judged


def test_seeds():
    options = {"n_queries": 3, "n_candidates": 20, "depth": 5}
    first, again, other = (load_digits_runs(**options, random_state=seed)[0][0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.scores, again.scores)
    assert list(first.doc_ids) != list(other.doc_ids)


def test_a_depth_beyond_the_documents_retrieves_all():
    runs, _ = load_digits_runs(n_queries=2, n_candidates=10, depth=50)
    assert all(len(run.qid) == 20 for run in runs)


@pytest.mark.parametrize("option", ["n_queries", "n_candidates", "depth"])
@pytest.mark.parametrize("value", [0, 1797])
def test_refusals(option, value):
    with pytest.raises(InputError, match=f"{option} must be from 1 to 1796, got {value}"):
        load_digits_runs(**{option: value})
