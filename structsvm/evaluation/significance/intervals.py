"""Confidence intervals of a mean over queries."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError, brief
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import is_number, require_choice, require_integer
from structsvm.foundation.types import Matrix, Vector

_HALVINGS = 50
"""Bisection steps of the betting interval; its ends are exact to 1e-15."""

_LARGEST_BET = 0.5
"""Part of the capital that a bet may risk; Waudby-Smith and Ramdas recommend 1/2 or 3/4."""

Interval = tuple[float, float]

UNLIMITED: Interval = (-np.inf, np.inf)
"""The range of values without limits."""


def mean_interval(
    values: ArrayLike,
    *,
    method: str = "t",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    random_state: int = 0,
    value_range: tuple[float, float] = UNLIMITED,
) -> tuple[float, float] | None:
    """Return a confidence interval of the mean over the population of queries, or None.

    The interval is valid if the queries are an independent random sample of the population, and were used neither for
    training nor for choosing between models. It is None with "t" and "bootstrap" if all values are equal, for example
    if there is one query.

    Parameters
    ----------
    values : value of each query, shape (Q,), finite.
    method : "t" (Student's interval), "bootstrap" (BCa), or "betting" (Waudby-Smith and Ramdas, "Estimating means of
        bounded random variables by betting", JRSS B 2024), which is wider and reaches its level for every
        distribution on [0, 1] and every number of queries.
    confidence_level : level of the interval, between 0 and 1.
    n_resamples : number of resamples of the bootstrap, at least 100.
    random_state : seed of the bootstrap, and of the order in which the betting interval uses the values.
    value_range : least and largest possible value, such as `Measure.value_range`; the interval is cut off there.

    Raises
    ------
    InputError : there is no value, a value is not finite or, with "betting", outside [0, 1], or a setting is invalid.

    Examples
    --------
    >>> values = [0.2, 0.5, 0.1, 0.9, 0.4, 0.3, 0.7, 0.6]
    >>> low, high = mean_interval(values)
    >>> round(low, 3), round(high, 3)
    (0.239, 0.686)
    >>> low, high = mean_interval(values, method="betting")
    >>> round(low, 3), round(high, 3)
    (0.192, 0.779)
    """
    require_choice("method", method, INTERVALS)
    require_integer("n_resamples", n_resamples, 100)
    require_integer("random_state", random_state, 0)
    require_level(confidence_level)
    sample = numbers(values, "values")
    if sample.ndim != 1 or not len(sample) or not np.isfinite(sample).all():
        raise InputError(f"values must be finite numbers, one for each query, got an array of shape {sample.shape}")
    interval = INTERVALS[method](sample, confidence_level, n_resamples, random_state)
    low, high = _range(value_range)
    # Values outside show that a measure has another range.
    if interval is None or sample.min() < low or sample.max() > high:
        return interval
    return max(interval[0], low), min(interval[1], high)


def mean_intervals(values: Matrix, confidence_level: float = 0.95, value_range: Interval = UNLIMITED) -> Matrix:
    """Return Student's interval of the mean of each row, shape (rows, 2); NaN if all values of a row are equal."""
    settings: dict[str, Any] = {"confidence_level": confidence_level, "value_range": value_range}
    ends = [mean_interval(row, **settings) or (np.nan, np.nan) for row in values]
    return np.array(ends).reshape(len(values), 2)


def range_of_differences(value_range: Interval) -> Interval:
    """Return the range of the differences of two values in a range."""
    low, high = _range(value_range)
    return low - high, high - low


def _range(value_range: Interval) -> Interval:
    ends = numbers(value_range, "value_range")
    if ends.shape != (2,) or not ends[0] < ends[1]:
        raise InputError(f"value_range must have the least and the largest value, such as (0, 1), got {value_range!r}")
    return float(ends[0]), float(ends[1])


def require_level(level: float) -> None:
    """Reject a confidence level that is not between 0 and 1."""
    if not is_number(level, above=0.0) or level >= 1:
        raise InputError(f"confidence_level must be between 0 and 1, such as 0.95, got {brief(level)}")


def _bootstrap(values: Vector, level: float, n_resamples: int, random_state: int) -> Interval | None:
    """Return the interval of the mean by Efron's BCa bootstrap (1987); None if all values are equal."""
    from scipy.stats import bootstrap

    if (values == values[0]).all():
        return None
    limits = bootstrap(
        (values,),
        np.mean,
        confidence_level=level,
        n_resamples=n_resamples,
        batch=max(1, 2**20 // len(values)),
        rng=np.random.default_rng(random_state),
    ).confidence_interval
    return float(limits.low), float(limits.high)


def _student(values: Vector, level: float, _n_resamples: int, _random_state: int) -> Interval | None:
    if (values == values[0]).all():
        return None
    half = _student_quantile(level, len(values) - 1) * float(values.std(ddof=1)) / len(values) ** 0.5
    mean = float(values.mean())
    return mean - half, mean + half


def _student_quantile(level: float, freedom: int) -> float:
    """Return the t with P(|T| <= t) = level, for whole degrees of freedom.

    The sums are 26.7.3 and 26.7.4 of Abramowitz and Stegun. Importing SciPy instead would take half the time of a short
    evaluation.
    """
    odd = freedom % 2
    exponents = np.arange(odd, freedom - 2, 2)
    ratios = (exponents + 1.0) / (exponents + 2.0)
    low, high = 0.0, 0.5 * np.pi
    for _ in range(_HALVINGS + 10):
        angle = 0.5 * (low + high)
        cosine = np.cos(angle)
        series = (1.0 + np.cumprod(ratios * cosine**2).sum()) * cosine**odd if freedom > 1 else 0.0
        part = np.sin(angle) * series
        reached = 2.0 / np.pi * (angle + part) if odd else part
        low, high = (angle, high) if reached < level else (low, angle)
    return float(np.sqrt(freedom) * np.tan(high))


def _betting(values: Vector, level: float, _n_resamples: int, random_state: int) -> Interval:
    """Return the hedged capital interval: means against which bets would not have multiplied the stake enough."""
    if values.min() < 0.0 or values.max() > 1.0:
        raise InputError(
            f"the betting interval needs values from 0 to 1, got {values.min():g} to {values.max():g}: scale them, or "
            "choose another method"
        )
    # Bets use earlier values, so an order that depends on the values would invalidate the interval.
    drawn = np.random.default_rng(random_state).permutation(values)
    n = np.arange(1, len(drawn) + 1)
    means = (0.5 + np.cumsum(drawn)) / (n + 1)
    variances = (0.25 + np.cumsum((drawn - means) ** 2)) / (n + 1)
    wanted = np.log(2.0 / (1.0 - level))
    bets = np.sqrt(2.0 * wanted / (len(drawn) * np.concatenate([[0.25], variances[:-1]])))
    low, high = _lowest_mean(drawn, bets, wanted), 1.0 - _lowest_mean(1.0 - drawn, bets, wanted)
    # At low levels, the bets may exclude every mean.
    return min(low, high), max(low, high)


def _lowest_mean(drawn: Vector, bets: Vector, wanted: float) -> float:
    """Return the least mean against which the logarithm of the capital stays below ``wanted``."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        mean = 0.5 * (low + high)
        capital = np.cumsum(np.log1p(np.minimum(bets, _LARGEST_BET / mean) * (drawn - mean)))
        low, high = (mean, high) if capital.max() >= wanted else (low, mean)
    return low


INTERVALS: dict[str, Callable[[Vector, float, int, int], Interval | None]] = {
    "t": _student,
    "bootstrap": _bootstrap,
    "betting": _betting,
}
"""Methods by name: functions of values, level, number of resamples and seed."""
