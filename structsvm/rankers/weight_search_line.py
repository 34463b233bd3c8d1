"""Exhaustive search for the step along a direction with the largest mean average precision.

At step t, a document scores ``height + t · slope``. A relevant document and another document of its query change
places at the crossing of their lines. No other crossing changes average precision, which is
``(1/R) Σ_m m / (m + a_(m))``; ``a_(m)`` is the m-th smallest number of other documents ahead of a relevant one.
The mean over queries is an integer in units of 2^-62, so that it depends on the ranking only.
"""

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.types import IntVector, Vector

EQUAL = 1 << 16
"""Rounding error of a mean, in units of 2^-62 (1.4e-14); means that differ by no more count as equal."""

ONE = 2.0**62
"""A mean of 1, in units of 2^-62."""

_BYTES_A_CROSSING = 24
_SAMPLE = 4096


class Kinds(NamedTuple):
    """The relevant and the other documents, as ascending rows, query by query.

    ``relevant_ptr`` and ``other_ptr``, shape (Q + 1,), have the start of each query, and ``query`` the query of each
    relevant document. ``gain``, shape (Q,), is the mean's gain from a relevant document at precision 1, in 2^-62.
    """

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
    """A ranking of each query, as far as average precision depends on it; changed in place.

    ``ahead`` is the number of other documents ahead of each relevant one. ``within`` has, from ``other_ptr[q] + q``,
    the number of relevant documents of query q with at most c = 0, 1, ..., N others ahead.
    """

    ahead: IntVector
    within: IntVector


@compiled
def step_of_crossing(height: float, slope: float, other_height: float, other_slope: float) -> float:
    """Return the step at which two lines cross; not finite if they are parallel to rounding."""
    difference = slope - other_slope
    if difference == 0.0:
        return np.inf
    return (other_height - height) / difference


@compiled
def rank_leftmost(kinds: Kinds, lines: Lines, ranks: Ranks) -> tuple[int, int]:
    """Write the ranking before the first crossing, ties in row order; return the number of crossings and the mean."""
    crossings = 0
    total = 0
    for q in range(len(kinds.gain)):
        first, last = kinds.other_ptr[q], kinds.other_ptr[q + 1]
        within = ranks.within[first + q : last + q + 1]
        within[:] = 0
        for k in range(kinds.relevant_ptr[q], kinds.relevant_ptr[q + 1]):
            height, slope, row = lines.height[k], lines.slope[k], kinds.relevant[k]
            ahead = 0
            for j in range(first, last):
                if np.isfinite(step_of_crossing(height, slope, lines.other_height[j], lines.other_slope[j])):
                    crossings += 1
                    if lines.other_slope[j] < slope:
                        ahead += 1
                elif lines.other_height[j] > height or (lines.other_height[j] == height and kinds.other[j] < row):
                    ahead += 1
            ranks.ahead[k] = ahead
            within[ahead] += 1
        m = 0
        for c in range(len(within)):
            for _ in range(within[c]):
                m += 1
                total += precision(kinds.gain[q], m, c)
            within[c] = m
    return crossings, total


@compiled
def precision(gain: float, m: int, ahead: int) -> int:
    """Return the m-th relevant document's term of the mean, given the number of other documents ahead of it."""
    return int(gain * (m / (m + ahead)))


@compiled
def change_places(kinds: Kinds, ranks: Ranks, code: int) -> int:
    """Swap a relevant document with another document, update the ranks, and return the change of the mean.

    ``code`` is k + 1 if the other document passes the k-th relevant one, and −(k + 1) if it falls behind. Only one term
    of the sum changes, because relevant documents with equally many others ahead are interchangeable.
    """
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
def crossings_between(
    kinds: Kinds, lines: Lines, low: float, high: float, stride: int, steps: Vector, codes: NDArray[np.int32]
) -> tuple[int, int]:
    """Write each ``stride``-th crossing between two steps; return the number of crossings and the number written.

    ``steps`` and ``codes`` are overwritten as far as there is room; for codes see `change_places`.
    """
    count, written, following = 0, 0, 0
    for q in range(len(kinds.gain)):
        for k in range(kinds.relevant_ptr[q], kinds.relevant_ptr[q + 1]):
            height, slope = lines.height[k], lines.slope[k]
            for j in range(kinds.other_ptr[q], kinds.other_ptr[q + 1]):
                step = step_of_crossing(height, slope, lines.other_height[j], lines.other_slope[j])
                if low < step < high:
                    if count == following and written < len(steps):
                        steps[written] = step
                        codes[written] = k + 1 if lines.other_slope[j] > slope else -(k + 1)
                        written += 1
                        following += stride
                    count += 1
    return count, written


