"""Sort documents by score, many times faster than a comparison sort at the lengths of rankings."""

import numpy as np

from structsvm.foundation.compute.compilation import compiled_part, inlined_part
from structsvm.foundation.types import IntVector, Vector

_FEWEST_BITS, _MOST_BITS = 5, 11
_PATIENCE = 16


@compiled_part
def descending(scores: Vector) -> IntVector:
    """Return documents by descending score, stably: two rounds of counting sort, or a merge sort if scores crowd."""
    n = len(scores)
    highest, lowest = -np.inf, np.inf
    for document in range(n):
        score = scores[document]
        if score > highest:
            highest = score
        if score < lowest:
            lowest = score
    bits = _FEWEST_BITS
    while bits < _MOST_BITS and 2 << bits < n:
        bits += 1
    scale = ((1 << 2 * bits) - 1) / (highest - lowest) if highest > lowest else 0.0
    if 0.0 < scale < np.inf:
        order = _counted(scores, highest, scale, bits)
        if _mended(scores, order):
            return order
    order = np.empty(n, np.int64)
    for document in range(n):
        order[document] = document
    return order if highest == lowest else _merged(scores, order)


@inlined_part
def _counted(scores: Vector, highest: float, scale: float, bits: int) -> IntVector:
    """Sort by ``(highest − score) * scale``, truncated to 2 · bits bits; unsigned indices skip a test for negatives."""
    n = len(scores)
    buckets = 1 << bits
    mask, shift, one = np.uint32(buckets - 1), np.uint32(bits), np.uint32(1)
    last = float(buckets * buckets - 1)
    key, other, order = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.int64)
    low, high = np.empty(buckets, np.uint32), np.empty(buckets, np.uint32)
    for bucket in range(buckets):
        low[bucket] = high[bucket] = 0
    for document in range(n):
        place = (highest - scores[document]) * scale
        # NaN becomes 0, so that the index stays in range.
        place = place if place > 0.0 else 0.0
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
        item = other[k]
        digit = key[item] >> shift
        rank = high[digit]
        order[rank] = item
        high[digit] = rank + one
    return order


@inlined_part
def _mended(scores: Vector, order: IntVector) -> bool:
    """Finish the order by insertion sort; return False if that moves too many documents."""
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


@inlined_part
def _merged(scores: Vector, order: IntVector) -> IntVector:
    """Merge sorted runs, which double in length each round; NaN goes last."""
    n = len(scores)
    other = np.empty(n, np.int64)
    width = 1
    while width < n:
        first = 0
        while first < n:
            middle = first + width if first + width < n else n
            end = middle + width if middle + width < n else n
            i, j = first, middle
            for k in range(first, end):
                later = j < end
                if later and i < middle:
                    one, two = scores[order[i]], scores[order[j]]
                    later = two > one or (one != one and two == two)
                if later:
                    other[k] = order[j]
                    j += 1
                else:
                    other[k] = order[i]
                    i += 1
            first = end
        order, other = other, order
        width *= 2
    return order
