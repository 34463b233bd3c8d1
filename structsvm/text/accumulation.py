"""The best documents of queries: postings added up in compiled code, block of documents after block.

By MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations", IPM 1995): the terms of a query come in
descending order of the most that they add to a score. Once k documents are held, the last terms, which even together
lift no document above the worst of these, are not added up any more, but looked up for documents that the first terms
bring close to it. The order in which the weights of a document are added is the same for all documents.

Where the terms that are added up have few postings, the documents that they meet are written down, so that the work is
that of the postings; else all sums of a block are looked at.
"""

import numpy as np
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled
from structsvm.compute.selection import largest_to_front
from structsvm.types import IntVector, Matrix, Vector

BLOCK = 1 << 14
"""Documents whose sums are held at a time, so that they stay in the processor's cache."""
DENSE = 4
"""Terms that at least one in so many documents has are dense: they have a weight for each document, by number."""
SPARE = 2
"""Times as many documents as are asked for are held before the worst of them are dropped."""
NO_KEY = np.int64(-(1 << 63))
"""What is less than all keys."""
_NONE = np.int64(-(1 << 63))
"""The bits of -0.0, which no sum is, as 0.0 is added to each weight: the sum of a document that has no term."""
_LOOKING_UP = 64
"""Time that it takes to look a document up, in units of that of adding a posting."""
_MANY = 2
"""Times as many documents of a block as are asked for, above which a sample shows which of them are not the best."""
_SAMPLED = 16
"""Every so many documents, one is in the sample."""


