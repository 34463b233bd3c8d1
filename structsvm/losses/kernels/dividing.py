"""The best interleaving for costs that are concave: each other document is placed alone."""

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.types import IntVector, Vector


@compiled
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
