"""The problem restricted to the planes that are kept."""

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.compute.atomics import add
from structsvm.compute.compilation import compiled, compiled_part
from structsvm.compute.tangents import crossing
from structsvm.compute.threads import over_blocks
from structsvm.planes.arrays import add_plane, product
from structsvm.planes.dual import DualPlanes
from structsvm.planes.steps import square
from structsvm.result import CutSet
from structsvm.types import IntVector, Matrix, Vector

Choice: TypeAlias = NDArray[np.int32]
"""One plane of each example, as the number of its place; −1 is the truth."""

_OLDEST = 8.0
"""Visits without weight after which a plane is not looked at."""

_VALUES_AN_ARGMAX = 128
"""Numbers of planes that are read in the time that an argmax takes for a score."""

_LOOKS = 12
"""Most looks of a search along a line."""

_FARTHEST = 2.0
"""Largest t that it looks at."""

_ACCURACY = 0.01
"""Part of the descent found so far that may be left when it ends."""


class RestrictedProblem:
    """Minimise ``½‖w‖² + Σ_i cap_i max_p (L_ip − g_ip·w)`` over the planes that are kept, the truth (0) among them.

    Parameters
    ----------
    dual : the planes, with multipliers.
    """

    def __init__(self, dual: DualPlanes) -> None:
        self.dual = dual
        self._planes = dual.arrays
        n, places = self._planes.L.shape
        self._ptr = np.arange(n + 1) * places

    def values(self, w: Vector) -> Matrix:
        """Return ``L − g·w`` of each place, shape (n, P); −inf where it is empty, or its plane of no use of late."""
        planes, values = self._planes, np.empty(self._planes.L.shape)
        read = planes.G, planes.L, planes.error, planes.age, planes.used
        over_blocks(
            lambda bounds, counters: _write_values(*read, bounds, counters, w, _OLDEST, values),
            self._ptr,
            len(w) / _VALUES_AN_ARGMAX,
        )
        return values

    def choose(self, values: Matrix) -> tuple[float, Choice]:
        """Return the weighted hinge at values, and the choice that attains it."""
        choice = np.empty(len(values), dtype=np.int32)
        return float(_choose(self._planes.used, self._planes.cap, values, choice)), choice

    def move(self, values: Matrix, target: Matrix, linear: float, curvature: float) -> tuple[float, float]:
        """Move values along the line to others, to where the hinge and a parabola are lowest, or nearly.

        Parameters
        ----------
        values : at t = 0; changed in place.
        target : at t = 1; changed to how far they are from there.
        linear, curvature : of the parabola ``t · linear + ½ t² · curvature``.

        Returns
        -------
        t : how far they were moved, from 0 to 2.
        hinge : the weighted hinge there.
        """
        t, hinge = _move(self._planes.used, self._planes.cap, values, target, linear, curvature)
        return float(t), float(hinge)

    def cut(self, choice: Choice) -> tuple[Vector, float]:
        """Return ``Σ cap_i (g_i, L_i)`` over a choice."""
        g = np.zeros(self.dual.w.shape)
        return g, float(_add_chosen(self._planes.G, self._planes.L, self._planes.cap, choice, g))

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
                _add_weight(self._planes.a, self._planes.cap, choice, weight)
        self.dual.refresh()


@compiled
def _write_values(
    G: Any,
    L: Matrix,
    error: Matrix,
    age: Matrix,
    used: IntVector,
    bounds: IntVector,
    counters: IntVector,
    w: Vector,
    oldest: float,
    values: Matrix,
) -> None:
    rounded, length = error.shape[1] > 0, math.sqrt(square(w))
    while True:
        block = add(counters, 0, 1)
        if block >= len(bounds) - 1:
            return
        for i in range(bounds[block], bounds[block + 1]):
            for p in range(values.shape[1]):
                if p >= used[i] or age[i, p] > oldest:
                    values[i, p] = -np.inf
                    continue
                values[i, p] = L[i, p] - product(G, i, p, w)
                if rounded:
                    values[i, p] -= error[i, p] * length


@compiled
def _choose(used: IntVector, cap: Vector, values: Matrix, choice: Choice) -> float:
    hinge = 0.0
    for i in range(len(cap)):
        best, place = 0.0, -1
        for p in range(used[i]):
            if values[i, p] > best:
                best, place = values[i, p], p
        choice[i] = place
        hinge += cap[i] * best
    return hinge


@compiled_part
def _hinge(used: IntVector, cap: Vector, values: Matrix, along: Matrix, t: float) -> tuple[float, float]:
    """Return the weighted hinge at ``values + t · along``, and its slope in t."""
    hinge, slope = 0.0, 0.0
    for i in range(len(cap)):
        best, place = 0.0, -1
        for p in range(used[i]):
            value = values[i, p] + t * along[i, p]
            if value > best:
                best, place = value, p
        if place >= 0:
            hinge += cap[i] * best
            slope += cap[i] * along[i, place]
    return hinge, slope


@compiled
def _move(
    used: IntVector, cap: Vector, values: Matrix, along: Matrix, linear: float, curvature: float
) -> tuple[float, float]:
    """Search along a line as `structsvm.solvers.line_search` does, within compiled code."""
    for i in range(len(values)):
        for p in range(values.shape[1]):
            along[i, p] = along[i, p] - values[i, p] if values[i, p] > -np.inf else 0.0
    first, first_slope = _hinge(used, cap, values, along, 0.0)
    best, lowest, hinge = 0.0, first, first
    if curvature == 0.0 or first_slope + linear >= 0.0:
        return best, hinge
    low, low_value, low_slope = 0.0, first, first_slope
    high, high_value, high_slope = np.inf, 0.0, 0.0
    t = 1.0
    for _ in range(_LOOKS):
        value, slope = _hinge(used, cap, values, along, t)
        primal = t * (linear + 0.5 * t * curvature) + value
        if primal < lowest:
            best, lowest, hinge = t, primal, value
        if slope + linear + t * curvature >= 0.0:
            high, high_value, high_slope = t, value, slope
        else:
            low, low_value, low_slope = t, value, slope
        if high == np.inf:
            if low == _FARTHEST:
                break
            t = _FARTHEST
            continue
        t = crossing(linear, curvature, low, low_value, low_slope, high, high_value, high_slope)
        model = max(low_value + low_slope * (t - low), high_value + high_slope * (t - high))
        left = lowest - model - t * (linear + 0.5 * t * curvature)
        if left <= _ACCURACY * (first - lowest) or not low < t < high:
            break
    for i in range(len(values)):
        for p in range(used[i]):
            values[i, p] += best * along[i, p]
    return best, hinge


@compiled
def _add_chosen(G: Any, L: Matrix, cap: Vector, choice: Choice, g: Vector) -> float:
    offset = 0.0
    for i in range(len(cap)):
        place = int(choice[i])
        if place >= 0:
            offset += cap[i] * L[i, place]
            add_plane(G, i, place, cap[i], g)
    return offset


@compiled
def _add_weight(a: Matrix, cap: Vector, choice: Choice, weight: float) -> None:
    for i in range(len(cap)):
        if choice[i] >= 0:
            a[i, choice[i]] += weight * cap[i]
