"""Compare two systems query by query: difference, confidence interval, significance tests and their correction."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from structsvm.evaluation.significance.intervals import (
    UNLIMITED,
    mean_interval,
    range_of_differences,
)
from structsvm.exceptions import InputError, brief
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import as_list, is_number, require_choice, require_integer
from structsvm.foundation.types import Vector


@frozen
class SignificanceTest:
    """A two-tailed test of paired differences; ``p_value(differences, n_resamples, random_state)`` may be None."""

    label: str
    description: str
    p_value: Callable[[Vector, int, int], float | None]


def student_p(difference: Vector, _n_resamples: int = 0, _random_state: int = 0) -> float | None:
    """Return the p-value of the paired t-test: 1 if all differences are 0, None if they have no variance."""
    from scipy.stats import ttest_1samp

    if not difference.any():
        return 1.0
    if len(difference) < 2 or (difference == difference[0]).all():
        return None
    return float(ttest_1samp(difference, 0.0).pvalue)


_STEPS = 1e10
"""Number of steps in the largest sum. Integer sums of steps are equal if the sums are equal except for rounding."""


def randomization_p(difference: Vector, n_resamples: int = 10_000, random_state: int = 0) -> float:
    """Return the p-value of Fisher's two-tailed randomization test of the mean difference, exact for few queries."""
    from scipy.stats import permutation_test

    changing = difference[difference != 0.0]
    if len(changing) < 2:
        return 1.0
    test = permutation_test(
        (changing * (_STEPS / np.abs(changing).sum()),),
        _whole_sum,
        permutation_type="samples",
        vectorized=True,
        n_resamples=n_resamples,
        batch=max(1, 2**20 // len(changing)),
        rng=np.random.default_rng(random_state),
    )
    return float(test.pvalue)


def _whole_sum(values: Vector, axis: int = -1) -> Vector:
    return np.asarray(np.rint(np.sum(values, axis=axis)))


_EXACT, _EXACT_WITH_TIES = 50, 13
"""Largest number of differences for exact tests: of distinct sizes, and with equal sizes."""


def wilcoxon_p(difference: Vector, _n_resamples: int = 0, _random_state: int = 0) -> float:
    """Return the p-value of Wilcoxon's two-tailed signed rank test (1945); 1 if all differences are 0."""
    return _p_value(difference[difference != 0.0].tobytes())


@lru_cache(maxsize=256)
def _p_value(differences: bytes) -> float:
    """Return the p-value, cached because tables and plots of a report repeat the same values."""
    from scipy.stats import PermutationMethod, wilcoxon

    difference = np.frombuffer(differences)
    n = len(difference)
    if n == 0:
        return 1.0
    tied = len(np.unique(np.abs(difference))) < n
    if not tied and n <= _EXACT:
        return float(wilcoxon(difference, method="exact").pvalue)
    if n <= _EXACT_WITH_TIES:
        return float(wilcoxon(difference, method=PermutationMethod(n_resamples=2**n)).pvalue)
    return float(wilcoxon(difference, method="approx").pvalue)


def bonferroni(p_values: Iterable[float | None]) -> list[float | None]:
    """Return each p-value times the number of tests, at most 1; None means no test and is kept."""
    p_values = _checked(p_values)
    m = sum(p is not None for p in p_values)
    return [None if p is None else min(1.0, m * p) for p in p_values]


def holm(p_values: Iterable[float | None]) -> list[float | None]:
    """Correct p-values for multiple tests by Holm's step-down method.

    The k-th smallest of m p-values is multiplied by m − k + 1; a larger p-value never gets a smaller result. None stays
    None. The method, from Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 1979, rejects at least as many hypotheses as Bonferroni's.

    Parameters
    ----------
    p_values : p-values of the tests.

    Raises
    ------
    InputError : a p-value is not a number from 0 to 1.

    Examples
    --------
    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    p_values = _checked(p_values)
    tested = [place for place, p in enumerate(p_values) if p is not None]
    defined = np.array([p for p in p_values if p is not None], dtype=np.float64)
    order = np.argsort(defined, kind="stable")
    stepped = np.minimum(np.maximum.accumulate(defined[order] * np.arange(len(defined), 0, -1)), 1.0)
    corrected: list[float | None] = [None] * len(p_values)
    for place, p in zip(order.tolist(), stepped.tolist(), strict=True):
        corrected[tested[place]] = p
    return corrected


def _checked(p_values: Iterable[float | None]) -> list[float | None]:
    listed = as_list("p_values", p_values, "a list of p-values")
    for p in listed:
        if p is not None and (not is_number(p, at_least=0.0) or p > 1):
            raise InputError(f"a p-value must be a number from 0 to 1, or None for no test, got {brief(p)}")
    return listed


TESTS: dict[str, SignificanceTest] = {
    "t": SignificanceTest("t", "two-tailed paired t-test", student_p),
    "wilcoxon": SignificanceTest(
        "Wilcoxon", "Wilcoxon's signed rank test without {queries} of no difference", wilcoxon_p
    ),
    "randomization": SignificanceTest("Fisher", "Fisher's randomization test", randomization_p),
}
"""The tests by name, in the order of tables."""

_TOLERANCE = 1e-12
"""Largest deviation of equal differences, relative to the largest value.

A measure of a query is a sum of up to some thousand terms, so its rounding error is 1e-16 to 1e-13 of the largest
value. Unequal differences deviate more: differences of precisions and recalls by some 1e-6.
"""


@frozen
class PairedTests:
    """The difference of two systems on the same queries, with confidence interval and p-values.

    Parameters
    ----------
    queries : number of queries.
    difference : mean of the first system minus mean of the second.
    interval : Student's confidence interval of the difference; None for one query, or if not computed.
    wins, losses, ties : queries on which the first system has the larger, the smaller or the same value.
    p_values : two-tailed p-values by test: "t" (paired t-test), "wilcoxon" (signed rank test) and "randomization"
        (Fisher's). "t" is None if undefined: for one query, or if all differences are equal and not 0.

    Examples
    --------
    >>> from structsvm.evaluation.significance import paired_tests
    >>> tests = paired_tests([0.5, 0.6, 0.7], [0.4, 0.6, 0.5])
    >>> tests.wins, tests.losses, tests.ties
    (2, 0, 1)
    """

    queries: int
    difference: float
    interval: tuple[float, float] | None
    wins: int
    losses: int
    ties: int
    p_values: Mapping[str, float | None]


def paired_tests(
    first: ArrayLike,
    second: ArrayLike,
    *,
    tests: Iterable[str] = tuple(TESTS),
    confidence_level: float | None = 0.95,
    n_resamples: int = 10_000,
    random_state: int = 0,
    value_range: tuple[float, float] = UNLIMITED,
) -> PairedTests:
    """Test the difference of two systems on the same queries.

    Differences count as equal if only rounding distinguishes them.

    Parameters
    ----------
    first, second : values, shape (Q,) each, finite.
    tests : names of the tests to run: "t", "wilcoxon", "randomization"; default: all.
    confidence_level : level of the interval, between 0 and 1; None: compute no interval.
    n_resamples : number of resamples of the randomization test, at least 100.
    random_state : seed of the resamples, at least 0.
    value_range : least and largest possible value of a system, such as `Measure.value_range`; the interval of the
        difference stays within the range of differences.

    Raises
    ------
    InputError : shapes differ, no query is given, a value is not finite, or a setting is invalid.

    Examples
    --------
    >>> found = paired_tests([0.5, 0.4, 0.9, 0.3, 0.8, 0.7], [0.4, 0.3, 0.8, 0.3, 0.6, 0.4])
    >>> found.wins, found.ties, round(found.difference, 3), found.p_values["wilcoxon"]
    (5, 1, 0.133, 0.0625)
    """
    require_integer("n_resamples", n_resamples, 100)
    require_integer("random_state", random_state, 0)
    names = as_list("tests", tests, "names of tests")
    for name in names:
        require_choice("each of tests", name, TESTS)
    difference = differences(first, second)
    wins, losses = int((difference > 0.0).sum()), int((difference < 0.0).sum())
    interval = None
    if confidence_level is not None:
        differing = range_of_differences(value_range)
        interval = mean_interval(difference, confidence_level=confidence_level, value_range=differing)
        if interval is None and len(difference) > 1:
            # Equal differences have no variance: the interval is their value.
            interval = float(difference[0]), float(difference[0])
    return PairedTests(
        queries=len(difference),
        difference=float(difference.mean()),
        interval=interval,
        wins=wins,
        losses=losses,
        ties=len(difference) - wins - losses,
        p_values={name: TESTS[name].p_value(difference, n_resamples, random_state) for name in names},
    )


def signed_ranks(first: ArrayLike, second: ArrayLike) -> PairedTests:
    """Compare two systems by Wilcoxon's signed rank test alone."""
    return paired_tests(first, second, tests=["wilcoxon"], confidence_level=None)


def differences(first: ArrayLike, second: ArrayLike) -> Vector:
    """Return ``first - second``, with equal values for differences that differ by rounding only, shape (Q,).

    Rounding errors would break ties of ranks at random and turn ties into wins. Therefore each absolute difference
    within 1e-12 of the next smaller one, relative to the largest value, is set equal to it.
    """
    one, other = numbers(first, "first"), numbers(second, "second")
    if one.ndim != 1 or one.shape != other.shape or not len(one):
        raise InputError(
            "first and second must have a value for each query, and at least one query: "
            f"their shapes are {one.shape} and {other.shape}"
        )
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise InputError("values to compare must be finite")
    difference = one - other
    tolerance = _TOLERANCE * max(float(np.abs(one).max()), float(np.abs(other).max()))
    order = np.argsort(np.abs(difference), kind="stable")
    sizes = np.concatenate([[0.0], np.abs(difference)[order]])
    first_of_group = np.maximum.accumulate(np.where(np.diff(sizes) > tolerance, np.arange(1, len(sizes)), 0))
    same = np.empty(len(difference))
    same[order] = sizes[first_of_group]
    return np.asarray(np.copysign(same, difference) + 0.0)
