"""Exhaustive search for the step along a direction with the largest mean AP, an integer in units of 2^-62."""

from typing import NamedTuple, Self

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.memory import require_memory
from structsvm.foundation.types import IntVector, Vector

EQUAL = 1 << 16
"""Rounding error of a mean, in units of 2^-62 (1.4e-14); means that differ by no more count as equal."""

ONE = 2.0**62
"""A mean of 1, in units of 2^-62."""

NO_TIES = 1 << 62
"""The correction of a query without ties."""

_BYTES_A_CROSSING = 40
"""Step, code, sorted copies of both, and the order."""


class Kinds(NamedTuple):
    """Ascending rows of relevant and other documents, and the ``gain``, shape (Q,), of precision 1, in 2^-62."""

    relevant: IntVector
    other: IntVector
    relevant_ptr: IntVector
    other_ptr: IntVector
    query: IntVector
    gain: Vector


class Lines(NamedTuple):
    """Heights and slopes of the relevant and of the other documents, in the order of `Kinds`."""

    height: Vector
    slope: Vector
    other_height: Vector
    other_slope: Vector


class Ranks(NamedTuple):
    """The ranking of a region.

    ``ahead`` is the number of others ahead of each relevant document, and ``within`` how many of these numbers are at
    most 0, ..., N. Documents on one line tie: the first relevant document of each has the numbers of ``mates``
    (relevant) and ``rivals`` (others) on its line, all other documents 0. ``correction`` is the effect of ties on the
    mean, for each query; `NO_TIES` without ties.
    """

    ahead: IntVector
    within: IntVector
    mates: IntVector
    rivals: IntVector
    correction: IntVector


@compiled
def step_of_crossing(height: float, slope: float, other_height: float, other_slope: float) -> float:
    """Return the step at which two lines cross; not finite if they are parallel to rounding."""
    difference = slope - other_slope
    if difference == 0.0:
        return np.inf
    return (other_height - height) / difference


@compiled
def rank_leftmost(kinds: Kinds, lines: Lines, ranks: Ranks) -> tuple[int, int]:
    """Write the ranking before the first crossing; return the number of crossings and the mean over orders of ties."""
    crossings = 0
    total = 0
    for q in range(len(kinds.gain)):
        first, last = kinds.other_ptr[q], kinds.other_ptr[q + 1]
        within = ranks.within[first + q : last + q + 1]
        within[:] = 0
        tied = False
        for k in range(kinds.relevant_ptr[q], kinds.relevant_ptr[q + 1]):
            height, slope = lines.height[k], lines.slope[k]
            ahead = rivals = 0
            for j in range(first, last):
                if np.isfinite(step_of_crossing(height, slope, lines.other_height[j], lines.other_slope[j])):
                    crossings += 1
                    if lines.other_slope[j] < slope:
                        ahead += 1
                elif lines.other_height[j] > height:
                    ahead += 1
                elif lines.other_height[j] == height:
                    rivals += 1
            ranks.ahead[k] = ahead
            within[ahead] += 1
            ranks.mates[k] = ranks.rivals[k] = 0
            if rivals > 0:
                tied = True
                leader = kinds.relevant_ptr[q]
                while lines.height[leader] != height or lines.slope[leader] != slope:
                    leader += 1
                ranks.mates[leader] += 1
                ranks.rivals[leader] = rivals
        m = 0
        for c in range(len(within)):
            for _ in range(within[c]):
                m += 1
                total += precision(kinds.gain[q], m, c)
            within[c] = m
        ranks.correction[q] = NO_TIES
        if tied:
            ranks.correction[q] = effect_of_ties(kinds, ranks, q)
            total += ranks.correction[q]
    return crossings, total


