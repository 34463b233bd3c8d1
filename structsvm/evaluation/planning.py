"""Plan a comparison of systems: the smallest difference that it can detect, and the number of queries it needs."""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from structsvm.data.runs import Qrels, Run
from structsvm.evaluation.runs import rank_run
from structsvm.exceptions import InputError, brief
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import is_number, require_integer, require_switch
from structsvm.foundation.types import Vector
from structsvm.metrics import Measure

TYPICAL_CORRELATION = 0.8
"""Correlation over queries of two systems' values, the median of pairs of submissions to Robust 2003.

Measured by `python -m benchmarks run certainty`; one pair of rankers of MQ2008 has .99.
"""

_MOST_QUERIES = 10_000_000

_HALVINGS = 45
"""Bisection steps of a difference. Its last digits stay above rounding, so that `queries_needed` inverts it."""

_NORMAL_REACH = 9.0
_CHI_REACH = 12.0
"""Standard deviations from the mean beyond which the normal and the chi distribution have less than 1e-18."""


def smallest_difference(
    spread: ArrayLike,
    queries: int,
    *,
    power: float = 0.8,
    significance_level: float = 0.05,
    systems: int = 2,
    all_pairs: bool = False,
) -> float:
    """Return the smallest difference of two means that a paired t-test detects with a given power.

    Parameters
    ----------
    spread : differences of two systems on a sample of queries, shape (Q,), or their standard deviation; see
        `spread_of_differences` if only one system is known.
    queries : number of queries of the comparison, at least 2.
    power : probability of a significant result if the difference is this large.
    significance_level : level of the two-tailed test, before the correction.
    systems : number of systems including the baseline, at least 2. Bonferroni's correction divides the level by the
        number of comparisons, systems - 1.
    all_pairs : correct for comparisons of all pairs instead, systems * (systems - 1) / 2.

    Raises
    ------
    InputError : with so few queries, no difference is significant at the level, or an argument is invalid.

    Examples
    --------
    >>> round(smallest_difference(0.2, queries=50), 3)
    0.081
    >>> round(smallest_difference(0.2, queries=50, systems=5), 3)
    0.098
    """
    require_integer("queries", queries, 2)
    deviation, level = _deviation(spread), _level(power, significance_level, systems, all_pairs)
    low, high = 0.0, 1.0
    while _power(high, queries, level) < power:
        high *= 2.0
        if math.isinf(deviation * high):
            raise InputError(
                f"no difference is significant at the level {level:g} with {queries:,} queries: give more queries, or "
                "a higher significance level"
            )
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _power(middle, queries, level) < power else (low, middle)
    return deviation * high


