"""The best interleaving of relevant documents with the others, compiled: three algorithms.

By dividing for costs that are concave, by dynamic programming for any, and by a programme above a cut-off with scores
alone below it.
"""

import numpy as np

from structsvm.compute.compilation import compiled_part
from structsvm.types import BoolVector, IntVector, Vector


@compiled_part
def split_by_dividing(costs: Vector, s: Vector, s_bar: Vector, scale: float) -> IntVector:
    """Return how many others are ahead of each relevant document.

    The others that are ahead of relevant k are the best j_k. Where ``costs`` is concave in j, the
    number of relevant documents that stay ahead of the j-th other one can be chosen for each j
    alone, and does not fall with j: halving the range of j halves the range of that number,
    O((R + N) log N) in all. It maximises ``Σ_{k>i} cost(k, j) − cost(k, j−1) + scale (s̄_j − s_k)``;
    among equals, the fewest are passed.

    Parameters
    ----------
    costs : ``cost(k, j)`` at ``j R + k − 1``, for j from 0 to N.
    s, s_bar : scores of the relevant documents and of the others, each descending.
    scale : ``2 / (R N)``.
    """
    R, N = len(s), len(s_bar)
    ahead = np.zeros(R, np.int64)
    stack = np.empty((64, 4), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, N, 0, R
    depth = 1
    while depth > 0:
        depth -= 1
        j_low, j_high, i_low, i_high = stack[depth]
        if j_low >= j_high:
            continue
        j = (j_low + j_high) // 2
        before = costs[j * R : (j + 1) * R]
        after = costs[(j + 1) * R : (j + 2) * R]
        value = 0.0
        best_value = 0.0
        best = i_high
        for i in range(i_high - 1, i_low - 1, -1):
            value += after[i] - before[i] + scale * (s_bar[j] - s[i])
            if value > best_value:
                best_value = value
                best = i
        if best < R:
            ahead[best] = max(ahead[best], j + 1)
        stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = j_low, j, i_low, best
        depth += 1
        stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = j + 1, j_high, best, i_high
        depth += 1
    for i in range(1, R):
        ahead[i] = max(ahead[i], ahead[i - 1])
    return ahead


@compiled_part
def split_by_programming(costs: Vector, s: Vector, s_bar: Vector, scale: float) -> IntVector:
    """Return how many others are ahead of each relevant document: O(R N).

    The parameters are those of `split_by_dividing`.
    """
    R, N = len(s), len(s_bar)
    _, chosen = best_placements(costs, R, R + N, s, s_bar, scale)
    ahead = np.empty(R, np.int64)
    trace(chosen, R, R, N, ahead)
    return ahead


@compiled_part
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
    s, s_bar, scale : as in `split_by_dividing`.

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


@compiled_part
def trace(chosen: BoolVector, columns: int, placed: int, j: int, ahead: IntVector) -> None:
    """Write the placement of the first documents that `best_placements` found with at most j others ahead."""
    k = placed - 1
    while k >= 0:
        if chosen[j * columns + k]:
            ahead[k] = j
            k -= 1
        else:
            j -= 1


@compiled_part
def split_by_truncating(costs: Vector, cutoff: int, s: Vector, s_bar: Vector, scale: float) -> IntVector:
    """Return how many others are ahead of each relevant document: O(K² + R + N) for a cut-off K < R + N.

    The relevant documents of the first K ranks are the first p. They are placed by
    dynamic programming over ``k + j <= K``. Every other one has at least ``K − p`` others ahead
    of it and costs the same wherever it is: it is passed by these, and by all with a larger
    score. All p are compared.

    Parameters
    ----------
    costs : ``cost(k, j)`` at ``j · columns + k − 1``, for k up to ``columns = min(R, K)`` and j up to
        ``min(N, K)``; where ``k + j > K``, what k costs beyond the cut-off.
    cutoff : K.
    s, s_bar, scale : as in `split_by_dividing`.
    """
    R, N = len(s), len(s_bar)
    columns = min(R, cutoff)
    best, chosen = best_placements(costs, columns, cutoff, s, s_bar, scale)

    ahead = np.empty(R, np.int64)
    others = np.zeros(N + 1)
    for j in range(N):
        others[j + 1] = others[j] + s_bar[j]
    j = 0
    for k in range(R):
        while j < N and s_bar[j] > s[k]:
            j += 1
        ahead[k] = j
    # sums over the documents from k on: of their scores, and of their values where scores alone place them
    score = np.zeros(R + 1)
    free = np.zeros(R + 1)
    for k in range(R - 1, -1, -1):
        score[k] = score[k + 1] + s[k]
        free[k] = free[k + 1] + scale * (others[ahead[k]] - ahead[k] * s[k])

    beyond = 0.0
    first = 0
    best_value = -np.inf
    most = columns
    for p in range(columns, max(0, cutoff - N) - 1, -1):
        least = cutoff - p
        if p < columns:
            beyond += costs[least * columns + p]
        while first < R and ahead[first] < least:
            first += 1
        q = max(first, p)
        value = beyond + free[q] + scale * ((q - p) * others[least] - least * (score[p] - score[q]))
        if p > 0:
            value += best[p - 1]
        if value > best_value:
            best_value = value
            most = p
    least = cutoff - most
    for k in range(most, R):
        ahead[k] = max(ahead[k], least)
    trace(chosen, columns, most, least, ahead)
    return ahead
