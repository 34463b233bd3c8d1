"""The step along a direction with the largest mean average precision, by exhaustive search of all regions."""

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled
from structsvm.rankers.weight_search_crossings import (
    Kinds,
    Lines,
    Ranks,
    change_places,
    cross_at,
    crossings_between,
    rank_leftmost,
    sample_between,
    sorted_by_step,
)
from structsvm.types import IntVector, Vector

EQUAL = 1 << 16
"""Means that differ by no more, in units of 2^-62 (1.4e-14 in all), are the same to rounding."""

ONE = 2.0**62
"""What a mean of 1 is."""

_BYTES_A_CROSSING = 24
_SAMPLE = 4096


@frozen
class Region:
    """Steps between two neighbouring crossings: there the rankings are the same.

    Parameters
    ----------
    low, high : its ends, which are not in it; infinite where it has none.
    step : the step inside that is taken: see `ExhaustiveSearch`.
    value : mean average precision inside, in units of 2^-62.
    width : how wide it is, over the distance of the step from 0 where this is more than 1; where unbounded,
        that of a bounded one whose midpoint is as far inside.
    """

    low: float
    high: float
    step: float
    value: int
    width: float


@frozen(eq=False, repr=False)
class ExhaustiveSearch:
    """Mean average precision as a function of a step, and where it is largest.

    With scores ``heights + step · slopes``, each document is a line over the step, and rankings change only
    where lines cross (Morgan, Greiff and Henderson, HLT-NAACL 2004, section 3.3). Of all crossings, those of a
    relevant document with another one matter: R · N for a query. Those of all queries are passed from left to
    right; each costs O(1), so that a direction costs O(RN log RN).

    Parameters
    ----------
    kinds : the documents of the two kinds.
    memory : bytes for crossings; where there are more, the line is searched piece by piece.
    """

    kinds: Kinds
    memory: int = field(default=256 * 2**20)

    @classmethod
    def of(cls, relevant: NDArray[np.bool_], ptr: IntVector, weights: Vector, memory: int = 256 * 2**20) -> Self:
        """Make one of labelled documents.

        Parameters
        ----------
        relevant : whether each row is relevant; queries without both kinds are left out.
        ptr : where the rows of each query begin, shape (Q + 1,).
        weights : what a query with average precision 1 counts, shape (Q,); they sum to at most 1. Queries that
            count nothing are left out.
        memory : as above.
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
        """Return the region with the largest mean; of equal ones (to 1.4e-14), the one nearest to step 0.

        Of two that are equally near, it is the one of positive steps. The step is the midpoint; in a region
        with one end, ``offset`` beyond that end, times its distance from 0 where this is more than 1; and 0
        where no lines cross. Regions without a number at that place are passed over.

        Parameters
        ----------
        heights : scores at step 0, shape (rows,).
        slopes : what a step of 1 adds to them, shape (rows,).
        offset : see above.
        narrowest : regions whose ``width`` is not larger are passed over.

        Returns
        -------
        The region; None where all are passed over.
        """
        kinds, lines, ranks, rules = self.kinds, self._lines(heights, slopes), self._ranks(), Rules(narrowest, offset)
        crossings, value = rank_leftmost(kinds, lines, ranks)
        best, last = Best(-np.inf, np.inf, np.inf, -1 << 62, 0), -np.inf
        for high, steps, codes in self._pieces(lines, crossings):
            last, value, best = sweep(kinds, ranks, *sorted_by_step(steps, codes), last, value, best, rules)
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
        """Cut the line into pieces, each with no more crossings inside than memory allows, from left to right.

        Pieces end at crossings, which are in none of them. Any number of crossings may be at an end.

        Yields
        ------
        Where a piece ends, and the steps and codes of the crossings inside.
        """
        room = min(crossings, max(1, self.memory // _BYTES_A_CROSSING))
        steps, codes = np.empty(room), np.empty(room, dtype=np.int32)
        pieces = [(-np.inf, np.inf)]
        while pieces:
            low, high = pieces.pop()
            count = crossings_between(self.kinds, lines, low, high, steps, codes)
            if count <= room:
                yield high, steps[:count], codes[:count]
                continue
            sample = np.empty(min(count, _SAMPLE))
            taken = sample_between(self.kinds, lines, low, high, max(1, count // _SAMPLE), sample)
            parts = 1 + 5 * count // (4 * room)
            cuts = np.unique(np.sort(sample[:taken])[np.arange(1, parts) * taken // parts]).tolist()
            pieces += reversed(list(zip([low, *cuts], [*cuts, high], strict=True)))


class Best(NamedTuple):
    """The best region so far.

    Parameters
    ----------
    low, high : its ends; infinite where it has none.
    distance : from step 0 to its nearer end; 0 where step 0 is inside or an end.
    value : its mean; below 0 before there is a region.
    top : largest mean of any region.
    """

    low: float
    high: float
    distance: float
    value: int
    top: int


class Rules(NamedTuple):
    """What a step must be like.

    Parameters
    ----------
    narrowest : regions whose `width` is not larger are passed over.
    offset : see `step_inside`.
    """

    narrowest: float
    offset: float


@compiled
def step_inside(low: float, high: float, offset: float) -> float:
    """Return the midpoint of a region.

    Where it is unbounded, the step is ``offset`` beyond its only end, times the distance of that end from 0 where
    this is more than 1; in the region that is the whole line, 0.
    """
    if low == -np.inf and high == np.inf:
        return 0.0
    if low == -np.inf:
        return high - offset * max(1.0, abs(high))
    if high == np.inf:
        return low + offset * max(1.0, abs(low))
    return 0.5 * low + 0.5 * high


@compiled
def width(low: float, high: float, offset: float) -> float:
    """Return how wide a region is, over the distance of its step from 0 where this is more than 1.

    An unbounded one is as wide as a bounded one whose midpoint is as far inside.
    """
    step = step_inside(low, high, offset)
    return 2.0 * min(step - low, high - step) / max(1.0, abs(step))


@compiled
def better(best: Best, low: float, high: float, value: int, rules: Rules) -> Best:
    """Return the better of the best region and another one to the right of it; of equal ones, the nearer one."""
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
    """Pass crossings from left to right; those at one step are passed together.

    Parameters
    ----------
    kinds, ranks : see there.
    steps, codes : the crossings, by step.
    last : where the region begins in which it starts.
    value : mean in this region.
    best, rules : see there.

    Returns
    -------
    Where the region after the last crossing begins, its mean, and the best of the regions before it.
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
