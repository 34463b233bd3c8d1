"""Wins, losses, and the Wilcoxon signed rank test."""

from itertools import product

import numpy as np
import pytest

from structsvm.evaluation.significance.paired import signed_ranks


def exact_p(differences):
    """Share of all assignments of signs to the ranks whose sum is at least as far from the middle (no ties)."""
    size = np.abs(differences)
    ranks = size.argsort().argsort() + 1.0
    sums = [np.dot(ranks, signs) for signs in product((0, 1), repeat=len(ranks))]
    middle = ranks.sum() / 2
    return np.mean(np.abs(np.array(sums) - middle) >= abs(ranks[differences > 0].sum() - middle))


def test_the_p_value_is_that_of_all_assignments_of_signs():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 9):
        first, second = rng.normal(size=(2, n))
        result = signed_ranks(first, second)
        assert result.p_values["wilcoxon"] == pytest.approx(exact_p(first - second))
        assert (result.wins, result.losses, result.ties) == ((first > second).sum(), (first < second).sum(), 0)


def test_ties_are_counted_and_dropped_from_the_test():
    first, second = np.array([0.5, 0.2, 0.1, 0.7, 0.3]), np.array([0.5, 0.1, 0.4, 0.1, 0.3 + 1e-15])
    result = signed_ranks(first, second)
    assert (result.wins, result.losses, result.ties) == (2, 1, 2)
    assert result.p_values["wilcoxon"] == pytest.approx(signed_ranks(first[1:4], second[1:4]).p_values["wilcoxon"])
    assert first.tolist() == [0.5, 0.2, 0.1, 0.7, 0.3]


def test_differences_of_zero_have_p_value_1():
    result = signed_ranks(np.ones(3), np.ones(3))
    assert (result.wins, result.losses, result.ties, result.p_values["wilcoxon"]) == (0, 0, 3, 1.0)


@pytest.mark.parametrize("kind", [np.int64, np.float32])
def test_values_of_any_kind_are_compared(kind):
    first, second = np.arange(1, 21), np.array([0, 4] * 10)
    assert signed_ranks(first.astype(kind), second.astype(kind)) == signed_ranks(
        first.astype(float), second.astype(float)
    )