def queries_needed(
    spread: ArrayLike,
    difference: float,
    *,
    power: float = 0.8,
    significance_level: float = 0.05,
    systems: int = 2,
    all_pairs: bool = False,
) -> int:
    """Return the number of queries that a paired t-test needs to detect a difference of two means.

    Parameters
    ----------
    spread, power, significance_level, systems, all_pairs : as in `smallest_difference`.
    difference : difference of the means to detect, above 0.

    Raises
    ------
    InputError : more than ten million queries are needed, or an argument is invalid.

    Examples
    --------
    >>> queries_needed(0.2, difference=0.05)
    128
    """
    if not is_number(difference, above=0.0):
        raise InputError(f"difference must be a positive number, got {brief(difference)}")
    effect = difference / _deviation(spread)
    level = _level(power, significance_level, systems, all_pairs)
    low, high = 1, _MOST_QUERIES
    if _power(effect, high, level) < power:
        raise InputError(
            f"a difference of {difference:g} needs more than {high:,} queries: give a larger difference, a lower "
            "power, or a higher significance level"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _power(effect, middle, level) < power else (low, middle)
    return high


def spread_of_differences(values: ArrayLike, correlation: float = TYPICAL_CORRELATION) -> float:
    """Estimate the standard deviation of differences from the values of one system.

    The estimate is ``std(values) * sqrt(2 * (1 - correlation))``. It assumes a second system with the same standard
    deviation and this correlation over queries. Use real differences if you have two systems: a correlation of .5 needs
    5 times the queries of .9.

    Parameters
    ----------
    values : values of one system on a sample of queries, shape (Q,), at least two.
    correlation : from 0 to below 1.

    Examples
    --------
    >>> round(spread_of_differences([0.2, 0.5, 0.1, 0.9, 0.4, 0.3, 0.7, 0.6]), 3)
    0.169
    """
    if not is_number(correlation, at_least=0.0) or correlation >= 1.0:
        raise InputError(f"correlation must be from 0 to below 1, got {brief(correlation)}")
    return float(_deviation(np.atleast_1d(values)) * np.sqrt(2.0 * (1.0 - correlation)))


def spread_of_runs(
    runs: Sequence[Run], qrels: Qrels, measure: Measure, correlation: float | None = None
) -> tuple[float, int, float | None]:
    """Return the standard deviation of differences per query, the number of queries, and the correlation if assumed.

    Two runs have differences. One run needs a ``correlation`` with the other system; None: `TYPICAL_CORRELATION`.
    """
    if measure.summary != "mean":
        raise InputError(
            f"{measure} is a {measure.summary} over queries, but plans need a mean: choose another measure"
        )
    by_run = []
    for run in runs:
        ids, values = measure.of(rank_run(run, qrels))
        by_run.append(dict(zip(ids.tolist(), values.tolist(), strict=True)))
    both = [query for query in by_run[0] if query in by_run[-1]]
    if len(both) < 2:
        raise InputError("fewer than two queries have a value, too few for a standard deviation: give more queries")
    first, last = (np.array([values[query] for query in both]) for values in (by_run[0], by_run[-1]))
    if not np.ptp(first if len(runs) == 1 else first - last):
        same = "the run has the same value" if len(runs) == 1 else "the two runs have the same values or differences"
        raise InputError(
            f"{same} of {measure} for all {len(both)} queries: their standard deviation is 0. Give other runs, or the "
            "standard deviation (--sd)"
        )
    if len(runs) == 1:
        assumed = TYPICAL_CORRELATION if correlation is None else correlation
        return spread_of_differences(first, assumed), len(both), assumed
    return float((first - last).std(ddof=1)), len(both), None


def _deviation(spread: ArrayLike) -> float:
    deviation = numbers(spread, "spread")
    if deviation.ndim == 1 and len(deviation) > 1 and np.isfinite(deviation).all():
        deviation = deviation.std(ddof=1)
    if deviation.ndim or not np.isfinite(deviation) or deviation <= 0.0:
        raise InputError(
            "spread must be a positive standard deviation, or a list of at least two values that are finite and not "
            "all equal"
        )
    return float(deviation)


def _level(power: float, significance_level: float, systems: int, all_pairs: bool) -> float:
    """Return the level of each test by Bonferroni's correction."""
    for name, value in (("power", power), ("significance_level", significance_level)):
        if not is_number(value, above=0.0) or value >= 1.0:
            raise InputError(f"{name} must be between 0 and 1, got {brief(value)}")
    if power <= significance_level:
        raise InputError(f"power must be above the significance level {significance_level:g}, got {power:g}")
    require_integer("systems", systems, 2)
    require_switch("all_pairs", all_pairs)
    return significance_level / comparisons_of(systems, all_pairs)


def comparisons_of(systems: int, all_pairs: bool) -> int:
    """Return the number of comparisons between systems: with one baseline, or of all pairs."""
    return systems * (systems - 1) // 2 if all_pairs else systems - 1


def _power(effect: float, queries: int, level: float) -> float:
    """Return the power of the two-tailed t-test for a difference in units of the standard deviation.

    SciPy's distribution of the noncentral t has NaN in its tails. With nu degrees of freedom, T is above t if the
    normal Z + shift is above t S, where nu S² is chi-squared: integrate P(S < (z + shift) / t) over Z.
    """
    from scipy.special import gammainc, ndtr, stdtrit

    freedom = queries - 1
    limit = -float(stdtrit(freedom, 0.5 * level))
    if not np.isfinite(limit):
        return 0.0
    # The lower tail of T is the upper tail with the opposite shift.
    shift = effect * math.sqrt(queries) * np.array([1.0, -1.0])
    reach = _CHI_REACH / math.sqrt(2.0 * freedom)
    # Below the range of z, S exceeds (z + shift) / t; above it, S does not.
    low = np.clip(limit * max(0.0, 1.0 - reach) - shift, -_NORMAL_REACH, _NORMAL_REACH)
    high = np.clip(limit * (1.0 + reach) - shift, -_NORMAL_REACH, _NORMAL_REACH)
    nodes, weights = _quadrature()
    z = 0.5 * (low + high) + np.outer(nodes, 0.5 * (high - low))
    below = gammainc(0.5 * freedom, 0.5 * freedom * ((z + shift) / limit) ** 2)
    inside = 0.5 * (high - low) * (weights @ (below * np.exp(-0.5 * z**2))) / math.sqrt(2.0 * math.pi)
    return float((ndtr(-high) + inside).sum())


@cache
def _quadrature() -> tuple[Vector, Vector]:
    """Return nodes and weights of Gauss and Legendre's rule on [-1, 1]."""
    return np.polynomial.legendre.leggauss(100)
