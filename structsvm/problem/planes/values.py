"""Values of all stored planes at a point, and on lines from it; threads read the planes."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.compute.threads import VALUES_AN_ARGMAX, in_blocks
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
        self._age, self._cap = planes.age, planes.cap
        self._places, self._work = places * np.arange(n + 1), d / VALUES_AN_ARGMAX
        self._values, self._along = np.full((n, places), -np.inf), np.zeros((n, places))
        self._write_values(w, self._values)
        self._row, self._offset, self._g = 0, 0.0, np.zeros(d)
        self._hinges: dict[float, tuple[float, float]] = {}

    def start(self) -> float:
        """Choose at the point and return its weighted hinge."""
        self._choose(0.0)
        return self._hinge(0.0)[0]

    def aim(self, target: Vector) -> None:
        """Set the line to a target, which it reaches at t = 1."""
        self._write_values(target, self._along)
        some = self._values > -np.inf
        np.subtract(self._along, self._values, out=self._along, where=some)
        self._along[~some] = 0.0
        self._hinges = {}

    def hinge(self, t: float) -> tuple[float, float]:
        """Return the weighted hinge at t, and its slope."""
        if t not in self._hinges:
            self._hinges[t] = self._hinge(t)
        return self._hinges[t]

    def move(self, t: float, beyond: float) -> None:
        """Move to t. If a row is free, choose again at the point that is ``beyond`` further along the line."""
        self._values += t * self._along
        if self._row < len(self.choices):
            self._choose(beyond)

    def cut(self) -> tuple[Vector, float]:
        """Return ``Σ cap_i (g_i, L_i)`` over the last choice, valid until the next choice."""
        return self._g, self._offset

    def _hinge(self, t: float) -> tuple[float, float]:
        hinge, slope = hinge_of(self._planes[2], self._cap, self._values, self._along, t)
        return float(hinge), float(slope)

    def _write_values(self, w: Vector, values: Matrix) -> None:
        in_blocks(
            lambda first, end: write_recent_values(*self._planes, self._age, first, end, w, values),
            self._places,
            self._work,
        )

    def _choose(self, t: float) -> None:
        choice = self.choices[self._row]

        def chosen(first: int, end: int) -> tuple[Vector, float]:
            g = np.zeros(len(self._g))
            offset = choose_planes(*self._planes, self._cap, first, end, self._values, self._along, t, choice, g)
            return g, offset

        # Blocks, and so the sums, do not depend on the number of threads.
        sums, offsets = zip(*in_blocks(chosen, self._places, self._work), strict=True)
        self._g, self._offset = np.sum(sums, axis=0), float(sum(offsets))
        self._row += 1


@compiled
def write_recent_values(
    G: Any, L: Matrix, used: IntVector, age: Matrix, first: int, end: int, w: Vector, values: Matrix
) -> None:
    """Write ``L − g·w`` of the planes of the examples ``first`` to ``end − 1``; −inf for planes long without weight."""
    for i in range(first, end):
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
    G: Any,
    L: Matrix,
    used: IntVector,
    cap: Vector,
    first: int,
    end: int,
    values: Matrix,
    along: Matrix,
    t: float,
    choice: Any,
    g: Vector,
) -> float:
    """Write the best planes at ``values + t · along``, add ``Σ cap_i g_i`` to g, and return ``Σ cap_i L_i``."""
    offset = 0.0
    for i in range(first, end):
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
