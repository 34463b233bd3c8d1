"""The step along a direction with the largest mean average precision, by exhaustive search."""

from collections.abc import Iterator
from typing import Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.rankers.weight_search.crossings import (
    Kinds,
    Lines,
    Ranks,
    cross_at,
    crossings_between,
    rank_leftmost,
    sample_between,
)
from structsvm.rankers.weight_search.ordering import in_order
from structsvm.rankers.weight_search.regions import EQUAL, Best, Rules, better, step_inside, sweep, width
from structsvm.types import IntVector, Vector

__all__ = ["EQUAL", "ONE", "ExhaustiveSearch", "Region"]

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
            last, value, best = sweep(kinds, ranks, *in_order(steps, codes), last, value, best, rules)
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