@compiled
def best_documents(
    query_ptr: IntVector,
    begins: IntVector,
    ends: IntVector,
    factors: Vector,
    most: Vector,
    scores: Vector,
    slacks: Vector,
    documents: NDArray[np.int32],
    weights: Vector,
    rows: IntVector,
    dense: Matrix,
    added: Vector,
    most_added: Vector,
    place: NDArray[np.int32],
    k: int,
    keys: NDArray[np.int64],
) -> None:
    """Find the keys of the best documents with a term of each query: the k best, and perhaps others.

    Scores are summed in float64, term after term, and compared in float32; equal ones by the place of the document.
    Blocks go from the last document to the first: where ids ascend, as they do in most collections, the first of equal
    documents that are met are those that stay.

    Parameters
    ----------
    query_ptr : terms ``query_ptr[q]:query_ptr[q + 1]`` are those of query q, shape (n_queries + 1,).
    begins, ends : where the postings of each term are, shape (m,).
    factors : weight of each term in its query, shape (m,).
    most : the most that each term adds to a score, at least 0, descending in a query, shape (m,).
    scores : what is added to all scores of a query, shape (n_queries,).
    slacks : by how much rounding may raise a score of a query above a bound, at most, shape (n_queries,).
    documents, weights : document of each posting, ascending within a term, and its weight, shape (n_postings,).
    rows : row of each term in `dense`, which has its weights if it is a dense one; -1 if it is not; shape (m,).
    dense : weights of documents, those without the term NaN, shape (n_dense, n_documents).
    added : what is added to the score of each document, shape (n_documents,) or, where that is nothing, (0,).
    most_added : the largest of `added` in each `BLOCK` of documents; 0 where there is nothing; shape (n_blocks,).
    place : place of each document in the order of ids, ascending, shape (n_documents,).
    k : how many documents of a query, at most.
    keys : written from the left, shape (n_queries, SPARE * k); see `scores_and_places`.
    """
    n_documents = len(place)
    sums = np.full(BLOCK, -0.0)
    candidate = np.zeros(BLOCK, np.bool_)
    touched, picked = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    rounded = np.empty(1, np.float32)
    bits = rounded.view(np.int32)
    for query in range(len(query_ptr) - 1):
        terms = slice(query_ptr[query], query_ptr[query + 1])
        begin, behind, factor, row = begins[terms], ends[terms].copy(), factors[terms], rows[terms]
        size = ends[terms] - begin
        rest = np.zeros(len(begin) + 1)  # the most that all terms from each on add
        n_blocks = 0
        for term in range(len(begin) - 1, -1, -1):
            rest[term] = rest[term + 1] + most[query_ptr[query] + term]
            n_blocks = max(n_blocks, documents[behind[term] - 1] // BLOCK + 1)
        held, count = keys[query], 0
        worst_key, least = NO_KEY, -np.inf
        for block in range(n_blocks - 1, -1, -1):
            first = block * BLOCK
            lift = scores[query] + most_added[block] + slacks[query]
            needed = len(begin)
            while needed > 0 and rest[needed - 1] + lift < least:
                needed -= 1
            if needed == 0:
                continue
            enough = least - (rest[needed] + lift)
            few = DENSE * size[:needed].sum() < n_documents
            n_touched = 0
            for term in range(needed):
                if few:
                    behind[term], n_touched = _touch(
                        sums, documents, weights, begin[term], behind[term], first, factor[term], touched, n_touched
                    )
                elif row[term] >= 0:
                    _add_dense(sums, dense[row[term], first : first + BLOCK], factor[term])
                else:
                    behind[term] = _add(sums, documents, weights, begin[term], behind[term], first, factor[term])
            if few:
                found = _enough(sums, touched[:n_touched], enough, picked)
            else:
                found = _pick(sums, enough, candidate, picked)
            for term in range(needed, len(begin)):
                if found == 0:
                    break
                if row[term] >= 0:
                    values = dense[row[term], first : first + BLOCK]
                    for document in picked[:found]:
                        sums[document] += _dense_weight(values[document], factor[term])
                elif _LOOKING_UP * found * n_blocks > size[term]:
                    behind[term] = _first_from(documents, begin[term], behind[term], first + BLOCK)
                    behind[term], n_touched = _touch(
                        sums, documents, weights, begin[term], behind[term], first, factor[term], touched, n_touched
                    )
                else:
                    behind[term] = _first_from(documents, begin[term], behind[term], first + BLOCK)
                    for document in picked[:found]:
                        posting = _first_from(documents, begin[term], behind[term], first + document)
                        if posting < behind[term] and documents[posting] == first + document:
                            sums[document] += factor[term] * weights[posting] + 0.0
                found = _enough(sums, picked[:found], least - (rest[term + 1] + lift), picked)
            for document in picked[:found]:
                sums[document] = (sums[document] + (added[first + document] if len(added) else 0.0)) + scores[query]
            if found > _MANY * k:
                found = _thin(sums, picked[:found], k)
            for document in picked[:found]:
                rounded[0] = sums[document] + 0.0
                key = np.int64(bits[0] if bits[0] >= 0 else bits[0] ^ 0x7FFFFFFF) << 32 | place[first + document]
                if key <= worst_key:
                    continue
                held[count] = key
                count += 1
                if count == len(held):
                    worst_key = largest_to_front(held, k)
                    count = k
                    bits[0] = worst_key >> 32 if worst_key >= 0 else (worst_key >> 32) ^ 0x7FFFFFFF
                    least = np.float64(np.nextafter(rounded[0], np.float32(-np.inf)))  # what is less, rounds to less
            if few:
                for document in touched[:n_touched]:
                    sums[document] = -0.0
            else:
                sums[:] = -0.0
        held[count:] = NO_KEY


@compiled
def _add(
    sums: Vector,
    documents: NDArray[np.int32],
    weights: Vector,
    begin: int,
    end: int,
    first: int,
    factor: float,
) -> int:
    """Add a term's weights, from the last posting back to the first document of a block; return where that is."""
    posting = end - 1
    while posting >= begin and documents[posting] >= first:
        sums[np.uint64(documents[posting] - first)] += factor * weights[posting] + 0.0
        posting -= 1
    return posting + 1


@compiled
def _touch(
    sums: Vector,
    documents: NDArray[np.int32],
    weights: Vector,
    begin: int,
    end: int,
    first: int,
    factor: float,
    touched: IntVector,
    n_touched: int,
) -> tuple[int, int]:
    """Add as `_add` does, and write down which documents had no term before; return also how many have one now."""
    bits = sums.view(np.int64)
    posting = end - 1
    while posting >= begin and documents[posting] >= first:
        document = np.uint64(documents[posting] - first)
        touched[min(n_touched, BLOCK - 1)] = document  # overwritten by the next one, unless it is new: no branch
        n_touched += bits[document] == _NONE
        sums[document] += factor * weights[posting] + 0.0
        posting -= 1
    return posting + 1, n_touched


@compiled
def _add_dense(sums: Vector, values: Vector, factor: float) -> None:
    """Add a term's weights in a block, where there is one for each document."""
    for document in range(len(values)):
        sums[document] += _dense_weight(values[document], factor)


@compiled
def _dense_weight(value: float, factor: float) -> float:
    """Return what a term adds to a document; where the document does not have it, what leaves all numbers as is."""
    return factor * value + 0.0 if value == value else -0.0


@compiled
def _enough(sums: Vector, among: IntVector, enough: float, picked: IntVector) -> int:
    """Write which of some documents have at least this sum; return how many they are."""
    found = 0
    for document in among:
        picked[found] = document
        found += sums[document] >= enough
    return found


@compiled
def _pick(sums: Vector, enough: float, candidate: NDArray[np.bool_], picked: IntVector) -> int:
    """Write which documents have a term and at least this sum, the last first; return how many they are.

    `candidate` is room to work in.
    """
    if enough > 0.0:
        for document in range(len(sums)):
            candidate[document] = sums[document] >= enough
    else:
        bits = sums.view(np.int64)
        for document in range(len(sums)):
            candidate[document] = (bits[document] != _NONE) & (sums[document] >= enough)
    eights = candidate.view(np.int64)
    found = 0
    for eight in range(len(eights) - 1, -1, -1):
        if eights[eight] != 0:
            for document in range(8 * eight + 7, 8 * eight - 1, -1):
                picked[found] = document  # overwritten by the next one, unless it is a candidate: no branch
                found += candidate[document]
    return found


@compiled
def _thin(sums: Vector, picked: IntVector, k: int) -> int:
    """Drop documents that are not among the k best of many; return how many are left.

    A quantile of a sample is below the k best, most likely; whether it is, is counted (Floyd and Rivest, "Expected time
    bounds for selection", CACM 1975).
    """
    sample = sums[picked[::_SAMPLED]]
    rank = min(len(sample), k // _SAMPLED + 3 * int(np.sqrt(k / _SAMPLED)) + 1)
    bound = np.float32(largest_to_front(sample, rank))
    least = np.float64(np.nextafter(bound, np.float32(-np.inf)))  # what is less, rounds to less
    above = 0
    for document in picked:
        above += sums[document] >= bound
    if above < k:
        return len(picked)
    kept = 0
    for document in picked:
        picked[kept] = document
        kept += sums[document] >= least
    return kept


@compiled
def _first_from(documents: NDArray[np.int32], begin: int, end: int, document: int) -> int:
    """Return the first of some postings, ascending by document, whose document is at least this one.

    From the end on, in steps that double (Bentley and Yao, "An almost optimal algorithm for unbounded searching").
    """
    step = 1
    low = end - 1
    while low >= begin and documents[low] >= document:
        end = low
        step *= 2
        low -= step
    low = max(low, begin - 1)
    while end - low > 1:
        middle = (low + end) >> 1
        if documents[middle] < document:
            low = middle
        else:
            end = middle
    return end


def scores_and_places(keys: NDArray[np.int64]) -> tuple[NDArray[np.float32], IntVector]:
    """Return the scores and places that keys stand for.

    A key is larger for a larger score, and for equal ones for a larger place: its upper half are the bits of the score,
    those but the sign turned around for scores below 0, and its lower half is the place.
    """
    bits = (keys >> 32).astype(np.int32)
    scores = np.where(bits >= 0, bits, bits ^ 0x7FFFFFFF).astype(np.int32).view(np.float32)
    return scores, keys & 0xFFFFFFFF
