"""Arrays of the codes of all examples, and compiled functions that read them."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from structsvm.foundation.compute.compilation import compiled, inlined_part
from structsvm.foundation.types import IntVector, Matrix, Vector

FEWEST_PLACES = 4

EARLIER = 3
"""Number of earlier points from which steps are extrapolated."""

PLACE = np.dtype([("start", np.int64), ("length", np.int32), ("age", np.int32), ("L", np.float64), ("a", np.float64)])
"""A code's first entry, number of entries, visits since it had weight, loss and multiplier, side by side in memory."""


class CodeArrays(NamedTuple):
    """Codes of n examples, P places each.

    A code in ``places`` (n, P) has the coefficients ``entry[start:]`` of the scores ``where[start:]``, as many as its
    ``length``; shared scores follow the example's own. ``earlier`` (n, P, 3) has the multipliers at earlier points.
    ``used`` (n,) are the places taken, and ``cap`` (n,) the caps.
    """

    places: Any
    earlier: Any
    where: NDArray[np.uint32]
    entry: Vector
    used: IntVector
    cap: Vector

    @classmethod
    def of(cls, cap: Vector, entries: int = 0) -> Self:
        """Make arrays without codes."""
        n = len(cap)
        where, entry = np.zeros(entries, dtype=np.uint32), np.zeros(entries)
        places, earlier = np.zeros((n, FEWEST_PLACES), dtype=PLACE), np.zeros((n, FEWEST_PLACES, EARLIER))
        return cls(places, earlier, where, entry, np.zeros(n, dtype=np.int64), cap)

    def with_more_places(self) -> Self:
        """Return the codes with twice as many places for each example."""
        places, earlier = (np.concatenate((part, np.zeros_like(part)), axis=1) for part in (self.places, self.earlier))
        return self._replace(places=places, earlier=earlier)


@inlined_part
def value_at(place: Any, where: Any, entry: Vector, scores: Vector) -> float:
    """Return ``L − c·s``."""
    value = place.L
    # Unsigned indices are not checked for their sign.
    for e in range(np.uint64(place.start), np.uint64(place.start + place.length)):
        value -= entry[e] * scores[where[e]]
    return float(value)


@inlined_part
def free_place(places: Any, used: int) -> int:
    """Return a free place, or the place of the code that has been without weight longest; −1 if all have weight."""
    if used < len(places):
        return used
    free = -1
    for p in range(used):
        if places[p].a == 0.0 and (free < 0 or places[p].age > places[free].age):
            free = p
    return free


@inlined_part
def _score(k: int, i: int, ptr: IntVector) -> int:
    """Return the place of score k of an example among all scores; shared scores are the last."""
    separate = ptr[i + 1] - ptr[i]
    return int(ptr[i] + k if k < separate else ptr[-1] + k - separate)


@compiled
def combined(codes: CodeArrays, factors: Matrix, ptr: IntVector, out: Vector) -> None:
    """Write ``Σ f c`` for all scores, with a factor f for each code, shape (n, P)."""
    for i in range(len(codes.cap)):
        for p in range(codes.used[i]):
            place = codes.places[i, p]
            if factors[i, p] != 0.0:
                for e in range(place.start, place.start + place.length):
                    out[_score(codes.where[e], i, ptr)] += factors[i, p] * codes.entry[e]


@compiled
def held_by_examples(codes: CodeArrays, ptr: IntVector, scores: Vector, out: Vector) -> None:
    """Write ``Σ_p a_p (L_p − c_p·s)`` of each example."""
    for i in range(len(codes.cap)):
        held = 0.0
        for p in range(codes.used[i]):
            place = codes.places[i, p]
            if place.a > 0.0:
                value = place.L
                for e in range(place.start, place.start + place.length):
                    value -= codes.entry[e] * scores[_score(codes.where[e], i, ptr)]
                held += place.a * value
        out[i] = held


@compiled
def compacted(codes: CodeArrays, where: Any, entry: Vector) -> int:
    """Copy the entries of all codes, one after the other, and return their number."""
    end = 0
    for i in range(len(codes.cap)):
        for p in range(codes.used[i]):
            place = codes.places[i, p]
            first, place.start = place.start, end
            for e in range(first, first + place.length):
                where[end], entry[end] = codes.where[e], codes.entry[e]
                end += 1
    return end
