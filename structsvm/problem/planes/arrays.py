"""Storage of each example's planes, and insertion of new ones."""

import math
from typing import Any, NamedTuple

import numpy as np

from structsvm.foundation.compute.compilation import compiled_part, inlined_part
from structsvm.foundation.types import IntVector, Matrix, Vector

_LARGEST, _LARGEST_FLOAT32 = float(np.finfo(np.float64).max), float(np.finfo(np.float32).max)


class PlaneArrays(NamedTuple):
    """Planes of n examples, P places each.

    ``G`` (n, P, d), float64 or float32, and ``L`` (n, P) are the planes in weight space. ``error`` (n, P) bounds the
    distance of each ``G`` from its unrounded plane, or is (n, 0) if no plane is rounded. ``a`` (n, P) are the
    multipliers and ``gram`` (n, P, P) the inner products. ``age`` (n, P) counts visits since a plane last had weight.
    ``used`` (n,) are the places taken, ``live`` (n,) the planes of small age, which come first, and ``cap`` (n,) the
    caps.
    """

    G: Matrix
    L: Matrix
    error: Matrix
    a: Matrix
    gram: Matrix
    age: Matrix
    used: IntVector
    live: IntVector
    cap: Vector


def _product(G: Any, i: int, p: int, w: Vector) -> float:
    product = 0.0
    for k in range(len(w)):
        product += np.float64(G[i, p, k]) * w[k]
    return product


product = compiled_part(_product, reorder=True)
"""``product(G, i, p, w)``: ``g·w`` of plane p of example i in float64, also for float32 planes; faster than BLAS."""


def _add_plane(G: Any, i: int, p: int, amount: float, w: Vector) -> None:
    for k in range(len(w)):
        w[k] += amount * G[i, p, k]


add_plane = compiled_part(_add_plane, reorder=True)
"""``add_plane(G, i, p, amount, w)``: add a multiple of plane p of example i to w."""


@inlined_part
def have_errors(error: Matrix) -> bool:
    """Return True if planes may be rounded; only then does ``error`` have columns."""
    return bool(error.shape[1] > 0)


@inlined_part
def may_be_rounded(planes: PlaneArrays) -> bool:
    """Return True if planes may be rounded."""
    return have_errors(planes.error)


@compiled_part
def write_plane(planes: PlaneArrays, i: int, place: int, g: Vector, error: float) -> None:
    """Store a plane in the precision of ``G``; ``error`` is its own error before this rounding."""
    G = planes.G
    if not may_be_rounded(planes):
        for k in range(len(g)):
            G[i, place, k] = g[k]
        return
    largest = _LARGEST_FLOAT32 if G.itemsize == 4 else _LARGEST
    lost = 0.0
    for k in range(len(g)):
        value = g[k]
        if value > largest:
            value = largest
        elif value < -largest:
            value = -largest
        G[i, place, k] = value
        rest = g[k] - G[i, place, k]
        lost += rest * rest
    planes.error[i, place] = error + math.sqrt(lost)


@compiled_part
def write_gram(planes: PlaneArrays, i: int, place: int) -> None:
    """Write the inner products of one plane with all planes of its example."""
    G, gram = planes.G, planes.gram
    g = G[i, place]
    for p in range(planes.used[i]):
        inner = product(G, i, p, g)
        gram[i, place, p] = inner
        gram[i, p, place] = inner


@inlined_part
def merge_lightest(planes: PlaneArrays, i: int, w: Vector) -> int:
    """Merge the two lightest planes into ``Σ a (g, L) / Σ a`` and return the freed place; w follows rounding."""
    G, L, a = planes.G, planes.L, planes.a
    first, second = 0, 1
    if a[i, 1] < a[i, 0]:
        first, second = 1, 0
    for p in range(2, L.shape[1]):
        if a[i, p] < a[i, first]:
            first, second = p, first
        elif a[i, p] < a[i, second]:
            second = p
    total = a[i, first] + a[i, second]
    share = a[i, first] / total
    g = np.empty(len(w))
    for k in range(len(g)):
        g[k] = G[i, second, k]
        g[k] += share * (G[i, first, k] - g[k])
    error = 0.0
    if may_be_rounded(planes):
        error = planes.error[i, second] + share * (planes.error[i, first] - planes.error[i, second])
    write_plane(planes, i, second, g, error)
    for k in range(len(g)):
        w[k] += total * (G[i, second, k] - g[k])
    L[i, second] += share * (L[i, first] - L[i, second])
    a[i, second] = total
    write_gram(planes, i, second)
    return first


@inlined_part
def rounded_before(planes: PlaneArrays, i: int, g: Vector, L: float) -> int:
    """Return the place of a stored plane that may be (g, L) after rounding; −1 if none may, or if ``G`` is float32."""
    G, error = planes.G, planes.error
    if G.itemsize == 4 or not may_be_rounded(planes):
        return -1
    for p in range(planes.used[i]):
        if error[i, p] > 0.0 and planes.L[i, p] == L:
            distance, farthest = 0.0, 1.001 * error[i, p]
            for k in range(len(g)):
                difference = g[k] - G[i, p, k]
                distance += difference * difference
            if distance <= farthest * farthest:
                return p
    return -1


@compiled_part
def insert(planes: PlaneArrays, i: int, g: Vector, L: float, error: float, w: Vector) -> int:
    """Store a plane without weight and return its place.

    If no place is free, it replaces the plane that has been without weight longest, or two with weight are merged. If a
    rounded form is stored, the plane replaces it, keeps its weight, and w follows.
    """
    G, a, age = planes.G, planes.a, planes.age
    places, used = planes.L.shape[1], planes.used[i]
    earlier = place = rounded_before(planes, i, g, L)
    if earlier >= 0:
        for k in range(len(g)):
            w[k] += a[i, earlier] * (g[k] - G[i, earlier, k])
    elif used < places:
        place = used
        planes.used[i] = used + 1
    else:
        for p in range(places):
            if a[i, p] == 0.0 and (place < 0 or age[i, p] > age[i, place]):
                place = p
        if place < 0:
            place = merge_lightest(planes, i, w)
    write_plane(planes, i, place, g, error)
    if earlier < 0:
        planes.L[i, place] = L
        a[i, place] = 0.0
        age[i, place] = 0.0
    write_gram(planes, i, place)
    return place


@compiled_part
def swap(planes: PlaneArrays, i: int, p: int, q: int) -> None:
    """Swap two planes of an example."""
    swap_rows(planes.G[i], p, q)
    swap_rows(planes.gram[i], p, q)
    for r in range(planes.used[i]):
        swap_numbers(planes.gram[i, r], p, q)
    swap_numbers(planes.L[i], p, q)
    swap_numbers(planes.a[i], p, q)
    swap_numbers(planes.age[i], p, q)
    if may_be_rounded(planes):
        swap_numbers(planes.error[i], p, q)


@inlined_part
def swap_rows(matrix: Any, p: int, q: int) -> None:
    """Swap two rows of a matrix."""
    for k in range(matrix.shape[1]):
        matrix[p, k], matrix[q, k] = matrix[q, k], matrix[p, k]


@inlined_part
def swap_numbers(vector: Vector, p: int, q: int) -> None:
    """Swap two elements of a vector."""
    vector[p], vector[q] = vector[q], vector[p]
