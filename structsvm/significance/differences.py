"""Differences of two systems, free of what rounding adds to them."""

import numpy as np
from numpy.typing import ArrayLike

from structsvm.arrays import numbers
from structsvm.exceptions import InputError
from structsvm.types import Vector

_TOLERANCE = 1e-12
"""What two differences may differ by that are the same, in units of the largest value.

A measure of a query is a sum of up to some thousand terms: its rounding error is some 1e-16 to 1e-13 of the largest
value. Differences that are not the same differ by more, in practice: those of precisions and recalls by 1e-6 or so.
"""


def differences(first: ArrayLike, second: ArrayLike) -> Vector:
    """Return ``first - second``, those the same which differ by rounding only.

    ``0.3 - 0.2`` and ``0.2 - 0.1`` are not the same number. Where ranks of differences matter, as in Wilcoxon's test,
    ties would be broken at random, and where their signs do, a tie would be a win. So the sizes are sorted, and
    each that is within 1e-12 of the one before, in units of the largest value, is made equal to it; those that
    close to 0 are 0. Rounding each to twelve digits would do the same but for numbers half-way between two
    roundings, such as 2^-13.

    Parameters
    ----------
    first, second : values for the same queries, shape (Q,) each, finite.

    Returns
    -------
    differences : shape (Q,).

    Raises
    ------
    InputError : shapes differ, there is no query, or a value is not finite.
    """
    one, other = numbers(first, "first"), numbers(second, "second")
    if one.ndim != 1 or one.shape != other.shape or not len(one):
        raise InputError(
            "first and second must hold a value for each query, and for one at least: "
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
