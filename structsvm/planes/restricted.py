"""The problem restricted to the planes that are kept."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled
from structsvm.planes.arrays import PlaneArrays, add_plane
from structsvm.planes.dual import DualPlanes
from structsvm.planes.steps import write_values
from structsvm.result import CutSet
from structsvm.types import IntVector, Matrix, Vector

Choice: TypeAlias = NDArray[np.int32]
"""One plane of each example, as the number of its place; −1 is the truth."""

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

    def values(self, w: Vector) -> Matrix:
        """Return ``L − g·w`` of each place, shape (n, P); −inf where it is empty, or its plane of no use of late."""
        values = np.empty(self._planes.L.shape)
        _write_values(self._planes, w, _OLDEST, values)
        return values

    def choose(self, values: Matrix, along: Matrix, t: float) -> tuple[float, float, Choice]:
        """Return the weighted hinge at ``values + t · along``, its slope in t, and the choice that attains it."""
        choice = np.empty(len(values), dtype=np.int32)
        hinge, slope = _choose(self._planes, values, along, t, choice)
        return float(hinge), float(slope), choice

    def cut(self, choice: Choice) -> tuple[Vector, float]:
        """Return ``Σ cap_i (g_i, L_i)`` over a choice."""
        g = np.zeros(self.dual.w.shape)
        return g, float(_add_chosen(self._planes, choice, g))

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

    def mix(self, share: float, choices: list[Choice], weights: Vector) -> None:
        """Make the multipliers a share of what they were and, for the rest, weighted choices; w follows."""
        self._planes.a[:] *= share
        for choice, weight in zip(choices, weights.tolist(), strict=True):
            if weight > 0.0:
                _add_weight(self._planes, choice, weight)
        self.dual.refresh()


@compiled
def _write_values(planes: PlaneArrays, w: Vector, oldest: float, values: Matrix) -> None:
    values[:] = -np.inf
    for i in range(len(planes.cap)):
        used = planes.used[i]
        write_values(planes, i, used, w, values[i])
        for p in range(used):
            if planes.age[i, p] > oldest:
                values[i, p] = -np.inf


@compiled
def _choose(planes: PlaneArrays, values: Matrix, along: Matrix, t: float, choice: Choice) -> tuple[float, float]:
    hinge, slope = 0.0, 0.0
    for i in range(len(planes.cap)):
        best, place = 0.0, -1
        for p in range(planes.used[i]):
            value = values[i, p] + t * along[i, p]
            if value > best:
                best, place = value, p
        choice[i] = place
        if place >= 0:
            hinge += planes.cap[i] * best
            slope += planes.cap[i] * along[i, place]
    return hinge, slope


@compiled
def _add_chosen(planes: PlaneArrays, choice: Choice, g: Vector) -> float:
    offset = 0.0
    for i in range(len(planes.cap)):
        place = choice[i]
        if place >= 0:
            cap = planes.cap[i]
            offset += cap * planes.L[i, place]
            add_plane(planes.G, i, place, cap, g)
    return offset


@compiled
def _add_weight(planes: PlaneArrays, choice: Choice, weight: float) -> None:
    for i in range(len(planes.cap)):
        if choice[i] >= 0:
            planes.a[i, choice[i]] += weight * planes.cap[i]
