"""Sum numbers independently of the order of terms and of their distribution over machines."""

import math
from collections.abc import Iterable
from typing import Self

import numpy as np
from attrs import field, frozen

from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.types import Matrix, Vector

_LARGEST = 1e300
"""Largest number that is summed exactly; sums of larger numbers may overflow."""

_FEW = 16
"""Fewer numbers than this are added one by one."""

_FARTHEST = 900
"""Largest absolute binary exponent at which values are split without overflow or underflow."""


@frozen(eq=False)
class ExactSum:
    """An exact sum of float64 numbers as a few non-overlapping partial sums (Shewchuk, 1997); none for 0."""

    partials: Vector = field(factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, values: Vector) -> Self:
        """Sum the elements of a vector."""
        return cls(_partials(values))

    @classmethod
    def merged(cls, sums: Iterable["ExactSum"]) -> Self:
        """Add up sums."""
        parts = [total.partials for total in sums]
        return cls(_partials(np.concatenate(parts))) if parts else cls()

    @property
    def value(self) -> float:
        """The float64 number nearest to the sum."""
        return math.fsum(self.partials.tolist())


@frozen(eq=False)
class VectorSum:
    """A sum of vectors as ``high + low`` (Knuth, volume 2, section 4.2.2), almost independent of their order."""

    high: Vector
    low: Vector | None = None

    @classmethod
    def merged(cls, sums: Iterable["VectorSum"]) -> Self:
        """Add up one or more sums."""
        first, *others = sums
        if not others:
            return cls(first.high, first.low)
        total, more = np.empty((2, len(first.high))), np.empty((2, len(first.high)))
        first._write(total)
        for other in others:
            other._write(more)
            _add(total, more)
        return cls(total[0], total[1])

    @property
    def value(self) -> Vector:
        """The sum in float64; infinite or NaN on overflow."""
        return self.high

    def _write(self, into: Matrix) -> None:
        into[0] = self.high
        into[1] = 0.0 if self.low is None else self.low


def exact_sum(values: Vector) -> float:
    """Return the float64 number nearest to the sum of a vector's elements, in any order."""
    return ExactSum.of(values).value


@compiled
def _add(total: Matrix, more: Matrix) -> None:
    """Add a sum of vectors, stored as rows high and low, to another in place."""
    for k in range(total.shape[1]):
        high, other = total[0, k], more[0, k]
        both = high + other
        if not math.isfinite(both):
            total[0, k], total[1, k] = both, 0.0
            continue
        of_other = both - high
        lost = (high - (both - of_other)) + (other - of_other) + total[1, k] + more[1, k]
        total[0, k] = both + lost
        total[1, k] = lost - (total[0, k] - both)


def _partials(values: Vector) -> Vector:
    """Return partial sums of the values, split at fixed places to add up exactly (Rump, Ogita and Oishi, 2008)."""
    n = len(values)
    with np.errstate(invalid="ignore", over="ignore"):
        largest = float(np.abs(values).max(initial=0.0))
        # The negated comparison also catches NaN.
        if not largest <= _LARGEST:
            return np.array([values.sum()])
    spread = math.frexp(n + 1.0)[1] + 1
    place = math.frexp(largest)[1] + spread
    if n < _FEW or place > _FARTHEST:
        return _added(values.tolist())
    sums: list[float] = []
    while place >= -_FARTHEST and values.any():
        # Adding and subtracting the unit rounds numbers to its last place; these parts add up exactly, in any order.
        unit = math.ldexp(1.5, place)
        parts = (values + unit) - unit
        sums.append(float(parts.sum()))
        values = values - parts
        place -= 53 - spread
    return _added(sums + values[values != 0.0].tolist())


def _added(values: list[float]) -> Vector:
    """Add numbers one by one to non-overlapping partial sums."""
    partials: list[float] = []
    for value in values:
        rest, count = value, 0
        for partial in partials:
            larger, smaller = (rest, partial) if abs(rest) >= abs(partial) else (partial, rest)
            rest = larger + smaller
            lost = smaller - (rest - larger)
            if lost != 0.0:
                partials[count] = lost
                count += 1
        partials[count:] = [rest] if rest else []
    return np.array(partials, dtype=np.float64)
