"""The best interleaving for any costs, by dynamic programming."""

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.types import BoolVector, IntVector, Vector


@compiled
def split_by_programming(costs: Vector, s: Vector, s_bar: Vector, scale: float) -> IntVector:
    """Return how many others are ahead of each relevant document: O(R N).

    Parameters
    ----------
    costs : ``cost(k, j)`` at ``j R + k − 1``, for j from 0 to N.
    s, s_bar : scores of the relevant documents and of the others, each descending.
    scale : ``2 / (R N)``.
    """
    R, N = len(s), len(s_bar)
    _, chosen = best_placements(costs, R, R + N, s, s_bar, scale)
    ahead = np.empty(R, np.int64)
    trace(chosen, R, R, N, ahead)
    return ahead


@compiled
def best_placements(
    costs: Vector, columns: int, depth: int, s: Vector, s_bar: Vector, scale: float
) -> tuple[Vector, BoolVector]:
    """Place the first relevant documents, one after the other, each behind some of the others.

    ``best[k]``, for j others in turn, is the value of the best placement of the relevant documents
    0 to k with at most j others ahead: the better one of at most j − 1, and of exactly j with
    k − 1 placed before. Only ``k + j < depth`` is looked at, so that ``best[k]`` is left at
    ``j = min(N, depth − 1 − k)``.

    Parameters
    ----------
    costs : ``cost(k, j)`` at ``j · columns + k``, k from 0.
    columns : number of relevant documents that are placed, at most ``depth``.
    depth : number of ranks in which they are placed.
    s, s_bar, scale : as in `split_by_programming`.

    Returns
    -------
    ``best``, and at ``j · columns + k`` whether exactly j was better than fewer.
    """
    N = len(s_bar)
    rows = min(N + 1, depth)
    best = np.empty(columns)
    chosen = np.zeros(rows * columns, np.bool_)
    total = 0.0
    for j in range(rows):
        if j > 0:
            total += s_bar[j - 1]
        row = costs[j * columns : (j + 1) * columns]
        mark = chosen[j * columns : (j + 1) * columns]
        before = 0.0
        for k in range(min(columns, depth - j)):
            value = before + row[k] + scale * (total - j * s[k])
            if j == 0 or value > best[k]:
                best[k] = value
                mark[k] = True
            before = best[k]
    return best, chosen


@compiled
def trace(chosen: BoolVector, columns: int, placed: int, j: int, ahead: IntVector) -> None:
    """Write the placement of the first documents that `best_placements` found with at most j others ahead."""
    k = placed - 1
    while k >= 0:
        if chosen[j * columns + k]:
            ahead[k] = j
            k -= 1
        else:
            j -= 1
