"""Plan a comparison of systems: the smallest difference that it can detect, and the number of queries it needs."""

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import is_number, require_integer, require_switch

TYPICAL_CORRELATION = 0.8
"""Correlation over queries of two systems' values, the median of pairs of submissions to Robust 2003.

Measured by `python -m benchmarks run certainty`; one pair of rankers of MQ2008 has .99.
"""

_MOST_QUERIES = 10_000_000


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
    systems : number of systems with the baseline, at least 2. Bonferroni's correction divides the level by the number
        of comparisons, systems - 1.
    all_pairs : correct for comparisons of all pairs instead, systems * (systems - 1) / 2.

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
    for _ in range(60):
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
        raise InputError(f"difference must be a positive number, got {difference!r}")
    effect = difference / _deviation(spread)
    level = _level(power, significance_level, systems, all_pairs)
    low, high = 1, 2
    while _power(effect, high, level) < power:
        low, high = high, 2 * high
        if high > _MOST_QUERIES:
            raise InputError(
                f"a difference of {difference:g} needs more than {_MOST_QUERIES:,} queries: give a larger difference, "
                "or a lower power"
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
        raise InputError(f"correlation must be from 0 to below 1, got {correlation!r}")
    return float(_deviation(np.atleast_1d(values)) * np.sqrt(2.0 * (1.0 - correlation)))


def _deviation(spread: ArrayLike) -> float:
    found = numbers(spread, "spread")
    if found.ndim == 1 and len(found) > 1 and np.isfinite(found).all():
        found = found.std(ddof=1)
    if found.ndim or not np.isfinite(found) or found <= 0.0:
        raise InputError(
            "spread must be a positive standard deviation, or a list of at least two values that are finite and not "
            "all equal"
        )
    return float(found)


def _level(power: float, significance_level: float, systems: int, all_pairs: bool) -> float:
    """Return the level of each test by Bonferroni's correction."""
    for name, value in (("power", power), ("significance_level", significance_level)):
        if not is_number(value, above=0.0) or value >= 1.0:
            raise InputError(f"{name} must be between 0 and 1, got {value!r}")
    if power <= significance_level:
        raise InputError(f"power must be above the significance level {significance_level:g}, got {power:g}")
    require_integer("systems", systems, 2)
    require_switch("all_pairs", all_pairs)
    return significance_level / comparisons_of(systems, all_pairs)


def comparisons_of(systems: int, all_pairs: bool) -> int:
    """Return the number of comparisons between systems: with one baseline, or of all pairs."""
    return systems * (systems - 1) // 2 if all_pairs else systems - 1


def _power(effect: float, queries: int, level: float) -> float:
    """Return the power of the two-tailed t-test for a difference in units of the standard deviation."""
    from scipy.special import nctdtr, stdtrit

    shift, limit = effect * np.sqrt(queries), stdtrit(queries - 1, 1.0 - level / 2)
    return float(1.0 - nctdtr(queries - 1, shift, limit) + nctdtr(queries - 1, shift, -limit))
