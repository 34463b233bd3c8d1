"""The best documents of a query: postings added up in compiled code, block of documents after block."""

import numpy as np
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled
from structsvm.types import IntVector, Vector

_BLOCK = 1 << 14
"""Documents whose sums are held at a time, so that they stay in the processor's cache."""


@compiled
def best_documents(
    begins: IntVector,
    ends: IntVector,
    weights_of_terms: Vector,
    documents: NDArray[np.int32],
    weights: Vector,
    added: Vector,
    score: float,
    place: NDArray[np.int32],
    n_documents: int,
    k: int,
) -> tuple[IntVector, NDArray[np.float32]]:
    """Return the places of the k best of the documents with a term of a query, best first, and their scores.

    Scores are summed in float64, term after term, and compared in float32; equal ones by the place of the document.

    Parameters
    ----------
    begins, ends : where the postings of each term are, shape (m,).
    weights_of_terms : weight of each term, shape (m,).
    documents, weights : document of each posting, ascending within a term, and its weight, shape (n_postings,).
    added : what is added to the score of each document, shape (n_documents,) or, where that is nothing, (0,).
    score : what is added to all scores.
    place : place of each document in the order of ids, ascending, shape (n_documents,).
    n_documents : number of documents.
    k : how many documents, at most.
    """
    sums, found = np.zeros(_BLOCK), np.zeros(_BLOCK, np.bool_)
    heap_scores, heap_places = np.empty(k, np.float32), np.empty(k, np.int64)
    cursor = begins.copy()
    held = 0
    while True:
        first = n_documents
        for term in range(len(cursor)):
            if cursor[term] < ends[term]:
                first = min(first, documents[cursor[term]])
        if first == n_documents:
            break
        size = min(_BLOCK, n_documents - first)
        for term in range(len(cursor)):
            posting, end, factor = cursor[term], ends[term], weights_of_terms[term]
            while posting < end:
                document = documents[posting] - first
                if document >= size:
                    break
                sums[document] += factor * weights[posting]
                found[document] = True
                posting += 1
            cursor[term] = posting
        for document in range(size):
            if not found[document]:
                continue
            total = sums[document] + score
            if len(added):
                total += added[first + document]
            sums[document] = 0.0
            found[document] = False
            rounded = np.float32(total)
            if held == k and rounded < heap_scores[0]:
                continue
            here = np.int64(place[first + document])
            if held < k:
                _rise(heap_scores, heap_places, held, rounded, here)
                held += 1
            elif rounded > heap_scores[0] or here > heap_places[0]:
                _sink(heap_scores, heap_places, held, rounded, here)
    for last in range(held - 1, 0, -1):
        worst_score, worst_place = heap_scores[0], heap_places[0]
        _sink(heap_scores, heap_places, last, heap_scores[last], heap_places[last])
        heap_scores[last], heap_places[last] = worst_score, worst_place
    return heap_places[:held], heap_scores[:held]


@compiled
def _rise(scores: NDArray[np.float32], places: IntVector, at: int, score: np.float32, place: np.int64) -> None:
    """Put a document at the end of a heap whose worst is first, and let it rise."""
    while at > 0:
        above = (at - 1) >> 1
        if scores[above] < score or (scores[above] == score and places[above] < place):
            break
        scores[at], places[at] = scores[above], places[above]
        at = above
    scores[at], places[at] = score, place


@compiled
def _sink(scores: NDArray[np.float32], places: IntVector, size: int, score: np.float32, place: np.int64) -> None:
    """Put a document in place of the worst of a heap of this size, and let it sink."""
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and (
            scores[below + 1] < scores[below]
            or (scores[below + 1] == scores[below] and places[below + 1] < places[below])
        ):
            below += 1
        if score < scores[below] or (score == scores[below] and place < places[below]):
            break
        scores[at], places[at] = scores[below], places[below]
        at = below
    scores[at], places[at] = score, place
