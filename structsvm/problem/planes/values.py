"""Compute values of all stored planes at a point and on lines from it, by several threads."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.foundation.compute.compilation import compiled, compiled_part
from structsvm.foundation.compute.threads import (
    begin_stage,
    end_piece,
    ends_stage,
    next_piece,
    next_stage,
    stage_counters,
)
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.problem.planes.arrays import PlaneArrays, add_plane, product

Choices: TypeAlias = NDArray[np.int32]
"""Choices of one plane per example, as rows of places; −1 is the true output."""

_OLDEST = 8.0
"""Visits without weight after which a plane is skipped."""

_BLOCK = 100_000
"""Plane elements that a thread reads at a time, some µs."""

_MOST_BLOCKS = 8

_LOOK, _LINE, _START, _MOVE = range(4)
"""Kinds of stages. LOOK evaluates the hinge at a t of the line. LINE computes slopes of values on a new line, and its
hinge at two t. START computes values and choice at the first point. MOVE moves along the line and chooses beyond it."""

_KIND, _ROW = range(2)
"""Indices of ``plan``: the kind of stage, and the row of choices to write."""

_T, _BEYOND = range(2)
"""Indices of ``steps``: the t to evaluate or move to, and the further distance at which to choose."""

_HINGE, _SLOPE, _HINGE_AT_START, _SLOPE_AT_START, _OFFSET, _SUMS = 0, 1, 2, 3, 4, 8
"""Indices of the sums over blocks."""


class PlaneValues:
    """Values ``L − g·w`` of the planes of all examples at a point that moves along lines.

    At each point the best plane of each example is chosen, or −1 for the true output. The leader calls the methods, the
    other threads `follow`; see `structsvm.foundation.compute.threads`. ``choices`` has shape (most_choices, n).
    """

    def __init__(self, planes: PlaneArrays, w: Vector, most_choices: int) -> None:
        n, places, d = planes.G.shape
        self.blocks = max(1, min(n, _MOST_BLOCKS, planes.G.size // _BLOCK))
        self.counters = stage_counters()
        self.choices: Choices = np.empty((most_choices, n), dtype=np.int32)
        self._w = w.copy()
        self._plan, self._steps = np.zeros(2, dtype=np.int64), np.zeros(2)
        # The last row is the sum over blocks.
        self._g, self._sums = np.zeros((self.blocks + 1, d)), np.zeros((self.blocks + 1, _SUMS))
        self._total, self._g_of_all = self._sums[-1], self._g[-1]
        self._arguments = (
            self.counters,
            np.arange(self.blocks + 1) * n // self.blocks,
            self._plan,
            self._steps,
            planes.G,
            planes.L,
            planes.age,
            planes.used,
            planes.cap,
            self._w,
            np.empty((n, places)),
            np.zeros((n, places)),
            self.choices,
            self._g,
            self._sums,
        )
        self._hinges: dict[float, tuple[float, float]] = {}

    def follow(self) -> None:
        """Take pieces of all stages until the leader ends."""
        _work(*self._arguments, False)

    def start(self) -> float:
        """Choose at the point and return its weighted hinge."""
        return self._stage(_START)[_HINGE]

    def aim(self, target: Vector, first: float) -> None:
        """Set the line to a target, which it reaches at t = 1, and evaluate it at t = 0 and at ``first``."""
        self._w[:] = target
        sums = self._stage(_LINE, first)
        self._hinges = {first: (sums[_HINGE], sums[_SLOPE]), 0.0: (sums[_HINGE_AT_START], sums[_SLOPE_AT_START])}

    def hinge(self, t: float) -> tuple[float, float]:
        """Return the weighted hinge at t, and its slope."""
        pair = self._hinges.get(t)
        if pair is None:
            hinge, slope, *_ = self._stage(_LOOK, t)
            pair = self._hinges[t] = hinge, slope
        return pair

    def move(self, t: float, beyond: float) -> None:
        """Move to t, and choose at the point that is ``beyond`` further along the line, if a row is free."""
        self._plan[_ROW] += 1
        self._stage(_MOVE, t, beyond)

    def cut(self) -> tuple[Vector, float]:
        """Return ``Σ cap_i (g_i, L_i)`` over the last choice, valid until the next choice."""
        return self._g_of_all, float(self._total[_OFFSET])

    def _stage(self, kind: int, t: float = 0.0, beyond: float = 0.0) -> Sequence[float]:
        self._plan[_KIND] = kind
        self._steps[_T], self._steps[_BEYOND] = t, beyond
        _work(*self._arguments, True)
        total: list[float] = self._total.tolist()
        return total


@compiled
def _work(
    counters: IntVector,
    bounds: IntVector,
    plan: IntVector,
    steps: Vector,
    G: Any,
    L: Matrix,
    age: Matrix,
    used: IntVector,
    cap: Vector,
    w: Vector,
    values: Matrix,
    along: Matrix,
    choices: Choices,
    g: Matrix,
    sums: Matrix,
    leads: bool,
) -> None:
    """Take pieces of one stage and end it (leader), or of all stages that the leader begins."""
    blocks, stage = len(bounds) - 1, 0
    if leads:
        begin_stage(counters)
    while leads or next_stage(counters, stage):
        stage += 1
        block = next_piece(counters, blocks)
        while block >= 0:
            first, end = bounds[block], bounds[block + 1]
            kind, t = plan[_KIND], steps[_T]
            if _LINE <= kind <= _START:
                write_recent_values(G, L, age, used, first, end, w, along if kind == _LINE else values)
            for i in range(first, end):
                for p in range(used[i]):
                    if kind == _LINE:
                        along[i, p] = along[i, p] - values[i, p] if values[i, p] > -np.inf else 0.0
                    elif kind == _MOVE:
                        values[i, p] += t * along[i, p]
            if kind == _LINE:
                sums[block, _HINGE_AT_START], sums[block, _SLOPE_AT_START] = hinge_of(
                    used, cap, first, end, values, along, 0.0
                )
            if kind != _MOVE:
                sums[block, _HINGE], sums[block, _SLOPE] = hinge_of(used, cap, first, end, values, along, t)
            if kind >= _START and plan[_ROW] < len(choices):
                sums[block, _OFFSET] = choose_planes(
                    G, L, used, cap, first, end, values, along, steps[_BEYOND], choices[plan[_ROW]], g[block]
                )
            end_piece(counters)
            block = next_piece(counters, blocks)
        if leads:
            ends_stage(counters, blocks)
            add_up(sums)
            if plan[_KIND] >= _START:
                add_up(g)
            return


@compiled_part
def add_up(rows: Matrix) -> None:
    """Write the sum of all rows but the last into the last."""
    last = len(rows) - 1
    for k in range(rows.shape[1]):
        rows[last, k] = 0.0
        for row in range(last):
            rows[last, k] += rows[row, k]


@compiled_part
def write_recent_values(
    G: Any, L: Matrix, age: Matrix, used: IntVector, first: int, end: int, w: Vector, values: Matrix
) -> None:
    """Write ``L − g·w`` of the planes of the examples ``first`` to ``end − 1``; −inf for planes long without weight."""
    for i in range(first, end):
        for p in range(used[i]):
            values[i, p] = -np.inf
            if age[i, p] <= _OLDEST:
                values[i, p] = L[i, p] - product(G, i, p, w)


@compiled_part
def hinge_of(
    used: IntVector, cap: Vector, first: int, end: int, values: Matrix, along: Matrix, t: float
) -> tuple[float, float]:
    """Return the weighted hinge of some examples at ``values + t · along``, and its slope in t."""
    hinge, slope = 0.0, 0.0
    for i in range(first, end):
        best, change = 0.0, 0.0
        for p in range(used[i]):
            value = values[i, p] + t * along[i, p]
            if value > best:
                best, change = value, along[i, p]
        hinge += cap[i] * best
        slope += cap[i] * change
    return hinge, slope


@compiled_part
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
    """Write the best planes at ``values + t · along`` and their ``g = Σ cap_i g_i``; return ``Σ cap_i L_i``."""
    for k in range(len(g)):
        g[k] = 0.0
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