@compiled
def cross_at(kinds: Kinds, lines: Lines, ranks: Ranks, at: float) -> int:
    """Swap all documents whose lines cross at a step; return the change of the mean."""
    change = 0
    for q in range(len(kinds.gain)):
        for k in range(kinds.relevant_ptr[q], kinds.relevant_ptr[q + 1]):
            height, slope = lines.height[k], lines.slope[k]
            for j in range(kinds.other_ptr[q], kinds.other_ptr[q + 1]):
                if step_of_crossing(height, slope, lines.other_height[j], lines.other_slope[j]) == at:
                    change += change_places(kinds, ranks, k + 1 if lines.other_slope[j] > slope else -(k + 1))
    return change


class Best(NamedTuple):
    """The best region so far, open at ``low`` and ``high``.

    ``distance`` is from step 0 to the region. ``value`` is the mean inside, below 0 before there is a region; ``top``
    is the largest mean of any region.
    """

    low: float
    high: float
    distance: float
    value: int
    top: int


class Rules(NamedTuple):
    """Conditions on a step: regions of at most ``narrowest`` width are skipped; for ``offset`` see `step_inside`."""

    narrowest: float
    offset: float


@compiled
def step_inside(low: float, high: float, offset: float) -> float:
    """Return the midpoint of a region; 0 for the whole line, and ``offset · max(1, |e|)`` beyond a single end e."""
    if low == -np.inf and high == np.inf:
        return 0.0
    if low == -np.inf:
        return high - offset * max(1.0, abs(high))
    if high == np.inf:
        return low + offset * max(1.0, abs(low))
    return 0.5 * low + 0.5 * high


@compiled
def width(low: float, high: float, offset: float) -> float:
    """Return the width of a region over ``max(1, |step|)``; with one end, twice the distance of the step from it."""
    step = step_inside(low, high, offset)
    return 2.0 * min(step - low, high - step) / max(1.0, abs(step))


@compiled
def better(best: Best, low: float, high: float, value: int, rules: Rules) -> Best:
    """Return the better of the best region and a region to its right; of equal regions, the nearer one to step 0."""
    step = step_inside(low, high, rules.offset)
    if not low < step < high or not width(low, high, rules.offset) > rules.narrowest:
        return best
    top = max(best.top, value)
    distance = max(low, -high, 0.0)
    if best.value < top - EQUAL or (value >= top - EQUAL and distance <= best.distance):
        return Best(low, high, distance, value, top)
    return Best(best.low, best.high, best.distance, best.value, top)


@compiled
def sweep(
    kinds: Kinds,
    ranks: Ranks,
    steps: Vector,
    codes: NDArray[np.int32],
    last: float,
    value: int,
    best: Best,
    rules: Rules,
) -> tuple[float, int, Best]:
    """Pass sorted crossings from left to right, those at the same step together.

    ``last`` is the start of the first region, and ``value`` its mean. Return both after the last crossing, and
    the best of the regions before it.
    """
    i = 0
    while i < len(steps):
        step = steps[i]
        if value >= best.top - EQUAL:
            best = better(best, last, step, value, rules)
        while i < len(steps) and steps[i] == step:
            value += change_places(kinds, ranks, codes[i])
            i += 1
        last = step
    return last, value, best


@frozen
class Region:
    """Steps strictly between two neighbouring crossings, where no ranking changes; the ends may be infinite.

    ``step`` and ``width`` are from `step_inside` and `width`; ``value`` is the mean average precision in 2^-62.
    """

    low: float
    high: float
    step: float
    value: int
    width: float


