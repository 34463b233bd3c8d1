"""Count the documents ahead of and behind each document, compiled."""

import numpy as np
from numpy.typing import NDArray

from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.compute.sorting import descending
from structsvm.foundation.types import IntVector, Matrix


@compiled
def places(scores: Matrix, ahead: NDArray[np.int32], behind: NDArray[np.int32]) -> None:
    """Count, for each document of a query, those strictly ahead and behind, shape (m, N); NaN ranks last, tied."""
    N, m = scores.shape
    rows, values = np.empty(N, np.int64), np.empty(N, np.float64)
    for system in range(m):
        ranked = 0
        for row in range(N):
            score = scores[row, system]
            if not np.isnan(score):
                rows[ranked] = row
                values[ranked] = score
                ranked += 1
        order = descending(values[:ranked])
        first = 0
        while first < ranked:
            last = first + 1
            while last < ranked and values[order[last]] == values[order[first]]:
                last += 1
            for place in range(first, last):
                row = rows[order[place]]
                ahead[system, row] = first
                behind[system, row] = N - last
            first = last
        for row in range(N):
            if np.isnan(scores[row, system]):
                ahead[system, row] = ranked
                behind[system, row] = 0


@compiled
def count_places(scores: Matrix, ptr: IntVector) -> tuple[IntVector, IntVector]:
    """Sum the numbers of documents ahead of and behind each over systems; shape (rows,) each, rows grouped by query."""
    rows, m = scores.shape
    ahead, behind = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    for query in range(len(ptr) - 1):
        start, stop = ptr[query], ptr[query + 1]
        of_systems = np.empty((2, m, stop - start), np.int32)
        places(scores[start:stop], of_systems[0], of_systems[1])
        for system in range(m):
            for row in range(stop - start):
                ahead[start + row] += of_systems[0, system, row]
                behind[start + row] += of_systems[1, system, row]
    return ahead, behind


@compiled
def count_higher(scores: Matrix, ptr: IntVector) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Count the higher scores and the scores that are not NaN for each score of a query, in the same shape."""
    m = scores.shape[1]
    higher, retrieved = np.empty(scores.shape, np.int32), np.empty(scores.shape, np.int32)
    for query in range(len(ptr) - 1):
        start, stop = ptr[query], ptr[query + 1]
        ahead, behind = np.empty((m, stop - start), np.int32), np.empty((m, stop - start), np.int32)
        places(scores[start:stop], ahead, behind)
        higher[start:stop] = ahead.T
        for system in range(m):
            retrieved[start:stop, system] = stop - start - np.sum(np.isnan(scores[start:stop, system]))
    return higher, retrieved
