"""The loss-augmented argmax of what counts the relevant documents in the top k."""

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.compute.sorting import descending
from structsvm.types import Vector


@compiled
def missed_in_top(scores: Vector, labels: Vector, k: int, cost: float, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking and return its loss, ``cost`` a relevant document missed.

    The ranking by score has the largest ``w·Ψ``; more hits than it has would lower the loss
    too. So relevant documents leave the top k one by one, the worst first, each for the best
    of the others below. What a pair adds to ``w·Ψ`` falls with each exchange by
    ``2/(RN)`` times the scores in the wrong order that it makes, which is no less at each
    exchange than at the one before: the first that costs more than it brings ends the search.
    """
    order = descending(scores)
    n = len(scores)
    R = 0
    for document in range(n):
        if labels[document] > 0.0:
            R += 1
    N = n - R
    out[:] = 0.0
    if R == 0 or N == 0:
        return 0.0

    relevant = np.empty(R, np.int64)
    other = np.empty(N, np.int64)
    others_before = np.empty(R, np.int64)
    relevant_before = np.empty(N, np.int64)
    relevant_sum = np.zeros(R + 1)
    other_sum = np.zeros(N + 1)
    depth = min(k, n)
    hits = 0
    i = 0
    j = 0
    for document in order:
        if labels[document] > 0.0:
            relevant[i] = document
            others_before[i] = j
            relevant_sum[i + 1] = relevant_sum[i] + scores[document]
            i += 1
        else:
            other[j] = document
            relevant_before[j] = i
            other_sum[j + 1] = other_sum[j] + scores[document]
            j += 1
        if i + j == depth:
            hits = i

    scale = 2.0 / (R * N)
    others = depth - hits
    while hits > 0 and others < N:
        out_score = scores[relevant[hits - 1]]
        in_score = scores[other[others]]
        first = others_before[hits - 1]
        last = relevant_before[others]
        passed = (others + 1 - first) * out_score - (other_sum[others + 1] - other_sum[first])
        passing = relevant_sum[last] - relevant_sum[hits] - (last - hits) * in_score
        if scale * (passed + passing) >= cost:
            break
        hits -= 1
        others += 1

    others_ahead = 0
    relevant_behind = R
    for below in range(2):
        i = 0
        j = 0
        for document in order:
            if labels[document] > 0.0:
                if (i >= hits) == (below == 1):
                    relevant_behind -= 1
                    out[document] = scale * others_ahead
                i += 1
            else:
                if (j >= others) == (below == 1):
                    others_ahead += 1
                    out[document] = -scale * relevant_behind
                j += 1
    return cost * (min(k, R) - hits)
