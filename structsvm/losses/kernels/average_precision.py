"""The loss-augmented argmax of average precision, by divide and conquer."""

import numpy as np

from structsvm.losses.kernels.kinds import by_kind
from structsvm.types import Vector


def average_precision(scores: Vector, labels: Vector, harmonic: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking and return its loss.

    For the j-th best non-relevant document, ``first[j]`` is the number of relevant documents
    that stay ahead of it. The best one maximises ``δ_j(i) = T_j(i)/R − 2/(RN) Σ_{k>i} (s_k − s̄_j)``
    and does not decrease with j (Yue et al., 2007, Theorem 2), so that halving the range of j
    halves the range of i: O(n log n) in all. T is the sum of the changes in average precision,
    in closed form through harmonic numbers.
    """
    relevant, other = by_kind(scores, labels)
    R = len(relevant)
    N = len(other)
    out[:] = 0.0
    if R == 0 or N == 0:
        return 0.0

    below = np.zeros(R + 1)
    for i in range(R - 1, -1, -1):
        below[i] = below[i + 1] + scores[relevant[i]]

    first = np.empty(N, np.int64)
    stack = np.empty((64, 4), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, N, 0, R
    depth = 1
    while depth > 0:
        depth -= 1
        j_low, j_high, i_low, i_high = stack[depth]
        if i_low == i_high:
            first[j_low:j_high] = i_low
            continue
        j = (j_low + j_high) // 2
        score = scores[other[j]]
        rank = j + 1
        top = harmonic[R + rank - 1]
        best_value = -np.inf
        best = i_high
        for i in range(i_high, i_low - 1, -1):
            gain = (R - rank * (R - 1 - i)) / ((rank + i) * (R + rank)) + top - harmonic[i + rank]
            value = N * gain - 2.0 * (below[i] - (R - i) * score)
            if value > best_value:
                best_value = value
                best = i
        first[j] = best
        if j_low < j:
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = j_low, j, i_low, best
            depth += 1
        if j + 1 < j_high:
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = j + 1, j_high, best, i_high
            depth += 1

    scale = 2.0 / (R * N)
    loss = 0.0
    j = 0
    for i in range(R):
        while j < N and first[j] <= i:
            j += 1
        out[relevant[i]] = scale * j
        loss += j / (i + 1 + j)
    for j in range(N):
        out[other[j]] = -scale * (R - first[j])
    return loss / R
