"""The best documents of a query: postings added up in compiled code, block of documents after block."""

import numpy as np
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled
from structsvm.types import IntVector, Vector

_BLOCK = 1 << 14
"""Documents whose sums are held at a time, so that they stay in the processor's cache."""
_NONE = np.int64(-(1 << 63))
"""The bits of -0.0, which no sum is, as 0.0 is added to each weight: the sum of a document that has no term."""
_SPARE = 4
"""Times as many documents as are asked for are held before the worst of them are dropped."""


@compiled
def best_documents(
    begins: IntVector,
    ends: IntVector,
    factors: Vector,
    documents: NDArray[np.int32],
    weights: Vector,
    added: Vector,
    score: float,
    place: NDArray[np.int32],
    k: int,
) -> IntVector:
    """Return the keys of the k best of the documents with a term of a query, in no order; see `scores_and_places`.

    Scores are summed in float64, term after term, and compared in float32; equal ones by the place of the document.
    Blocks go from the last document to the first: where ids ascend, as they do in most collections, the first of equal
    documents that are met are those that stay.

    Parameters
    ----------
    begins, ends : where the postings of each term are, shape (m,).
    factors : weight of each term in the query, shape (m,).
    documents, weights : document of each posting, ascending within a term, and its weight, shape (n_postings,).
    added : what is added to the score of each document, shape (n_documents,) or, where that is nothing, (0,).
    score : what is added to all scores.
    place : place of each document in the order of ids, ascending, shape (n_documents,).
    k : how many documents, at most.
    """
    sums = np.empty(_BLOCK)
    bits_of_sums = sums.view(np.int64)
    shifted = len(added) > 0 or score != 0.0
    totals = np.empty(_BLOCK) if shifted else sums
    candidate = np.zeros(_BLOCK, np.bool_)
    eights = candidate.view(np.int64)
    picked = np.empty(_BLOCK, np.int64)
    held = np.empty(_SPARE * k, np.int64)
    count = 0
    worst_key, least = np.int64(-(1 << 63)), -np.inf
    rounded = np.empty(1, np.float32)
    bits = rounded.view(np.int32)
    behind = ends.copy()
    while True:
        end = 0
        for term in range(len(behind)):
            if behind[term] > begins[term]:
                end = max(end, documents[behind[term] - 1] + 1)
        if end == 0:
            break
        first = max(0, end - _BLOCK)
        size = end - first
        bits_of_sums[:size] = _NONE
        for term in range(len(behind)):
            begin = _first_from(documents, max(begins[term], behind[term] - size), behind[term], first)
            factor = factors[term]
            for posting in range(begin, behind[term]):
                sums[np.uint64(documents[posting] - first)] += factor * weights[posting] + 0.0
            behind[term] = begin
        if len(added):
            for document in range(size):
                totals[document] = sums[document] + score + added[first + document]
        elif score != 0.0:
            for document in range(size):
                totals[document] = sums[document] + score
        if least > 0.0 and not shifted:
            for document in range(size):
                candidate[document] = totals[document] >= least
        else:
            for document in range(size):
                candidate[document] = (bits_of_sums[document] != _NONE) & (totals[document] >= least)
        found = 0
        for eight in range((size - 1) >> 3, -1, -1):
            if eights[eight] != 0:
                for document in range(min(8 * eight + 7, size - 1), 8 * eight - 1, -1):
                    picked[found] = document  # overwritten by the next one, unless it is a candidate: no branch
                    found += candidate[document]
        for document in picked[:found]:
            rounded[0] = totals[document] + 0.0
            key = np.int64(bits[0] if bits[0] >= 0 else bits[0] ^ 0x7FFFFFFF) << 32 | place[first + document]
            if key <= worst_key:
                continue
            held[count] = key
            count += 1
            if count == len(held):
                held = np.partition(held, count - k)
                held[:k] = held[count - k :]
                count = k
                worst_key = held[:k].min()
                bits[0] = worst_key >> 32 if worst_key >= 0 else (worst_key >> 32) ^ 0x7FFFFFFF
                least = np.float64(np.nextafter(rounded[0], np.float32(-np.inf)))  # what is less, rounds to less
    return held[:count]


@compiled
def _first_from(documents: NDArray[np.int32], begin: int, end: int, document: int) -> int:
    """Return the first of some postings, ascending by document, whose document is at least this one."""
    while begin < end:
        middle = (begin + end) >> 1
        if documents[middle] < document:
            begin = middle + 1
        else:
            end = middle
    return begin


def scores_and_places(keys: IntVector, k: int) -> tuple[NDArray[np.float32], IntVector]:
    """Return the scores and places that the k largest keys stand for, best first.

    A key is larger for a larger score, and for equal ones for a larger place: its upper half are the bits of the score,
    those but the sign turned around for scores below 0, and its lower half is the place.
    """
    best = np.sort(keys if len(keys) <= k else np.partition(keys, len(keys) - k)[len(keys) - k :])[::-1]
    bits = (best >> 32).astype(np.int32)
    scores = np.where(bits >= 0, bits, bits ^ 0x7FFFFFFF).astype(np.int32).view(np.float32)
    return scores, best & 0xFFFFFFFF
