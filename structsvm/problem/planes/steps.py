"""Compiled steps on the planes of each example."""

from typing import Any

import numpy as np

from structsvm.foundation.compute.compilation import compiled, compiled_part, inlined_part
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.problem.planes.arrays import PlaneArrays, add_plane, insert, product, swap

STEPS = 4
"""Largest number of pairwise steps between the planes of an example in one visit."""

NEW_PLANE = 1e-12
"""Value, in units of the loss, by which a plane must beat the stored planes to be stored."""

LIVE = 3.0
"""Visits without weight after which only the first of several sweeps visits a plane."""


@compiled_part
def write_values(planes: PlaneArrays, i: int, count: int, w: Vector, out: Vector) -> None:
    """Write the values ``L − g·w`` of the first ``count`` planes of an example."""
    G, L = planes.G, planes.L
    for p in range(count):
        out[p] = L[i, p] - product(G, i, p, w)


@inlined_part
def improve(planes: PlaneArrays, i: int, count: int, w: Vector, room: Vector) -> float:
    """Move weight between an example's first planes, update w, and return the gap; ``room`` (2 P,) is work space."""
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
    """Move multipliers of an example in pairs, update the planes' values, and return the gap before.

    Each step moves the best amount from the plane with weight and the smallest ``L − g·w`` to the plane with the
    largest; the true output counts as a plane (0). Lacoste-Julien and Jaggi, "On the Global Linear Convergence of
    Frank-Wolfe Optimization Variants", NIPS 2015, describe these pairwise steps.
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


@inlined_part
def bring_live_to_front(planes: PlaneArrays, i: int) -> None:
    """Move the planes that recently had weight to the first places of an example."""
    age, live = planes.age, planes.live
    live[i] = 0
    for p in range(planes.used[i]):
        if age[i, p] <= LIVE:
            if p != live[i]:
                swap(planes, i, p, live[i])
            live[i] += 1


@inlined_part
def best_value(planes: PlaneArrays, i: int, w: Vector, room: Vector) -> float:
    """Return the largest value over an example's planes and 0; ``room`` (2 P,) is work space."""
    best = 0.0
    used = planes.used[i]
    write_values(planes, i, used, w, room)
    for p in range(used):
        if room[p] > best:
            best = room[p]
    return best


@compiled
def best_values(planes: PlaneArrays, w: Vector, out: Vector) -> None:
    """Write the `best_value` of each example."""
    room = np.empty(2 * planes.L.shape[1])
    for i in range(len(out)):
        out[i] = best_value(planes, i, w, room)


@compiled
def visit_all(planes: PlaneArrays, examples: IntVector, G: Matrix, L: Vector, w: Vector) -> float:
    """Insert a plane for each of some examples if it beats the stored ones, and step; return the sum of gaps."""
    total = 0.0
    room = np.empty(2 * planes.L.shape[1])
    for k in range(len(examples)):
        i = examples[k]
        if L[k] - np.dot(G[k], w) > best_value(planes, i, w, room) + NEW_PLANE:
            insert(planes, i, G[k], L[k])
        total += improve(planes, i, planes.used[i], w, room)
        bring_live_to_front(planes, i)
    return total


@compiled
def insert_all(planes: PlaneArrays, examples: IntVector, G: Matrix, L: Vector, a: Vector) -> None:
    """Insert planes of some examples with multipliers; the caller must recompute w."""
    for k in range(len(examples)):
        i = examples[k]
        planes.a[i, insert(planes, i, G[k], L[k])] += a[k]
        planes.live[i] = planes.used[i]


@compiled
def combined(G: Any, L: Matrix, a: Matrix, used: IntVector, w: Vector) -> float:
    """Write ``w = Σ a g`` of the stored planes and return ``Σ a L``."""
    for k in range(len(w)):
        w[k] = 0.0
    offset = 0.0
    for i in range(len(used)):
        for p in range(used[i]):
            if a[i, p] > 0.0:
                offset += a[i, p] * L[i, p]
                add_plane(G, i, p, a[i, p], w)
    return offset


@compiled
def shares(G: Any, L: Matrix, a: Matrix, used: IntVector, w: Vector, out: Vector) -> None:
    """Write ``Σ a (L − g·w)`` of each example, its share of the dual."""
    for i in range(len(used)):
        out[i] = 0.0
        for p in range(used[i]):
            if a[i, p] > 0.0:
                out[i] += a[i, p] * (L[i, p] - product(G, i, p, w))
