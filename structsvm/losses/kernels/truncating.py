"""The best interleaving for costs with a cut-off: a programme above it, and scores alone below."""

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.losses.kernels.programming import best_placements, trace
from structsvm.types import IntVector, Vector


@compiled
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
    s, s_bar : scores of the relevant documents and of the others, each descending.
    scale : ``2 / (R N)``.
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
