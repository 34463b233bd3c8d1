"""The best interleaving of relevant and other documents, in compiled code.

Concave costs allow divide and conquer; other costs need dynamic programming; with a cut-off, scores alone place the
documents below it.
"""

import numpy as np

from structsvm.foundation.compute.compilation import compiled_part, inlined_part
from structsvm.foundation.types import BoolVector, IntVector, Vector


@compiled_part
def split_by_dividing(costs: Vector, s: Vector, s_bar: Vector, scale: float) -> IntVector:
    """Return the number of other documents ahead of each relevant document, for concave costs, O((R + N) log N).

    The number i of relevant documents ahead of the j-th other document does not fall with j and maximizes ``Σ_{k>i}
    cost(k, j) − cost(k, j−1) + scale (s̄_j − s_k)``, so halving j's range halves i's range. Among equal values, the
    smallest i wins. ``costs`` has ``cost(k, j)`` at ``j R + k − 1``; s and s_bar descend; ``scale`` is ``2 / (R N)``.
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


@inlined_part
def split_by_programming(costs: Vector, s: Vector, s_bar: Vector, scale: float) -> IntVector:
    """Return the number of other documents ahead of each relevant document, by dynamic programming in O(R N)."""
    R, N = len(s), len(s_bar)
    _, marks = best_placements(costs, R, R + N, s, s_bar, scale)
    ahead = np.empty(R, np.int64)
    trace(marks, R, R, N, ahead)
    return ahead


@compiled_part
def best_placements(
    costs: Vector, columns: int, depth: int, s: Vector, s_bar: Vector, scale: float
) -> tuple[Vector, BoolVector]:
    """Place the first ``columns`` relevant documents behind others in ``depth`` ranks; return values and marks.

    After j others, ``best[k]`` is the best value of the documents 0 to k with at most j ahead. A mark at ``j · columns
    + k``, the place of ``cost(k, j)`` in ``costs``, means that exactly j was better than fewer. Only ``k + j < depth``
    is considered.
    """
    N = len(s_bar)
    rows = min(N + 1, depth)
    best = np.empty(columns)
    marks = np.zeros(rows * columns, np.bool_)
    total = 0.0
    for j in range(rows):
        if j > 0:
            total += s_bar[j - 1]
        row = costs[j * columns : (j + 1) * columns]
        mark = marks[j * columns : (j + 1) * columns]
        before = 0.0
        for k in range(min(columns, depth - j)):
            value = before + row[k] + scale * (total - j * s[k])
            if j == 0 or value > best[k]:
                best[k] = value
                mark[k] = True
            before = best[k]
    return best, marks


@compiled_part
def trace(marks: BoolVector, columns: int, placed: int, j: int, ahead: IntVector) -> None:
    """Write the placement that `best_placements` found for the first documents with at most j others ahead."""
    k = placed - 1
    while k >= 0:
        if marks[j * columns + k]:
            ahead[k] = j
            k -= 1
        else:
            j -= 1


@compiled_part
def split_by_truncating(costs: Vector, cutoff: int, s: Vector, s_bar: Vector, scale: float) -> IntVector:
    """Return the number of others ahead of each relevant document for a cut-off K < R + N, in O(K² + R + N).

    The first p relevant documents are placed by dynamic programming over ``k + j <= K``, for each p. The rest have a
    fixed cost, so each is passed by the other ``K − p`` documents of the top and by all with a larger score. ``costs``
    has ``cost(k, j)`` at ``j · columns + k − 1`` for ``columns = min(R, K)`` and j up to ``min(N, K)``.
    """
    R, N = len(s), len(s_bar)
    columns = min(R, cutoff)
    best, marks = best_placements(costs, columns, cutoff, s, s_bar, scale)

    ahead = np.empty(R, np.int64)
    others = np.zeros(N + 1)
    for j in range(N):
        others[j + 1] = others[j] + s_bar[j]
    j = 0
    for k in range(R):
        while j < N and s_bar[j] > s[k]:
            j += 1
        ahead[k] = j
    # Sums over the documents from k on: of scores, and of values if scores alone place them.
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
    trace(marks, columns, most, least, ahead)
    return ahead
