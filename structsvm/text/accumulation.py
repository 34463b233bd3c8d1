"""Find the best documents of queries by MaxScore (Turtle and Flood, IPM 1995) in compiled code, block by block.

Terms are sorted by their largest contribution. Once the last terms together cannot lift a document above the k-th, the
search looks them up only for documents that the first terms bring close to it. The weights of each document are added
in the same order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.types import IntVector, Matrix, Vector


@compiled
def largest_to_front(values: NDArray[Any], k: int) -> Any:
    """Move the k largest values to the front and return the smallest of them (Hoare's FIND); 1 ≤ k ≤ n, no NaN."""
    low, high = 0, len(values) - 1
    while low < high:
        one, two, three = values[low], values[(low + high) >> 1], values[high]
        pivot = max(min(one, two), min(max(one, two), three))
        left, right = low, high
        while left <= right:
            while values[left] > pivot:
                left += 1
            while values[right] < pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if k - 1 <= right:
            high = right
        elif k - 1 >= left:
            low = left
        else:
            break
    return values[k - 1]


BLOCK = 1 << 14
"""Documents per block, whose sums fit in the processor's cache."""
DENSE = 4
"""A term is dense if at least one in this many documents contains it; a weight is then stored for each document."""
SPARE = 2
"""Capacity for candidates, as a multiple of k; when it is full, the worst candidates are dropped."""
NO_KEY = np.int64(-(1 << 63))
"""Smaller than all keys."""
_NONE = np.int64(-(1 << 63))
"""Bits of -0.0, the sum of a document without a term; no other sum has them, because 0.0 is added to each weight."""
_LOOKING_UP = 64
"""Time to look a document up, relative to adding a posting."""


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
    """Find the keys of the k best documents that have a term of the query, for each query, and perhaps more keys.

    Scores are summed in float64, term by term, and compared in float32; equal scores are ordered by the place of the
    document. Blocks go from the last document to the first: ids usually ascend, so the first of equal documents stay.

    - Queries: ``query_ptr`` delimits their terms; ``scores`` is added to all scores, with rounding errors ≤ ``slacks``.
    - Terms: postings ``begins`` to ``ends``, weight ``factors``, ``most`` added, descending, and ``rows`` in
      ``dense``, shape (n_dense, n_documents), NaN without the term; -1 if the term is not dense.
    - Documents: ``added``, shape (n_documents,) or (0,), its maximum ``most_added`` in each `BLOCK`, and ``place``.
    - ``keys``, shape (n_queries, SPARE * k): output, written from the left; see `scores_and_places`.
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
        # Largest joint contribution of each term and later terms.
        rest = np.zeros(len(begin) + 1)
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
                count_picked = _enough(sums, touched[:n_touched], enough, picked)
            else:
                count_picked = _pick(sums, enough, candidate, picked)
            for term in range(needed, len(begin)):
                if count_picked == 0:
                    break
                if row[term] >= 0:
                    values = dense[row[term], first : first + BLOCK]
                    for document in picked[:count_picked]:
                        sums[document] += _dense_weight(values[document], factor[term])
                elif _LOOKING_UP * count_picked * n_blocks > size[term]:
                    behind[term] = _first_from(documents, begin[term], behind[term], first + BLOCK)
                    behind[term], n_touched = _touch(
                        sums, documents, weights, begin[term], behind[term], first, factor[term], touched, n_touched
                    )
                else:
                    behind[term] = _first_from(documents, begin[term], behind[term], first + BLOCK)
                    for document in picked[:count_picked]:
                        posting = _first_from(documents, begin[term], behind[term], first + document)
                        if posting < behind[term] and documents[posting] == first + document:
                            sums[document] += factor[term] * weights[posting] + 0.0
                count_picked = _enough(sums, picked[:count_picked], least - (rest[term + 1] + lift), picked)
            for document in picked[:count_picked]:
                sums[document] = (sums[document] + (added[first + document] if len(added) else 0.0)) + scores[query]
            for document in picked[:count_picked]:
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
                    # Numbers below `least` round to less than rounded[0].
                    least = np.float64(np.nextafter(rounded[0], np.float32(-np.inf)))
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
    """Add a term's weights, from the last posting back to the first document of a block; return the last position."""
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
    """Add like `_add`, record documents that had no term before, and return the number of documents with a term."""
    bits = sums.view(np.int64)
    posting = end - 1
    while posting >= begin and documents[posting] >= first:
        document = np.uint64(documents[posting] - first)
        # Without a branch: the next document overwrites the entry unless this document is new.
        touched[min(n_touched, BLOCK - 1)] = document
        n_touched += bits[document] == _NONE
        sums[document] += factor * weights[posting] + 0.0
        posting -= 1
    return posting + 1, n_touched


@compiled
def _add_dense(sums: Vector, values: Vector, factor: float) -> None:
    for document in range(len(values)):
        sums[document] += _dense_weight(values[document], factor)


@compiled
def _dense_weight(value: float, factor: float) -> float:
    """Return the contribution of a dense term to a document, or -0.0, which changes no sum, if it lacks the term."""
    return factor * value + 0.0 if value == value else -0.0


@compiled
def _enough(sums: Vector, among: IntVector, enough: float, picked: IntVector) -> int:
    """Write the documents whose sum is at least ``enough`` to ``picked``; return their number."""
    count = 0
    for document in among:
        picked[count] = document
        count += sums[document] >= enough
    return count


@compiled
def _pick(sums: Vector, enough: float, candidate: NDArray[np.bool_], picked: IntVector) -> int:
    """Write the documents with a term and a sum of at least ``enough``, the last first; return their number."""
    if enough > 0.0:
        for document in range(len(sums)):
            candidate[document] = sums[document] >= enough
    else:
        bits = sums.view(np.int64)
        for document in range(len(sums)):
            candidate[document] = (bits[document] != _NONE) & (sums[document] >= enough)
    eights = candidate.view(np.int64)
    count = 0
    for eight in range(len(eights) - 1, -1, -1):
        if eights[eight] != 0:
            for document in range(8 * eight + 7, 8 * eight - 1, -1):
                # Without a branch: the next document overwrites the entry unless this document is a candidate.
                picked[count] = document
                count += candidate[document]
    return count


@compiled
def _first_from(documents: NDArray[np.int32], begin: int, end: int, document: int) -> int:
    """Return the first posting from this document on; search from the end, in doubling steps (Bentley and Yao)."""
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
    """Decode keys into scores and places.

    The upper half of a key has the bits of the score, inverted except the sign if it is negative; the lower half has
    the place.
    """
    bits = (keys >> 32).astype(np.int32)
    scores = np.where(bits >= 0, bits, bits ^ 0x7FFFFFFF).astype(np.int32).view(np.float32)
    return scores, keys & 0xFFFFFFFF
