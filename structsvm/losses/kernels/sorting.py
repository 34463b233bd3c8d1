"""Sorting documents by score, faster than a general argsort for the lengths of rankings."""

import numpy as np

from structsvm.compilation import compiled
from structsvm.types import IntVector, Vector

_RUN = 8
_LONGEST_PACKED = 4096


@compiled
def descending(scores: Vector) -> IntVector:
    """Return the document numbers, largest score first.

    The number of a document replaces the last bits of its score, so that one array of
    integers is sorted; scores that agree to twelve digits may change places. Long lists are
    left to NumPy.
    """
    n = len(scores)
    if n > _LONGEST_PACKED:
        return np.argsort(-scores)
    mask = 1
    while mask < n:
        mask *= 2
    mask -= 1
    keys = np.empty(n, np.int64)
    bits = scores.view(np.int64)
    for document in range(n):
        pattern = bits[document]
        ordered = pattern ^ ((pattern >> 63) & 0x7FFFFFFFFFFFFFFF)
        keys[document] = (~ordered & ~mask) | document
    keys = sorted_keys(keys)
    for rank in range(n):
        keys[rank] &= mask
    return keys


@compiled
def sorted_keys(keys: IntVector) -> IntVector:
    """Return the keys in ascending order: short runs by insertion, then merges without branches."""
    n = len(keys)
    for start in range(0, n, _RUN):
        for i in range(start + 1, min(start + _RUN, n)):
            key = keys[i]
            j = i
            while j > start and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
    other = np.empty(n, np.int64)
    width = _RUN
    while width < n:
        for start in range(0, n, 2 * width):
            middle = min(start + width, n)
            stop = min(start + 2 * width, n)
            i, j, k = start, middle, start
            while i < middle and j < stop:
                left, right = keys[i], keys[j]
                first = left <= right
                other[k] = left if first else right
                i += first
                j += not first
                k += 1
            while i < middle:
                other[k] = keys[i]
                i += 1
                k += 1
            while j < stop:
                other[k] = keys[j]
                j += 1
                k += 1
        keys, other = other, keys
        width *= 2
    return keys
