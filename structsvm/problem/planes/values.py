"""Values of all stored planes at a point, and on lines from it."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.problem.planes.arrays import PlaneArrays, add_plane, product

Choices: TypeAlias = NDArray[np.int32]
"""Choices of one plane per example, as rows of places; −1 is the true output."""

_OLDEST = 8.0
"""Visits without weight after which a plane is skipped."""


class PlaneValues:
    """Values ``L − g·w`` of the planes of all examples at a point that moves along lines.

    At each point the best plane of each example is chosen, or −1 for the true output. ``choices`` has shape
    (most_choices, n).
    """

    def __init__(self, planes: PlaneArrays, w: Vector, most_choices: int) -> None:
        n, places, d = planes.G.shape
        self.choices: Choices = np.empty((most_choices, n), dtype=np.int32)
        # Few arrays, because each takes time to compile.
        self._planes = planes.G, planes.L, planes.used
        self._age, self._some = planes.age, (planes.used, planes.cap)
        self._values, self._along = np.full((n, places), -np.inf), np.zeros((n, places))
        write_recent_values(*self._planes, self._age, w, self._values)
        self._row, self._offset, self._g = 0, 0.0, np.empty(d)
        self._hinges: dict[float, tuple[float, float]] = {}

    def start(self) -> float:
        """Choose at the point and return its weighted hinge."""
        self._choose(0.0)
        return float(hinge_of(*self._some, self._values, self._along, 0.0)[0])

    def aim(self, target: Vector) -> None:
        """Set the line to a target, which it reaches at t = 1."""
        write_recent_values(*self._planes, self._age, target, self._along)
        some = self._values > -np.inf
        np.subtract(self._along, self._values, out=self._along, where=some)
        self._along[~some] = 0.0
        self._hinges = {}

    def hinge(self, t: float) -> tuple[float, float]:
        """Return the weighted hinge at t, and its slope."""
        if t not in self._hinges:
            self._hinges[t] = hinge_of(*self._some, self._values, self._along, t)
        return self._hinges[t]

    def move(self, t: float, beyond: float) -> None:
        """Move to t, and choose at the point that is ``beyond`` further along the line, if a row is free."""
        self._values += t * self._along
        if self._row < len(self.choices):
            self._choose(beyond)

    def cut(self) -> tuple[Vector, float]:
        """Return ``Σ cap_i (g_i, L_i)`` over the last choice, valid until the next choice."""
        return self._g, self._offset

    def _choose(self, t: float) -> None:
        self._offset = choose_planes(
            *self._planes, self._some[1], self._values, self._along, t, self.choices[self._row], self._g
        )
        self._row += 1


@compiled
def write_recent_values(G: Any, L: Matrix, used: IntVector, age: Matrix, w: Vector, values: Matrix) -> None:
    """Write ``L − g·w`` of the planes of all examples; −inf for planes long without weight."""
    for i in range(len(used)):
        for p in range(used[i]):
            values[i, p] = -np.inf
            if age[i, p] <= _OLDEST:
                values[i, p] = L[i, p] - product(G, i, p, w)


@compiled
def hinge_of(used: IntVector, cap: Vector, values: Matrix, along: Matrix, t: float) -> tuple[float, float]:
    """Return the weighted hinge at ``values + t · along``, and its slope in t."""
    hinge, slope = 0.0, 0.0
    for i in range(len(used)):
        best, change = 0.0, 0.0
        for p in range(used[i]):
            value = values[i, p] + t * along[i, p]
            if value > best:
                best, change = value, along[i, p]
        hinge += cap[i] * best
        slope += cap[i] * change
    return hinge, slope


@compiled
def choose_planes(
    G: Any, L: Matrix, used: IntVector, cap: Vector, values: Matrix, along: Matrix, t: float, choice: Any, g: Vector
) -> float:
    """Write the best planes at ``values + t · along`` and their ``g = Σ cap_i g_i``; return ``Σ cap_i L_i``."""
    for k in range(len(g)):
        g[k] = 0.0
    offset = 0.0
    for i in range(len(used)):
        best, place = 0.0, -1
        for p in range(used[i]):
            value = values[i, p] + t * along[i, p]
            if value > best:
                best, place = value, p
        choice[i] = place
        if place >= 0:
            offset += cap[i] * L[i, place]
            add_plane(G, i, place, cap[i], g)
    return offset
