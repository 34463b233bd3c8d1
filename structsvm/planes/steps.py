"""Compiled steps on the planes that are kept of each example.

A plane may have been rounded, from g to ĝ with ``‖g − ĝ‖ ≤ error``. Its value ``L − g·w`` is then
not known, but at least ``L − ĝ·w − error ‖w‖``, whatever w is. This is what steps go by and what is
claimed of the hinge and of the dual.
"""

import math
from typing import Any

import numpy as np

from structsvm.compute.compilation import compiled, compiled_part
from structsvm.planes.arrays import PlaneArrays, add_plane, have_errors, insert, may_be_rounded, product, swap
from structsvm.types import IntVector, Matrix, Vector

STEPS = 4
"""Most pairwise steps between the planes of an example in one visit."""

NEW_PLANE = 1e-12
"""Value, in units of the loss, by which a plane must beat those that are kept to be kept as well."""

LIVE = 3.0
"""Visits without weight after which a plane is looked at in the first of several sweeps only."""


def _square(w: Vector) -> float:
    total = 0.0
    for k in range(len(w)):
        total += w[k] * w[k]
    return total


square = compiled_part(_square, reorder=True)
"""``(w,)``: ``‖w‖²``."""


@compiled_part
def write_values(planes: PlaneArrays, i: int, count: int, w: Vector, out: Vector) -> None:
    """Write the values ``L − g·w`` of the first planes of an example, or what they are at least."""
    G, L, error = planes.G, planes.L, planes.error
    for p in range(count):
        out[p] = L[i, p] - product(G, i, p, w)
    if may_be_rounded(planes):
        length = math.sqrt(square(w))
        for p in range(count):
            out[p] -= error[i, p] * length


@compiled_part
def improve(planes: PlaneArrays, i: int, count: int, w: Vector, room: Vector) -> float:
    """Move weight between the first planes of one example, and w with them; return the gap that it had.

    ``room`` (2 P,) is written to: a visit is so short that it must not ask for memory.
    """
    G, a, age = planes.G, planes.a, planes.age
    places = planes.L.shape[1]
    write_values(planes, i, count, w, room)
    for p in range(count):
        room[places + p] = a[i, p]
    gap = move_in_pairs(a, planes.gram, i, count, planes.cap[i], room)
    for p in range(count):
        moved = a[i, p] - room[places + p]
        if moved != 0.0:
            add_plane(G, i, p, moved, w)
        age[i, p] = 0.0 if a[i, p] > 0.0 else age[i, p] + 1.0
    return gap


@compiled_part
def move_in_pairs(a: Matrix, gram: Any, i: int, used: int, cap: float, value: Vector) -> float:
    """Move multipliers of an example in pairs, and the planes' values with them; return the gap that it had.

    Each step takes the plane with the largest ``L − g·w`` and the one with weight that has the
    smallest, the truth (0) among them, and moves the best amount from this to that: the pairwise steps of
    Lacoste-Julien and Jaggi, "On the Global Linear Convergence of Frank-Wolfe Optimization Variants", NIPS 2015.
    """
    spare = cap
    best, held = 0.0, 0.0
    for p in range(used):
        spare -= a[i, p]
        held += a[i, p] * value[p]
        if value[p] > best:
            best = value[p]
    for _ in range(STEPS):
        up, down = -1, -1
        highest = 0.0
        lowest = 0.0 if spare > 0.0 else np.inf
        for p in range(used):
            if value[p] > highest:
                highest, up = value[p], p
            if a[i, p] > 0.0 and value[p] < lowest:
                lowest, down = value[p], p
        rise = highest - lowest
        if not rise > 1e-14:
            break
        available = spare if down < 0 else a[i, down]
        curvature = 0.0
        if up >= 0:
            curvature += gram[i, up, up]
        if down >= 0:
            curvature += gram[i, down, down]
        if up >= 0 and down >= 0:
            curvature -= 2.0 * gram[i, up, down]
        amount = available
        if curvature * available > rise:
            amount = rise / curvature
        if up >= 0:
            a[i, up] += amount
            for p in range(used):
                value[p] -= amount * gram[i, up, p]
        else:
            spare += amount
        if down >= 0:
            a[i, down] = 0.0 if amount == available else a[i, down] - amount
            for p in range(used):
                value[p] += amount * gram[i, down, p]
        else:
            spare = 0.0 if amount == available else spare - amount
    return cap * best - held


