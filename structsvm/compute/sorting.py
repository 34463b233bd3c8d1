"""Sorting documents by score, many times faster than a comparison sort for the lengths of rankings."""

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.types import IntVector, Vector

_FEWEST_BITS, _MOST_BITS = 5, 11
_PATIENCE = 16


@compiled
def descending(scores: Vector) -> IntVector:
    """Return the document numbers, largest score first; equal scores keep their order.

    Scores are mapped linearly to integers of twice b bits, which two rounds of counting sort
    put in order, b bits each; about n² buckets leave little for an insertion sort to mend.
    Scores that crowd into few buckets, as beside a far outlier, are left to a merge sort.
    """
    highest, lowest = -np.inf, np.inf
    for score in scores:
        highest, lowest = max(highest, score), min(lowest, score)
    if highest == lowest:
        return np.arange(len(scores))
    bits = _FEWEST_BITS
    while bits < _MOST_BITS and 2 << bits < len(scores):
        bits += 1
    scale = ((1 << 2 * bits) - 1) / (highest - lowest) if highest > lowest else 0.0
    if not 0.0 < scale < np.inf:
        return np.argsort(-scores, kind="mergesort")
    order = _counted(scores, highest, scale, bits)
    if not _mended(scores, order):
        return np.argsort(-scores, kind="mergesort")
    return order


@compiled
def _counted(scores: Vector, highest: float, scale: float, bits: int) -> IntVector:
    """Sort by ``(highest − score) * scale``, cut to an integer of 2 · bits bits.

    Unsigned numbers spare each look at an array a test for negative ones.
    """
    n = len(scores)
    buckets = 1 << bits
    mask, shift, one = np.uint32(buckets - 1), np.uint32(bits), np.uint32(1)
    last = float(buckets * buckets - 1)
    key, other, order = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.int64)
    low, high = np.zeros(buckets, np.uint32), np.zeros(buckets, np.uint32)
    for document in range(n):
        place = (highest - scores[document]) * scale
        place = place if place > 0.0 else 0.0  # NaN must not lead astray
        key[document] = np.int32(place if place < last else last)
    for document in range(n):
        low[key[document] & mask] += one
        high[key[document] >> shift] += one
    first_low, first_high = np.uint32(0), np.uint32(0)
    for bucket in range(buckets):
        in_low, in_high = low[bucket], high[bucket]
        low[bucket], high[bucket] = first_low, first_high
        first_low += in_low
        first_high += in_high
    for document in range(n):
        digit = key[document] & mask
        rank = low[digit]
        other[rank] = document
        low[digit] = rank + one
    for k in range(n):
        known = other[k]
        digit = key[known] >> shift
        rank = high[digit]
        order[rank] = known
        high[digit] = rank + one
    return order


@compiled
def _mended(scores: Vector, order: IntVector) -> bool:
    """Insert what is out of order where it belongs; give up where that moves too much."""
    left = _PATIENCE * len(order)
    before = np.inf
    for i in range(len(order)):
        document = order[i]
        score = scores[document]
        if not score > before:
            before = score
            continue
        j = i
        while j > 0 and scores[order[j - 1]] < score:
            order[j] = order[j - 1]
            j -= 1
        order[j] = document
        left -= i - j
        if left < 0:
            return False
    return True