@frozen(eq=False, repr=False)
class ExhaustiveSearch:
    """Find the step with the largest mean average precision (Morgan, Greiff and Henderson, HLT-NAACL 2004).

    The search sorts the crossings of all queries, R · N per query, and sweeps them from left to right at O(1) each. If
    the crossings need more than ``memory`` bytes, it searches the line in pieces.
    """

    kinds: Kinds
    memory: int = field(default=256 * 2**20)

    @classmethod
    def of(cls, relevant: NDArray[np.bool_], ptr: IntVector, weights: Vector, memory: int = 256 * 2**20) -> Self:
        """Build a search from labelled rows, without queries of weight 0 or of one kind of documents.

        ``ptr``, shape (Q + 1,), has the start of each query; ``weights``, shape (Q,), sum to at most 1.
        """
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
        return cls(kinds, memory)

    def value(self, scores: Vector) -> int:
        """Return the mean at these scores, in units of 2^-62; equal scores keep the order of the rows."""
        return rank_leftmost(self.kinds, self._lines(scores, np.zeros(len(scores))), self._ranks())[1]

    def best(self, heights: Vector, slopes: Vector, *, offset: float = 1.0, narrowest: float = 0.0) -> Region | None:
        """Return the region of the largest mean, or None if no region is wider than ``narrowest``.

        Of equal means (to 1.4e-14) the region nearest to step 0 wins, then positive steps win. ``heights`` are
        the scores at step 0, ``slopes`` their change per step of 1, shape (rows,). For ``offset`` see `step_inside`.
        """
        kinds, lines, ranks, rules = self.kinds, self._lines(heights, slopes), self._ranks(), Rules(narrowest, offset)
        crossings, value = rank_leftmost(kinds, lines, ranks)
        best, last = Best(-np.inf, np.inf, np.inf, -1 << 62, 0), -np.inf
        for high, steps, codes in self._pieces(lines, crossings):
            order = np.argsort(steps)
            last, value, best = sweep(kinds, ranks, steps[order], codes[order], last, value, best, rules)
            best = better(best, last, high, value, rules)
            value += cross_at(kinds, lines, ranks, high) if high < np.inf else 0
            last = high
        if best.value < 0:
            return None
        ends = best.low, best.high
        return Region(*ends, step_inside(*ends, offset), best.value, width(*ends, offset))

    def _lines(self, heights: Vector, slopes: Vector) -> Lines:
        relevant, other = self.kinds.relevant, self.kinds.other
        return Lines(heights[relevant], slopes[relevant], heights[other], slopes[other])

    def _ranks(self) -> Ranks:
        kinds = self.kinds
        return Ranks(
            np.empty(len(kinds.relevant), dtype=np.int64),
            np.empty(len(kinds.other) + len(kinds.gain), dtype=np.int64),
        )

    def _pieces(self, lines: Lines, crossings: int) -> Iterator[tuple[float, Vector, NDArray[np.int32]]]:
        """Yield pieces of the line from left to right: the end, and the steps and codes of the crossings inside."""
        room = min(crossings, max(1, self.memory // _BYTES_A_CROSSING))
        steps, codes = np.empty(room), np.empty(room, dtype=np.int32)
        pieces = [(-np.inf, np.inf)]
        while pieces:
            low, high = pieces.pop()
            count, _ = crossings_between(self.kinds, lines, low, high, 1, steps, codes)
            if count <= room:
                yield high, steps[:count], codes[:count]
                continue
            sample = np.empty(min(count, _SAMPLE))
            stride, ignored = max(1, count // _SAMPLE), np.empty(len(sample), dtype=np.int32)
            _, taken = crossings_between(self.kinds, lines, low, high, stride, sample, ignored)
            parts = 1 + 5 * count // (4 * room)
            cuts = np.unique(np.sort(sample[:taken])[np.arange(1, parts) * taken // parts]).tolist()
            pieces += reversed(list(zip([low, *cuts], [*cuts, high], strict=True)))
