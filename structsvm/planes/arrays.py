"""The planes that are kept of each example, and how one more finds a place among them."""

from typing import Any, NamedTuple

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.types import IntVector, Matrix, Vector


class PlaneArrays(NamedTuple):
    """Planes of n examples, P places each.

    ``G`` (n, P, d), float64 or float32, and ``L`` (n, P) are the planes in weight space, ``error``
    (n, P) how far, at most, each ``G`` is from the plane that it was rounded from, or (n, 0) where
    none was, so that exact planes pay nothing for errors, ``a`` (n, P) their multipliers, ``gram``
    (n, P, P) their inner products, ``age`` (n, P) visits since a place last had weight, ``used``
    (n,) how many places are taken, ``live`` (n,) how many of them hold the planes of small age,
    which come first, ``cap`` (n,) the caps.
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
        product += G[i, p, k] * w[k]
    return product


product = compiled(_product, reorder=True)
"""``(G, i, p, w)``: ``g·w`` of plane p of example i in float64, where g may be float32. BLAS is slower for so few."""


def _add_plane(G: Any, i: int, p: int, amount: float, w: Vector) -> None:
    for k in range(len(w)):
        w[k] += amount * G[i, p, k]


add_plane = compiled(_add_plane, reorder=True)
"""``(G, i, p, amount, w)``: add a multiple of plane p of example i to w."""


@compiled
def may_be_rounded(planes: PlaneArrays) -> bool:
    """Say whether planes have errors."""
    return bool(planes.error.shape[1] > 0)


@compiled
def write_plane(planes: PlaneArrays, i: int, place: int, g: Vector, error: float) -> None:
    """Write a plane, which is known within an error already, in the digits that planes are kept in."""
    if not may_be_rounded(planes):
        for k in range(len(g)):
            planes.G[i, place, k] = g[k]
        return
    largest = np.finfo(planes.G.dtype).max
    lost = 0.0
    for k in range(len(g)):
        planes.G[i, place, k] = min(max(g[k], -largest), largest)
        rest = g[k] - planes.G[i, place, k]
        lost += rest * rest
    planes.error[i, place] = error + np.sqrt(lost)


@compiled
def write_gram(planes: PlaneArrays, i: int, place: int) -> None:
    """Write the inner products of one plane with all of its example."""
    g = planes.G[i, place].astype(np.float64)
    for p in range(planes.used[i]):
        inner = product(planes.G, i, p, g)
        planes.gram[i, place, p] = inner
        planes.gram[i, p, place] = inner


@compiled
def merge_lightest(planes: PlaneArrays, i: int, w: Vector) -> int:
    """Merge the two planes of least weight into ``Σ a (g, L) / Σ a`` and return the place that this frees.

    Where the merged plane is rounded, w follows.
    """
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
    g = planes.G[i, second].astype(np.float64)
    for k in range(len(g)):
        g[k] += share * (planes.G[i, first, k] - g[k])
    error = 0.0
    if may_be_rounded(planes):
        error = planes.error[i, second] + share * (planes.error[i, first] - planes.error[i, second])
    write_plane(planes, i, second, g, error)
    for k in range(len(g)):
        w[k] += total * (planes.G[i, second, k] - g[k])
    planes.L[i, second] += share * (planes.L[i, first] - planes.L[i, second])
    planes.a[i, second] = total
    write_gram(planes, i, second)
    return first


@compiled
def rounded_before(planes: PlaneArrays, i: int, g: Vector, L: float) -> int:
    """Return the place of a plane that may be this one, rounded; −1 where there is none, or none would be exact."""
    if planes.G.itemsize == 4 or not may_be_rounded(planes):
        return -1
    for p in range(planes.used[i]):
        if planes.error[i, p] > 0.0 and planes.L[i, p] == L:
            distance = 0.0
            for k in range(len(g)):
                distance += (g[k] - planes.G[i, p, k]) ** 2
            if distance <= (1.001 * planes.error[i, p]) ** 2:
                return p
    return -1


@compiled
def insert(planes: PlaneArrays, i: int, g: Vector, L: float, error: float, w: Vector) -> int:
    """Keep one more plane of an example, without weight; return its place.

    Where all places are taken, it replaces the plane that has been without weight longest;
    where all have weight, two of them are merged. Where it is kept already, but rounded, it takes over the place and
    the weight, and w follows.
    """
    places = planes.L.shape[1]
    known = rounded_before(planes, i, g, L)
    if known >= 0:
        for k in range(len(g)):
            w[k] += planes.a[i, known] * (g[k] - planes.G[i, known, k])
        write_plane(planes, i, known, g, error)
        write_gram(planes, i, known)
        return known
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
            place = merge_lightest(planes, i, w)
    write_plane(planes, i, place, g, error)
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
    if may_be_rounded(planes):
        planes.error[i, p], planes.error[i, q] = planes.error[i, q], planes.error[i, p]
    planes.a[i, p], planes.a[i, q] = planes.a[i, q], planes.a[i, p]
    planes.age[i, p], planes.age[i, q] = planes.age[i, q], planes.age[i, p]
    for r in range(planes.used[i]):
        planes.gram[i, p, r], planes.gram[i, q, r] = planes.gram[i, q, r], planes.gram[i, p, r]
    for r in range(planes.used[i]):
        planes.gram[i, r, p], planes.gram[i, r, q] = planes.gram[i, r, q], planes.gram[i, r, p]
