"""Sums that do not depend on the order of what is summed, nor on how it is spread."""

import math
from collections.abc import Iterable
from typing import Self

import numpy as np
from attrs import field, frozen

from structsvm.compute.compilation import compiled
from structsvm.types import Matrix, Vector

_LARGEST = 1e300
"""Largest number that is summed up exactly: sums of larger ones may overflow."""

_FEW = 16
"""Numbers below which they are added one by one."""

_FARTHEST = 900
"""Largest power of two, up and down, of which there are multiples left to work with."""


@frozen(eq=False)
class ExactSum:
    """A sum of float64 numbers without any rounding, as a few numbers that do not overlap.

    Sums of parts add up to exactly that of the whole, whatever the parts and their order; `value` rounds it, once.
    It is made by the additions without error of Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast
    Robust Geometric Predicates", Discrete & Computational Geometry 1997, section 2.4. Many numbers are first taken
    apart into few, at fixed places, that add up without rounding (Rump, Ogita and Oishi, "Accurate Floating-Point
    Summation Part I", SIAM Journal on Scientific Computing 2008, section 3), at some 10 ns a number.

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


@frozen(eq=False)
class VectorSum:
    """A sum of vectors as two that add up to it, to twice the digits of float64.

    Sums of parts add up to that of the whole. `value` rounds it, once, so that neither the parts nor their order are
    seen in it, unless a number is within some ``2^−100`` of the largest that was summed up of where rounding changes.
    Knuth, "The Art of Computer Programming", volume 2, section 4.2.2, theorem B.

    Parameters
    ----------
    high : the sum, rounded.
    low : what is lost by that, rounded; None: nothing.
    """

    high: Vector
    low: Vector | None = None

    @classmethod
    def merged(cls, sums: Iterable["VectorSum"]) -> Self:
        """Sum up sums, one at the least."""
        first, *others = sums
        if not others:
            return cls(first.high, first.low)
        total, more = np.empty((2, len(first.high))), np.empty((2, len(first.high)))
        first._write(total)
        for each in others:
            each._write(more)
            _add(total, more)
        return cls(total[0], total[1])

    @property
    def value(self) -> Vector:
        """The sum in float64; not finite where it is beyond that."""
        return self.high

    def _write(self, into: Matrix) -> None:
        into[0] = self.high
        into[1] = 0.0 if self.low is None else self.low


def exact_sum(values: Vector) -> float:
    """Return the float64 number next to the sum of a vector's elements: it does not depend on their order."""
    return ExactSum.of(values).value


@compiled
def _add(total: Matrix, more: Matrix) -> None:
    """Add a sum of vectors, in two rows as `VectorSum` has them, to another in place."""
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
    """Return partial sums of numbers: what adds up to exactly their sum."""
    n = len(values)
    with np.errstate(invalid="ignore", over="ignore"):
        largest = float(np.abs(values).max(initial=0.0))
        if not largest <= _LARGEST:  # NaN, too
            return np.array([values.sum()])
    spread = math.frexp(n + 1.0)[1] + 1
    place = math.frexp(largest)[1] + spread
    if n < _FEW or place > _FARTHEST:
        return _added(values.tolist())
    sums: list[float] = []
    while place >= -_FARTHEST and values.any():
        # added to this, a number loses what is below its last place: what is left adds up exactly, in any order
        unit = math.ldexp(1.5, place)
        parts = (values + unit) - unit
        sums.append(float(parts.sum()))
        values = values - parts
        place -= 53 - spread
    return _added(sums + values[values != 0.0].tolist())


def _added(values: list[float]) -> Vector:
    """Add number by number to partial sums that do not overlap."""
    partials: list[float] = []
    for value in values:
        rest, kept = value, 0
        for partial in partials:
            larger, smaller = (rest, partial) if abs(rest) >= abs(partial) else (partial, rest)
            rest = larger + smaller
            lost = smaller - (rest - larger)
            if lost != 0.0:
                partials[kept] = lost
                kept += 1
        partials[kept:] = [rest] if rest else []
    return np.array(partials, dtype=np.float64)
