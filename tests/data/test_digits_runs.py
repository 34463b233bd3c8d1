import numpy as np
import pytest
from sklearn.datasets import load_digits

from structsvm.data import load_digits_runs
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
