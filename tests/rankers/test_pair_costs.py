import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, log_expit

from structsvm.rankers.rank_net import cost_of_grades, cost_of_pairs

GRADES = st.lists(st.integers(0, 3), min_size=1, max_size=9)


def entropy(target, margin):
    """The cross entropy of a pair, as in the paper's equation before it is simplified."""
    return -(0.0 if target == 0.0 else target * log_expit(margin)) - (1.0 - target) * log_expit(-margin)


def literal(scores, grades, log_odds, ties):
    """Mean cost by a double loop over all pairs, each once."""
    costs = []
    for i in range(len(grades)):
        for j in range(len(grades)):
            if grades[i] > grades[j]:
                costs.append(entropy(expit(log_odds * (grades[i] - grades[j])), scores[i] - scores[j]))
            elif ties and i < j and grades[i] == grades[j]:
                costs.append(entropy(0.5, scores[i] - scores[j]))
    return float(np.mean(costs)) if costs else 0.0


@given(GRADES, st.sampled_from([0.5, 1.0, math.inf]), st.booleans(), st.integers(0, 10**6))
def test_the_cost_is_that_of_a_double_loop_and_slopes_are_its_derivative(grades, log_odds, ties, seed):
    n, labels = len(grades), np.array(grades, dtype=float)
    scores, slopes = np.random.default_rng(seed).normal(scale=3.0, size=n), np.full(n, np.nan)
    cost = cost_of_grades(scores, labels, log_odds, ties, slopes)
    assert cost == pytest.approx(literal(scores, labels, log_odds, ties), rel=1e-12, abs=1e-14)
    assert slopes.sum() == pytest.approx(0.0, abs=1e-13)
    for i in range(n):
        step = 1e-5 * np.eye(n)[i]
        rise = literal(scores + step, labels, log_odds, ties) - literal(scores - step, labels, log_odds, ties)
        assert slopes[i] == pytest.approx(rise / 2e-5, rel=1e-6, abs=1e-9)


@given(GRADES, st.sampled_from([0.5, 1.0, math.inf]), st.integers(0, 10**6))
def test_listed_pairs_cost_what_pairs_of_grades_do(grades, log_odds, seed):
    n, labels = len(grades), np.array(grades, dtype=float)
    scores = np.random.default_rng(seed).normal(size=n)
    better, worse = np.nonzero(labels[:, None] > labels)
    targets = expit(log_odds * (labels[better] - labels[worse])) if len(better) else np.zeros(0)
    by_grades, by_pairs = np.full(n, np.nan), np.full(n, np.nan)
    cost = cost_of_pairs(scores, better, worse, targets, by_pairs)
    assert cost == pytest.approx(cost_of_grades(scores, labels, log_odds, False, by_grades), rel=1e-12)
    np.testing.assert_allclose(by_pairs, by_grades, rtol=1e-12, atol=1e-15)


def test_a_pair_listed_twice_counts_twice():
    scores, slopes = np.array([0.3, -0.2, 1.0]), np.zeros(3)
    cost = cost_of_pairs(scores, np.array([0, 0, 1]), np.array([1, 1, 2]), np.array([1.0, 1.0, 0.9]), slopes)
    assert cost == pytest.approx((2 * entropy(1.0, 0.5) + entropy(0.9, -1.2)) / 3)
    assert slopes[2] == pytest.approx((0.9 - expit(-1.2)) / 3)


@pytest.mark.parametrize("far", [1e3, 1e300])
def test_scores_far_apart_do_not_overflow(far):
    slopes = np.zeros(2)
    assert cost_of_grades(np.array([far, -far]), np.array([1.0, 0.0]), math.inf, False, slopes) == 0.0
    assert slopes.tolist() == [0.0, 0.0]
    assert cost_of_grades(np.array([-far, far]), np.array([1.0, 0.0]), math.inf, False, slopes) == 2.0 * far
    assert slopes.tolist() == [-1.0, 1.0]
