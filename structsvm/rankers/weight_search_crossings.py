"""Mean average precision along a line: where a relevant and another document change places, and what that changes.

With step t, the score of a document is ``height + t · slope``. A relevant document and another one of
its query change places where their lines cross; no other crossing changes average precision, which is
``(1/R) Σ_m m / (m + a_(m))`` with ``a_(m)`` the m-th smallest number of other documents that are ahead
of a relevant one. The mean over queries is an integer here, in units of 2^-62: then it depends on the
ranking alone, and not on the way that led to it. Crossings are put in order many times faster than by a
comparison sort.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled
from structsvm.types import IntVector, Vector

_BITS = 11
_ROUNDS = 3
_LOWEST = 64 - _ROUNDS * _BITS
_SHORT = 32


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
def step_of_crossing(height: float, slope: float, other_height: float, other_slope: float) -> float:
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
                step = step_of_crossing(height, slope, lines.other_height[j], lines.other_slope[j])
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
                step = step_of_crossing(height, slope, lines.other_height[j], lines.other_slope[j])
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
                if step_of_crossing(height, slope, lines.other_height[j], lines.other_slope[j]) == at:
                    change += change_places(kinds, ranks, k + 1 if lines.other_slope[j] > slope else -(k + 1))
    return change


@compiled
def sorted_by_step(steps: Vector, codes: NDArray[np.int32]) -> tuple[Vector, NDArray[np.int32]]:
    """Return crossings by ascending step; what was passed in is overwritten.

    The bits of a number, negative ones turned round, are an integer of the same order. Three rounds of
    counting sort order its upper 33 bits, 11 each; a comparison sort mends runs that agree in them.
    """
    n = len(steps)
    counts = np.zeros((_ROUNDS, (1 << _BITS) + 1), np.int64)
    for i in range(n):
        key = _key(steps[i])
        for r in range(_ROUNDS):
            counts[r, ((key >> np.uint64(_LOWEST + r * _BITS)) & np.uint64((1 << _BITS) - 1)) + np.uint64(1)] += 1
    for r in range(_ROUNDS):
        for digit in range(1 << _BITS):
            counts[r, digit + 1] += counts[r, digit]
    other_steps, other_codes = np.empty_like(steps), np.empty_like(codes)
    _distribute(steps, codes, other_steps, other_codes, counts[0], _LOWEST)
    _distribute(other_steps, other_codes, steps, codes, counts[1], _LOWEST + _BITS)
    _distribute(steps, codes, other_steps, other_codes, counts[2], _LOWEST + 2 * _BITS)
    _mend(other_steps, other_codes)
    return other_steps, other_codes


@compiled
def _key(step: float) -> np.uint64:
    """Return an unsigned integer that is larger for a larger step."""
    bits = np.float64(step).view(np.uint64)
    sign = np.uint64(1) << np.uint64(63)
    return ~bits if bits & sign else bits | sign


@compiled
def _distribute(
    steps: Vector,
    codes: NDArray[np.int32],
    to_steps: Vector,
    to_codes: NDArray[np.int32],
    start: IntVector,
    shift: int,
) -> None:
    """Copy each crossing to the next place of its digit; ``start`` has the places and is moved on."""
    mask = np.uint64((1 << _BITS) - 1)
    for i in range(len(steps)):
        digit = (_key(steps[i]) >> np.uint64(shift)) & mask
        place = start[digit]
        start[digit] = place + 1
        to_steps[place] = steps[i]
        to_codes[place] = codes[i]


@compiled
def _mend(steps: Vector, codes: NDArray[np.int32]) -> None:
    """Sort each run that agrees in the bits that were looked at."""
    low = np.uint64(_LOWEST)
    first = 0
    while first < len(steps):
        key = _key(steps[first]) >> low
        ascending = True
        last = first + 1
        while last < len(steps) and _key(steps[last]) >> low == key:
            ascending = ascending and steps[last - 1] <= steps[last]
            last += 1
        if not ascending and last - first > _SHORT:
            order = np.argsort(steps[first:last])
            steps[first:last] = steps[first:last][order]
            codes[first:last] = codes[first:last][order]
        elif not ascending:
            for i in range(first + 1, last):
                step, code = steps[i], codes[i]
                j = i
                while j > first and steps[j - 1] > step:
                    steps[j], codes[j] = steps[j - 1], codes[j - 1]
                    j -= 1
                steps[j], codes[j] = step, code
        first = last