@compiled
def effect_of_ties(kinds: Kinds, ranks: Ranks, q: int) -> int:
    """Return the mean over the orders of ties (McSherry and Najork) minus the mean with tied others behind."""
    effect = 0.0
    for k in range(kinds.relevant_ptr[q], kinds.relevant_ptr[q + 1]):
        mates, rivals = ranks.mates[k], ranks.rivals[k]
        if rivals > 0:
            ahead, size = ranks.ahead[k], mates + rivals
            # Relevant documents with as few others ahead are above this line, because they are not below its others.
            above = ranks.within[kinds.other_ptr[q] + q + ahead] - mates
            for i in range(size):
                effect += mates / size * (above + 1 + i * (mates - 1) / (size - 1)) / (above + ahead + 1 + i)
            for m in range(above + 1, above + mates + 1):
                effect -= m / (m + ahead)
    return int(kinds.gain[q] * effect)


@compiled
def precision(gain: float, m: int, ahead: int) -> int:
    """Return the m-th relevant document's term of the mean, given the number of other documents ahead of it."""
    return int(gain * (m / (m + ahead)))


@compiled
def change_places(kinds: Kinds, ranks: Ranks, code: int) -> int:
    """Swap relevant document k with one that passes it (``code`` k + 1) or not (−k − 1); return the mean's change."""
    k = abs(code) - 1
    q = kinds.query[k]
    gain, first, ahead = kinds.gain[q], kinds.other_ptr[q] + q, ranks.ahead[k]
    if code > 0:
        m = ranks.within[first + ahead]
        ranks.within[first + ahead] = m - 1
        ranks.ahead[k] = ahead + 1
        return precision(gain, m, ahead + 1) - precision(gain, m, ahead)
    m = ranks.within[first + ahead - 1] + 1
    ranks.within[first + ahead - 1] = m
    ranks.ahead[k] = ahead - 1
    return precision(gain, m, ahead - 1) - precision(gain, m, ahead)


@compiled
def write_crossings(kinds: Kinds, lines: Lines, steps: Vector, codes: NDArray[np.int32]) -> None:
    """Write the step of each crossing, and its code as in `change_places`."""
    written = 0
    for q in range(len(kinds.gain)):
        for k in range(kinds.relevant_ptr[q], kinds.relevant_ptr[q + 1]):
            height, slope = lines.height[k], lines.slope[k]
            for j in range(kinds.other_ptr[q], kinds.other_ptr[q + 1]):
                step = step_of_crossing(height, slope, lines.other_height[j], lines.other_slope[j])
                if np.isfinite(step):
                    steps[written] = step
                    codes[written] = k + 1 if lines.other_slope[j] > slope else -(k + 1)
                    written += 1


class Best(NamedTuple):
    """The best region of steps yet, from ``low`` to ``high``; ``value`` is its mean in 2^-62, below 0 without one."""

    low: float
    high: float
    distance: float
    value: int
    top: int

    @property
    def step(self) -> float:
        """A step inside the region; see `step_inside`."""
        return float(step_inside(self.low, self.high))

    @property
    def width(self) -> float:
        """The relative width of the region; see `width`."""
        return float(width(self.low, self.high))


@compiled
def step_inside(low: float, high: float) -> float:
    """Return the midpoint of a region; 0 for the whole line, and ``max(1, |e|)`` beyond a single end e."""
    if low == -np.inf and high == np.inf:
        return 0.0
    if low == -np.inf:
        return high - max(1.0, abs(high))
    if high == np.inf:
        return low + max(1.0, abs(low))
    return 0.5 * low + 0.5 * high


@compiled
def width(low: float, high: float) -> float:
    """Return the width of a region over ``max(1, |step|)``; with one end, twice the distance of the step from it."""
    step = step_inside(low, high)
    return 2.0 * min(step - low, high - step) / max(1.0, abs(step))


@compiled
def better(best: Best, low: float, high: float, value: int, narrowest: float) -> Best:
    """Return the better of the best region and a region to its right; of equal regions, the nearer one to step 0."""
    if not low < step_inside(low, high) < high or not width(low, high) > narrowest:
        return best
    top = max(best.top, value)
    distance = max(low, -high, 0.0)
    if best.value < top - EQUAL or (value >= top - EQUAL and distance <= best.distance):
        return Best(low, high, distance, value, top)
    return Best(best.low, best.high, best.distance, best.value, top)