@compiled_part
def bring_live_to_front(planes: PlaneArrays, i: int) -> None:
    """Let the planes of an example that had weight of late take its first places."""
    age, live = planes.age, planes.live
    live[i] = 0
    for p in range(planes.used[i]):
        if age[i, p] <= LIVE:
            if p != live[i]:
                swap(planes, i, p, live[i])
            live[i] += 1


@compiled_part
def best_value(planes: PlaneArrays, i: int, w: Vector, room: Vector) -> tuple[float, float]:
    """Return the largest value over the planes that are kept of an example, the truth (0) among them.

    ``room`` (2 P,) is written to.

    Returns
    -------
    best : the value.
    to_beat : what another plane must have to be worth keeping: `NEW_PLANE` more than the best, and more yet where it
        would be rounded, as the best may come from this very plane.
    """
    best = 0.0
    used = planes.used[i]
    write_values(planes, i, used, w, room)
    for p in range(used):
        if room[p] > best:
            best = room[p]
    if planes.G.itemsize == 8:
        return best, best + NEW_PLANE
    to_beat, twice = 0.0, 2.0 * math.sqrt(square(w))
    for p in range(used):
        value = room[p] + planes.error[i, p] * twice
        if value > to_beat:
            to_beat = value
    return best, to_beat + NEW_PLANE


@compiled
def best_values(planes: PlaneArrays, w: Vector, out: Vector) -> None:
    """Write the `best_value` of each example."""
    room = np.empty(2 * planes.L.shape[1])
    for i in range(len(out)):
        out[i] = best_value(planes, i, w, room)[0]


@compiled
def visit_all(planes: PlaneArrays, examples: IntVector, G: Matrix, L: Vector, w: Vector) -> float:
    """Take in a plane of each of some examples, where it beats those that are kept, and step; return the gaps met."""
    total = 0.0
    room = np.empty(2 * planes.L.shape[1])
    for k in range(len(examples)):
        i = examples[k]
        if L[k] - np.dot(G[k], w) > best_value(planes, i, w, room)[1]:
            insert(planes, i, G[k], L[k], 0.0, w)
        total += improve(planes, i, planes.used[i], w, room)
        bring_live_to_front(planes, i)
    return total


@compiled
def insert_all(
    planes: PlaneArrays, examples: IntVector, G: Matrix, L: Vector, error: Vector, a: Vector, w: Vector
) -> None:
    """Keep planes of some examples with multipliers; w, which they are not added to, is to be combined afresh."""
    for k in range(len(examples)):
        i = examples[k]
        planes.a[i, insert(planes, i, G[k], L[k], error[k], w)] += a[k]
        planes.live[i] = planes.used[i]


@compiled
def combined(G: Any, L: Matrix, error: Matrix, a: Matrix, used: IntVector, w: Vector) -> tuple[float, float]:
    """Write ``w = Σ a g`` of the planes as they are kept; return ``Σ a L`` and ``Σ a error``."""
    for k in range(len(w)):
        w[k] = 0.0
    offset, errors = 0.0, 0.0
    rounded = have_errors(error)
    for i in range(len(used)):
        for p in range(used[i]):
            if a[i, p] > 0.0:
                offset += a[i, p] * L[i, p]
                if rounded:
                    errors += a[i, p] * error[i, p]
                add_plane(G, i, p, a[i, p], w)
    return offset, errors


@compiled
def shares(G: Any, L: Matrix, error: Matrix, a: Matrix, used: IntVector, w: Vector, out: Vector) -> None:
    """Write the sum of multipliers times values of each example: what its planes hold of the dual."""
    length, rounded = math.sqrt(square(w)), have_errors(error)
    for i in range(len(used)):
        out[i] = 0.0
        for p in range(used[i]):
            if a[i, p] > 0.0:
                value = L[i, p] - product(G, i, p, w)
                if rounded:
                    value -= error[i, p] * length
                out[i] += a[i, p] * value
