"""Compiled steps on the planes that are kept of each example."""

from typing import NamedTuple

import numpy as np

from structsvm.compilation import compiled
from structsvm.types import IntVector, Matrix, Vector

LIVE = 3.0
"""Visits without weight after which a plane is looked at in full rounds only."""


class PlaneArrays(NamedTuple):
    """Planes of n examples, P places each.

    ``G`` (n, P, d) and ``L`` (n, P) are the planes in weight space, ``a`` (n, P) their
    multipliers, ``gram`` (n, P, P) their inner products, ``age`` (n, P) visits since a place
    last had weight, ``used`` (n,) how many places are taken, ``live`` (n,) how many of them
    hold the planes of small age, which come first, ``cap`` (n,) the caps.
    """

    G: Matrix
    L: Matrix
    a: Matrix
    gram: Matrix
    age: Matrix
    used: IntVector
    live: IntVector
    cap: Vector


def _subtract_products(L: Vector, G: Matrix, w: Vector, out: Vector) -> None:
    for p in range(len(out)):
        product = 0.0
        for k in range(len(w)):
            product += G[p, k] * w[k]
        out[p] = L[p] - product


subtract_products = compiled(_subtract_products, reorder=True)
"""``(L, G, w, out)``: write ``L − G w`` of the first planes of an example; BLAS is slower for so few."""


@compiled
def write_gram(planes: PlaneArrays, i: int, place: int) -> None:
    """Write the inner products of one plane with all of its example."""
    used = planes.used[i]
    row = np.dot(planes.G[i, :used], planes.G[i, place])
    for p in range(used):
        planes.gram[i, place, p] = row[p]
        planes.gram[i, p, place] = row[p]


@compiled
def merge_lightest(planes: PlaneArrays, i: int) -> int:
    """Merge the two planes of least weight into ``Σ a (g, L) / Σ a`` and return the place that this frees."""
    first, second = 0, 1
    if planes.a[i, 1] < planes.a[i, 0]:
        first, second = 1, 0
    for p in range(2, planes.L.shape[1]):
        if planes.a[i, p] < planes.a[i, first]:
            first, second = p, first
        elif planes.a[i, p] < planes.a[i, second]:
            second = p
    total = planes.a[i, first] + planes.a[i, second]
    share = planes.a[i, first] / total
    for k in range(planes.G.shape[2]):
        planes.G[i, second, k] += share * (planes.G[i, first, k] - planes.G[i, second, k])
    planes.L[i, second] += share * (planes.L[i, first] - planes.L[i, second])
    planes.a[i, second] = total
    write_gram(planes, i, second)
    return first


@compiled
def insert(planes: PlaneArrays, i: int, g: Vector, L: float) -> int:
    """Keep one more plane of an example, without weight; return its place.

    Where all places are taken, it replaces the plane that has been without weight longest;
    where all have weight, two of them are merged.
    """
    places = planes.L.shape[1]
    used = planes.used[i]
    if used < places:
        place = used
        planes.used[i] = used + 1
    else:
        place = -1
        for p in range(places):
            if planes.a[i, p] == 0.0 and (place < 0 or planes.age[i, p] > planes.age[i, place]):
                place = p
        if place < 0:
            place = merge_lightest(planes, i)
    planes.G[i, place] = g
    planes.L[i, place] = L
    planes.a[i, place] = 0.0
    planes.age[i, place] = 0.0
    write_gram(planes, i, place)
    return int(place)


@compiled
def swap(planes: PlaneArrays, i: int, p: int, q: int) -> None:
    """Let two planes of an example change places."""
    for k in range(planes.G.shape[2]):
        planes.G[i, p, k], planes.G[i, q, k] = planes.G[i, q, k], planes.G[i, p, k]
    planes.L[i, p], planes.L[i, q] = planes.L[i, q], planes.L[i, p]
    planes.a[i, p], planes.a[i, q] = planes.a[i, q], planes.a[i, p]
    planes.age[i, p], planes.age[i, q] = planes.age[i, q], planes.age[i, p]
    for r in range(planes.used[i]):
        planes.gram[i, p, r], planes.gram[i, q, r] = planes.gram[i, q, r], planes.gram[i, p, r]
    for r in range(planes.used[i]):
        planes.gram[i, r, p], planes.gram[i, r, q] = planes.gram[i, r, q], planes.gram[i, r, p]


@compiled
def values_at(planes: PlaneArrays, i: int, used: int, w: Vector) -> Vector:
    """Return ``L − g·w`` of the first planes of an example."""
    value = np.empty(used)
    subtract_products(planes.L[i], planes.G[i], w, value)
    return value


@compiled
def improve(planes: PlaneArrays, i: int, w: Vector, steps: int, full: bool) -> float:
    """Move weight between the planes of one example, and w with them; return the gap that it had."""
    used = planes.used[i] if full else planes.live[i]
    a = planes.a[i]
    before = a[:used].copy()
    gap = move_in_pairs(planes, i, values_at(planes, i, used, w), steps)
    for p in range(used):
        moved = a[p] - before[p]
        if moved != 0.0:
            for k in range(len(w)):
                w[k] += moved * planes.G[i, p, k]
        planes.age[i, p] = 0.0 if a[p] > 0.0 else planes.age[i, p] + 1.0
    if full:
        bring_live_to_front(planes, i)
    return gap


