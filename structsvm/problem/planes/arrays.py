"""Storage of each example's planes, and insertion of new ones."""

from typing import Any, NamedTuple

from structsvm.foundation.compute.compilation import compiled_part, inlined_part
from structsvm.foundation.types import IntVector, Matrix, Vector


class PlaneArrays(NamedTuple):
    """Planes of n examples, P places each.

    ``G`` (n, P, d) and ``L`` (n, P) are the planes in weight space. ``a`` (n, P) are the multipliers and ``gram`` (n,
    P, P) the inner products. ``age`` (n, P) counts visits since a plane last had weight.
    ``used`` (n,) are the places taken, ``live`` (n,) the planes of small age, which come first, and ``cap`` (n,) the
    caps.
    """

    G: Matrix
    L: Matrix
    a: Matrix
    gram: Matrix
    age: Matrix
    used: IntVector
    live: IntVector
    cap: Vector


def _product(G: Any, i: int, p: int, w: Vector) -> float:
    product = 0.0
    for k in range(len(w)):
        product += G[i, p, k] * w[k]
    return product


product = compiled_part(_product, reorder=True)
"""``product(G, i, p, w)``: ``g·w`` of plane p of example i; faster than BLAS."""


def _add_plane(G: Any, i: int, p: int, amount: float, w: Vector) -> None:
    for k in range(len(w)):
        w[k] += amount * G[i, p, k]


add_plane = compiled_part(_add_plane, reorder=True)
"""``add_plane(G, i, p, amount, w)``: add a multiple of plane p of example i to w."""


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
def merge_lightest(planes: PlaneArrays, i: int) -> int:
    """Merge the two lightest planes into ``Σ a (g, L) / Σ a`` and return the freed place."""
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
    for k in range(G.shape[2]):
        G[i, second, k] += share * (G[i, first, k] - G[i, second, k])
    L[i, second] += share * (L[i, first] - L[i, second])
    a[i, second] = total
    write_gram(planes, i, second)
    return first


@compiled_part
def insert(planes: PlaneArrays, i: int, g: Vector, L: float) -> int:
    """Store a plane without weight and return its place.

    If no place is free, it replaces the plane that has been without weight longest, or two with weight are merged.
    """
    G, a, age = planes.G, planes.a, planes.age
    places, used = planes.L.shape[1], planes.used[i]
    place = -1
    if used < places:
        place = used
        planes.used[i] = used + 1
    else:
        for p in range(places):
            if a[i, p] == 0.0 and (place < 0 or age[i, p] > age[i, place]):
                place = p
        if place < 0:
            place = merge_lightest(planes, i)
    for k in range(len(g)):
        G[i, place, k] = g[k]
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


@inlined_part
def swap_rows(matrix: Any, p: int, q: int) -> None:
    """Swap two rows of a matrix."""
    for k in range(matrix.shape[1]):
        matrix[p, k], matrix[q, k] = matrix[q, k], matrix[p, k]


@inlined_part
def swap_numbers(vector: Vector, p: int, q: int) -> None:
    """Swap two elements of a vector."""
    vector[p], vector[q] = vector[q], vector[p]
