"""Sums that do not depend on the order of what is summed, nor on how it is spread."""

import math
from collections.abc import Iterable
from typing import Self

import numpy as np
from attrs import field, frozen

from structsvm.compute.compilation import compiled
from structsvm.types import Vector

_MOST_PARTIALS = 64
"""More than float64 has room for: 2098 binary places, 53 of them in each."""


@frozen(eq=False)
class ExactSum:
    """A sum of float64 numbers without any rounding, as a few numbers that do not overlap.

    Sums of parts add up to exactly that of the whole, whatever the parts and their order; `value` rounds it, once.
    It is made by the additions without error of Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast
    Robust Geometric Predicates", Discrete & Computational Geometry 1997, section 2.4, at some 5 ns a number.

    Parameters
    ----------
    partials : two or three numbers for most sums of one sign; none for 0.
    """

    partials: Vector = field(factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, values: Vector) -> Self:
        """Sum up the elements of a vector of float64 numbers."""
        return cls(_partials(values))

    @classmethod
    def merged(cls, sums: Iterable["ExactSum"]) -> Self:
        """Sum up sums."""
        parts = [each.partials for each in sums]
        return cls(_partials(np.concatenate(parts))) if parts else cls()

    @property
    def value(self) -> float:
        """The float64 number next to the sum."""
        return math.fsum(self.partials.tolist())


def exact_sum(values: Vector) -> float:
    """Return the float64 number next to the sum of a vector's elements: it does not depend on their order."""
    return ExactSum.of(values).value


@compiled
def _partials(values: Vector) -> Vector:
    partials = np.empty(_MOST_PARTIALS)
    used = 0
    for value in values:
        if value == 0.0:
            continue
        rest, kept = value, 0
        for k in range(used):
            larger, smaller = rest, partials[k]
            if abs(larger) < abs(smaller):
                larger, smaller = smaller, larger
            rest = larger + smaller
            lost = smaller - (rest - larger)
            if lost != 0.0:
                partials[kept] = lost
                kept += 1
        partials[kept] = rest
        used = kept + 1
        if not np.isfinite(rest):
            return np.array([np.sum(values)])
    return partials[:used].copy()
