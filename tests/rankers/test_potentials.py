import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.rankers import Preferences
from structsvm.rankers.rank_boost import pairs_of_labels, pairs_of_preferences


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 30.0, 1000.0]))
def test_sums_over_grades_are_those_over_pairs(seed, scale):
    """Also for scores so far apart that their exponentials are 0 or infinite."""
    rng = np.random.default_rng(seed)
    qid = np.sort(rng.integers(0, 4, 30))
    y = rng.integers(0, 4, 30).astype(float)
    ptr = np.flatnonzero(np.diff(qid, prepend=-1, append=9))
    weights = rng.uniform(0.5, 2.0, len(ptr) - 1)
    graded = pairs_of_labels(y, ptr, weights)
    listed = Preferences.of_labels(y, qid)
    pairs = pairs_of_preferences(Preferences(listed.better, listed.worse), ptr, weights)
    scores = scale * rng.standard_normal(30)
    result, wanted = np.full(len(graded.rows), np.nan), np.zeros(len(pairs.rows))
    log_found = graded.write_potentials(scores[graded.rows], result)
    log_wanted = pairs.write_potentials(scores[pairs.rows], wanted)
    assert log_found == pytest.approx(log_wanted, rel=1e-9, abs=1e-9)
    both = np.zeros((2, 30))
    both[0, graded.rows], both[1, pairs.rows] = result, wanted
    np.testing.assert_allclose(both[0], both[1], atol=1e-9)


def test_potentials_by_hand():
    """Pairs (2, 0), (2, 1) of equal weight e^0 and e^(1 - 0)."""
    pairs = pairs_of_labels(np.array([0.0, 0.0, 5.0]), np.array([0, 3]), np.ones(1))
    potentials = np.empty(3)
    total = pairs.write_potentials(np.array([0.0, 1.0, 0.0]), potentials)
    assert total == pytest.approx(np.log(1.0 + np.e))
    np.testing.assert_allclose(potentials, np.array([-1.0, -np.e, 1.0 + np.e]) / (1.0 + np.e))


def test_rows_of_queries_without_pairs_are_left_out():
    y, ptr = np.array([1.0, 1.0, 0.0, 2.0, 1.0, 3.0, 0.0]), np.array([0, 2, 5, 6, 7])
    pairs = pairs_of_labels(y, ptr, np.ones(4))
    assert pairs.rows.tolist() == [2, 4, 3]