@compiled
def move_in_pairs(planes: PlaneArrays, i: int, value: Vector, steps: int) -> float:
    """Move multipliers of an example in pairs, and the planes' values with them; return the gap that it had.

    Each step takes the plane with the largest ``L − g·w`` and the one with weight that has the
    smallest, the truth (0) among them, and moves the best amount from this to that.
    """
    used = len(value)
    a, gram = planes.a[i], planes.gram[i]
    spare = planes.cap[i]
    gap = planes.cap[i] * max(0.0, value.max()) if used > 0 else 0.0
    for p in range(used):
        spare -= a[p]
        gap -= a[p] * value[p]
    for _ in range(steps):
        up, down = -1, -1
        highest = 0.0
        lowest = 0.0 if spare > 0.0 else np.inf
        for p in range(used):
            if value[p] > highest:
                highest, up = value[p], p
            if a[p] > 0.0 and value[p] < lowest:
                lowest, down = value[p], p
        rise = highest - lowest
        if not rise > 1e-14:
            break
        available = spare if down < 0 else a[down]
        curvature = 0.0
        if up >= 0:
            curvature += gram[up, up]
        if down >= 0:
            curvature += gram[down, down]
        if up >= 0 and down >= 0:
            curvature -= 2.0 * gram[up, down]
        amount = available
        if curvature * available > rise:
            amount = rise / curvature
        if up >= 0:
            a[up] += amount
            for p in range(used):
                value[p] -= amount * gram[up, p]
        else:
            spare += amount
        if down >= 0:
            a[down] = 0.0 if amount == available else a[down] - amount
            for p in range(used):
                value[p] += amount * gram[down, p]
        else:
            spare = 0.0 if amount == available else spare - amount
    return gap


@compiled
def bring_live_to_front(planes: PlaneArrays, i: int) -> None:
    """Let the planes of an example that had weight of late take its first places."""
    live = 0
    for p in range(planes.used[i]):
        if planes.age[i, p] <= LIVE:
            if p != live:
                swap(planes, i, p, live)
            live += 1
    planes.live[i] = live


@compiled
def improve_all(planes: PlaneArrays, order: IntVector, w: Vector, steps: int, full: bool) -> float:
    """Visit examples without looking at the data; return the sum of the gaps met."""
    total = 0.0
    for i in order:
        total += improve(planes, i, w, steps, full)
    return total


@compiled
def best_value(planes: PlaneArrays, i: int, w: Vector) -> float:
    """Return the largest ``L − g·w`` over the planes that are kept of an example, the truth (0) among them."""
    best = 0.0
    for value in values_at(planes, i, planes.used[i], w):
        best = max(best, value)
    return best


@compiled
def best_values(planes: PlaneArrays, w: Vector, out: Vector) -> None:
    """Write the `best_value` of each example."""
    for i in range(len(out)):
        out[i] = best_value(planes, i, w)


@compiled
def visit_all(
    planes: PlaneArrays, examples: IntVector, G: Matrix, L: Vector, w: Vector, steps: int, new_plane: float
) -> float:
    """Take in a plane of each of some examples, where it beats those that are kept, and step; return the gaps met."""
    total = 0.0
    for k in range(len(examples)):
        i = examples[k]
        if L[k] - np.dot(G[k], w) > best_value(planes, i, w) + new_plane:
            insert(planes, i, G[k], L[k])
        total += improve(planes, i, w, steps, True)
    return total


@compiled
def insert_all(planes: PlaneArrays, examples: IntVector, G: Matrix, L: Vector, a: Vector) -> None:
    """Keep planes of some examples with multipliers."""
    for k in range(len(examples)):
        i = examples[k]
        planes.a[i, insert(planes, i, G[k], L[k])] = a[k]
        planes.live[i] = planes.used[i]


@compiled
def combined(planes: PlaneArrays, w: Vector) -> float:
    """Write ``w = Σ a g`` and return ``Σ a L``."""
    w[:] = 0.0
    offset = 0.0
    for i in range(len(planes.cap)):
        for p in range(planes.used[i]):
            a = planes.a[i, p]
            if a > 0.0:
                offset += a * planes.L[i, p]
                for k in range(len(w)):
                    w[k] += a * planes.G[i, p, k]
    return offset


@compiled
def shares(planes: PlaneArrays, w: Vector, out: Vector) -> None:
    """Write ``Σ_p a_p (L_p − g_p·w)`` of each example: what its planes hold of the dual."""
    for i in range(len(planes.cap)):
        out[i] = 0.0
        for p in range(planes.used[i]):
            if planes.a[i, p] > 0.0:
                out[i] += planes.a[i, p] * (planes.L[i, p] - np.dot(planes.G[i, p], w))
