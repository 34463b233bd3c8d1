"""Compiled: scores of each system scaled within each query. NaN is a missing score, stays one, and does not count."""

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.types import IntVector, Matrix, Vector


@compiled
def to_unit(scores: Matrix, ptr: IntVector) -> Matrix:
    """Return scores of which the smallest of a query and system is 0 and the largest 1; 0, if they are the same.

    Parameters
    ----------
    scores : the rows of each query together, shape (rows, m).
    ptr : where the rows of each query begin, shape (Q + 1,).
    """
    out, m = np.empty_like(scores), scores.shape[1]
    low, spread = np.empty(m), np.empty(m)
    for query in range(len(ptr) - 1):
        low[:] = np.inf
        spread[:] = -np.inf
        for row in range(ptr[query], ptr[query + 1]):
            for system in range(m):
                score = scores[row, system]
                if score < low[system]:
                    low[system] = score
                if score > spread[system]:
                    spread[system] = score
        for system in range(m):
            # Halves, since the difference of two large numbers may be infinite.
            low[system] *= 0.5
            spread[system] = 0.5 * spread[system] - low[system]
        _avoid_zeros(spread)
        for row in range(ptr[query], ptr[query + 1]):
            for system in range(m):
                out[row, system] = (0.5 * scores[row, system] - low[system]) / spread[system]
    return out


@compiled
def divide_by_sums(scores: Matrix, ptr: IntVector) -> None:
    """Divide the scores of each query and system by their sum, in place; leave them, if it is 0."""
    total, count = np.empty(scores.shape[1]), np.empty(scores.shape[1])
    for query in range(len(ptr) - 1):
        of_query = scores[ptr[query] : ptr[query + 1]]
        _add_up(of_query, total, count)
        _avoid_zeros(total)
        for row in range(len(of_query)):
            of_query[row] /= total


@compiled
def standardise(scores: Matrix, ptr: IntVector) -> None:
    """Shift the mean of each query and system to 0 and divide by the standard deviation, unless it is 0, in place."""
    total, count = np.empty(scores.shape[1]), np.empty(scores.shape[1])
    for query in range(len(ptr) - 1):
        of_query = scores[ptr[query] : ptr[query + 1]]
        _add_up(of_query, total, count)
        for row in range(len(of_query)):
            of_query[row] -= total / np.maximum(count, 1.0)
        _add_up(of_query * of_query, total, count)
        deviation = np.sqrt(total / np.maximum(count, 1.0))
        _avoid_zeros(deviation)
        for row in range(len(of_query)):
            of_query[row] /= deviation


@compiled
def _add_up(scores: Matrix, total: Vector, count: Vector) -> None:
    total[:] = 0.0
    count[:] = 0.0
    for row in range(len(scores)):
        for system in range(scores.shape[1]):
            score = scores[row, system]
            if not np.isnan(score):
                total[system] += score
                count[system] += 1.0


@compiled
def _avoid_zeros(divisors: Vector) -> None:
    """Replace by 1 what is not above 0, where all that is divided is 0 or missing."""
    for system in range(len(divisors)):
        if not divisors[system] > 0.0:
            divisors[system] = 1.0