@compiled
def sweep(
    kinds: Kinds, ranks: Ranks, steps: Vector, codes: NDArray[np.int32], value: int, best: Best, narrowest: float
) -> Best:
    """Pass sorted crossings from the leftmost region of mean ``value``; return the best region above ``narrowest``."""
    last = -np.inf
    i = 0
    while i < len(steps):
        step = steps[i]
        if value >= best.top - EQUAL:
            best = better(best, last, step, value, narrowest)
        first = i
        while i < len(steps) and steps[i] == step:
            value += change_places(kinds, ranks, codes[i])
            i += 1
        for code in codes[first:i]:
            q = kinds.query[abs(code) - 1]
            if ranks.correction[q] != NO_TIES:
                effect = effect_of_ties(kinds, ranks, q)
                value += effect - ranks.correction[q]
                ranks.correction[q] = effect
        last = step
    return better(best, last, np.inf, value, narrowest)


@frozen(eq=False, repr=False)
class ExhaustiveSearch:
    """The search along a line: sort the crossings of all queries, then sweep them at O(1) each."""

    kinds: Kinds

    @classmethod
    def of(cls, relevant: NDArray[np.bool_], ptr: IntVector, weights: Vector) -> Self:
        """Build a search from labeled rows, without queries of weight 0 or of one kind of documents."""
        size = np.diff(ptr)
        number = np.repeat(np.arange(len(size)), size)
        R = np.bincount(number, relevant, len(size)).astype(np.int64)
        used = (R > 0) & (size > R) & (weights > 0.0)
        rows = np.arange(len(relevant))
        mine = used[number]
        R, N = R[used], (size - R)[used]
        kinds = Kinds(
            relevant=rows[mine & relevant],
            other=rows[mine & ~relevant],
            relevant_ptr=np.concatenate([[0], np.cumsum(R)]),
            other_ptr=np.concatenate([[0], np.cumsum(N)]),
            query=np.repeat(np.arange(len(R)), R),
            gain=ONE * weights[used] / R,
        )
        return cls(kinds)

    def value(self, scores: Vector) -> int:
        """Return the mean at these scores, over the orders of equal ones, in units of 2^-62."""
        return rank_leftmost(self.kinds, self._lines(scores, np.zeros(len(scores))), self._ranks())[1]

    def best(self, heights: Vector, slopes: Vector, *, narrowest: float = 0.0) -> Best | None:
        """Return the best region wider than ``narrowest``, if any; of equals the nearest to 0, then the positive."""
        kinds, lines, ranks = self.kinds, self._lines(heights, slopes), self._ranks()
        crossings, value = rank_leftmost(kinds, lines, ranks)
        require_memory(_BYTES_A_CROSSING * crossings, f"{crossings:,} crossings of scores", "search fewer queries")
        steps, codes = np.empty(crossings), np.empty(crossings, dtype=np.int32)
        write_crossings(kinds, lines, steps, codes)
        order = np.argsort(steps)
        none = Best(-np.inf, np.inf, np.inf, -1 << 62, 0)
        best: Best = sweep(kinds, ranks, steps[order], codes[order], value, none, narrowest)
        return None if best.value < 0 else best

    def _lines(self, heights: Vector, slopes: Vector) -> Lines:
        relevant, other = self.kinds.relevant, self.kinds.other
        return Lines(heights[relevant], slopes[relevant], heights[other], slopes[other])

    def _ranks(self) -> Ranks:
        kinds = self.kinds
        return Ranks(
            np.empty(len(kinds.relevant), dtype=np.int64),
            np.empty(len(kinds.other) + len(kinds.gain), dtype=np.int64),
            np.empty(len(kinds.relevant), dtype=np.int64),
            np.empty(len(kinds.relevant), dtype=np.int64),
            np.empty(len(kinds.gain), dtype=np.int64),
        )
