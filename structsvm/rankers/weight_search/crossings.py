"""Mean average precision along a line: where a relevant and another document change places, and what that changes.

With step t, the score of a document is ``height + t · slope``. A relevant document and another one of
its query change places where their lines cross; no other crossing changes average precision, which is
``(1/R) Σ_m m / (m + a_(m))`` with ``a_(m)`` the m-th smallest number of other documents that are ahead
of a relevant one. The mean over queries is an integer here, in units of 2^-62: then it depends on the
ranking alone, and not on the way that led to it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled
from structsvm.types import IntVector, Vector


class Kinds(NamedTuple):
    """The documents of the two kinds, query after query.

    Parameters
    ----------
    relevant, other : rows of the relevant documents and of the others, ascending within queries.
    relevant_ptr, other_ptr : where those of each query begin, shape (Q + 1,).
    query : query of each relevant document.
    gain : what a relevant document adds to the mean at precision 1, in units of 2^-62, shape (Q,).
    """

    relevant: IntVector
    other: IntVector
    relevant_ptr: IntVector
    other_ptr: IntVector
    query: IntVector
    gain: Vector


class Lines(NamedTuple):
    """The lines of the documents of `Kinds`, in its order.

    Parameters
    ----------
    height, slope : of relevant documents.
    other_height, other_slope : of the others.
    """

    height: Vector
    slope: Vector
    other_height: Vector
    other_slope: Vector


class Ranks(NamedTuple):
    """A ranking of each query, as far as average precision depends on it. Changed in place.

    Parameters
    ----------
    ahead : number of other documents ahead of each relevant one.
    within : for c = 0, 1, ..., N, the number of relevant documents with at most c others ahead; that of
        query q begins at ``other_ptr[q] + q``.
    """

    ahead: IntVector
    within: IntVector


@compiled
def crossing(height: float, slope: float, other_height: float, other_slope: float) -> float:
    """Return the step at which two lines cross; not a finite number where they do not, to rounding."""
    difference = slope - other_slope
    if difference == 0.0:
        return np.inf
    return (other_height - height) / difference


@compiled
def rank_leftmost(kinds: Kinds, lines: Lines, ranks: Ranks) -> tuple[int, int]:
    """Write the ranking before the first crossing; return the number of crossings and the mean.

    Of lines that do not cross, the higher one is ahead; of the same lines, the document whose row is first.
    """
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
                if np.isfinite(crossing(height, slope, lines.other_height[j], lines.other_slope[j])):
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
    """Return what the m-th relevant document adds to the mean, with this many others ahead of it."""
    return int(gain * (m / (m + ahead)))


@compiled
def change_places(kinds: Kinds, ranks: Ranks, code: int) -> int:
    """Let one other document pass a relevant one, or fall behind it; return the change of the mean.

    Of relevant documents with equally many others ahead of them, all are alike, so that the last of
    them is passed, and the first of them passes: one term of the sum changes.

    Parameters
    ----------
    kinds, ranks : see there.
    code : k + 1 where the k-th relevant document is passed, −(k + 1) where it passes.
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
    kinds: Kinds, lines: Lines, low: float, high: float, steps: Vector, codes: NDArray[np.int32]
) -> int:
    """Write the crossings strictly between two steps, as many as there is room for; return their number.

    Parameters
    ----------
    kinds, lines : see there.
    low, high : the steps; infinite ones leave no finite crossing out.
    steps : step of each crossing, written.
    codes : as `change_places` reads them, written.
    """
    count = 0
    room = len(steps)
    for q in range(len(kinds.gain)):
        for k in range(kinds.relevant_ptr[q], kinds.relevant_ptr[q + 1]):
            height, slope = lines.height[k], lines.slope[k]
            for j in range(kinds.other_ptr[q], kinds.other_ptr[q + 1]):
                step = crossing(height, slope, lines.other_height[j], lines.other_slope[j])
                if low < step < high:
                    if count < room:
                        steps[count] = step
                        codes[count] = k + 1 if lines.other_slope[j] > slope else -(k + 1)
                    count += 1
    return count


@compiled
def sample_between(kinds: Kinds, lines: Lines, low: float, high: float, stride: int, steps: Vector) -> int:
    """Write each ``stride``-th crossing strictly between two steps, as far as there is room; return how many."""
    count = 0
    taken = 0
    for q in range(len(kinds.gain)):
        for k in range(kinds.relevant_ptr[q], kinds.relevant_ptr[q + 1]):
            height, slope = lines.height[k], lines.slope[k]
            for j in range(kinds.other_ptr[q], kinds.other_ptr[q + 1]):
                step = crossing(height, slope, lines.other_height[j], lines.other_slope[j])
                if low < step < high:
                    if count % stride == 0 and taken < len(steps):
                        steps[taken] = step
                        taken += 1
                    count += 1
    return taken


@compiled
def cross_at(kinds: Kinds, lines: Lines, ranks: Ranks, at: float) -> int:
    """Let all documents whose lines cross at a step change places; return the change of the mean."""
    change = 0
    for q in range(len(kinds.gain)):
        for k in range(kinds.relevant_ptr[q], kinds.relevant_ptr[q + 1]):
            height, slope = lines.height[k], lines.slope[k]
            for j in range(kinds.other_ptr[q], kinds.other_ptr[q + 1]):
                if crossing(height, slope, lines.other_height[j], lines.other_slope[j]) == at:
                    change += change_places(kinds, ranks, k + 1 if lines.other_slope[j] > slope else -(k + 1))
    return change
