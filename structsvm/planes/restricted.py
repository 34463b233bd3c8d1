"""The problem restricted to the planes that are kept."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled, compiled_part
from structsvm.planes.arrays import PlaneArrays, add_plane, may_be_rounded, product
from structsvm.planes.dual import DualPlanes
from structsvm.planes.steps import square
from structsvm.result import CutSet
from structsvm.types import IntVector, Matrix, Vector

Choices: TypeAlias = NDArray[np.int32]
"""Choices of one plane of each example, one choice a row, as the number of its place; −1 is the truth."""

_OLDEST = 8.0
"""Visits without weight after which a plane is not looked at."""


class RestrictedProblem:
    """Minimise ``½‖w‖² + Σ_i cap_i max_p (L_ip − g_ip·w)`` over the planes that are kept, the truth (0) among them.

    Parameters
    ----------
    dual : the planes, with multipliers.
    """

    def __init__(self, dual: DualPlanes) -> None:
        self.dual = dual
        self._planes = dual.arrays

    def cuts(self) -> CutSet:
        """Return all planes that are kept, those without weight too, as cuts grouped by example."""
        return self.dual.cuts_at(*self._places())

    def weigh(self, a: Vector) -> None:
        """Give the planes, in the order of `cuts`, these multipliers; w follows."""
        self._planes.a[self._places()] = a
        self.dual.refresh()

    def _places(self) -> tuple[IntVector, IntVector]:
        taken = np.arange(self._planes.L.shape[1]) < self._planes.used[:, None]
        i, p = np.nonzero(taken)
        return i, p

    def mix(self, share: float, choices: Choices, weights: Vector) -> None:
        """Make the multipliers a share of what they were and, for the rest, weighted choices; w follows."""
        _mix(self._planes.a, self._planes.used, self._planes.cap, share, choices, weights)
        self.dual.refresh()


@compiled_part
def write_values_of(planes: PlaneArrays, first: int, end: int, w: Vector, values: Matrix) -> None:
    """Write ``L − g·w`` of each place of some examples; −inf where it is empty, or its plane of no use of late.

    Parameters
    ----------
    planes : of all n examples.
    first, end : the examples, the last not included.
    w : the weights.
    values : of all examples, shape (n, P).
    """
    rounded, length = may_be_rounded(planes), math.sqrt(square(w))
    for i in range(first, end):
        for p in range(values.shape[1]):
            if p >= planes.used[i] or planes.age[i, p] > _OLDEST:
                values[i, p] = -np.inf
                continue
            values[i, p] = planes.L[i, p] - product(planes.G, i, p, w)
            if rounded:
                values[i, p] -= planes.error[i, p] * length


@compiled_part
def subtract_values(values: Matrix, first: int, end: int, along: Matrix) -> None:
    """Make values of some examples at the end of a line how far they are from those at its beginning."""
    for i in range(first, end):
        for p in range(values.shape[1]):
            along[i, p] = along[i, p] - values[i, p] if values[i, p] > -np.inf else 0.0


@compiled_part
def add_values(values: Matrix, first: int, end: int, along: Matrix, t: float) -> None:
    """Move values of some examples along a line."""
    for i in range(first, end):
        for p in range(values.shape[1]):
            values[i, p] += t * along[i, p]


@compiled_part
def hinge_of(planes: PlaneArrays, first: int, end: int, values: Matrix, along: Matrix, t: float) -> tuple[float, float]:
    """Return the weighted hinge of some examples at ``values + t · along``, and its slope in t."""
    hinge, slope = 0.0, 0.0
    for i in range(first, end):
        best, place = 0.0, -1
        for p in range(planes.used[i]):
            value = values[i, p] + t * along[i, p]
            if value > best:
                best, place = value, p
        if place >= 0:
            hinge += planes.cap[i] * best
            slope += planes.cap[i] * along[i, place]
    return hinge, slope


@compiled_part
def choose(
    planes: PlaneArrays,
    first: int,
    end: int,
    values: Matrix,
    along: Matrix,
    t: float,
    choices: Choices,
    row: int,
    g: Vector,
) -> float:
    """Choose the plane of each of some examples that is best at ``values + t · along``.

    A row of choices is written to, and g, which becomes ``Σ cap_i g_i`` over the choice; ``Σ cap_i L_i`` is returned.
    """
    for k in range(len(g)):
        g[k] = 0.0
    offset = 0.0
    for i in range(first, end):
        best, place = 0.0, -1
        for p in range(planes.used[i]):
            value = values[i, p] + t * along[i, p]
            if value > best:
                best, place = value, p
        choices[row, i] = place
        if place >= 0:
            offset += planes.cap[i] * planes.L[i, place]
            add_plane(planes.G, i, place, planes.cap[i], g)
    return offset


@compiled
def _mix(a: Matrix, used: IntVector, cap: Vector, share: float, choices: Choices, weights: Vector) -> None:
    for i in range(len(cap)):
        for p in range(used[i]):
            a[i, p] *= share
        for k in range(len(weights)):
            if weights[k] > 0.0 and choices[k, i] >= 0:
                a[i, choices[k, i]] += weights[k] * cap[i]
