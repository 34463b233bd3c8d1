"""The potentials of RankBoost: how strongly the weighted pairs push each document up or down."""

import numpy as np

from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.types import IntVector, Vector


@compiled
def write_graded_potentials(
    scores: Vector, groups: IntVector, queries: IntVector, log_weights: Vector, potentials: Vector
) -> float:
    """Write each document's weight of pairs to win minus to lose, over the total weight; return the total's log."""
    n, G = len(scores), len(groups) - 1
    rising, falling = np.empty(n), np.empty(n)
    as_better, as_worse = np.empty(G), np.empty(G)
    log_rising, log_falling = np.empty(G), np.empty(G)
    total = -np.inf
    for q in range(len(queries) - 1):
        first, last = queries[q], queries[q + 1] - 1
        below = -np.inf
        for g in range(first, last + 1):
            lowest, highest = np.inf, -np.inf
            for i in range(groups[g], groups[g + 1]):
                lowest, highest = min(lowest, scores[i]), max(highest, scores[i])
            if g > first:
                falls = 0.0
                for i in range(groups[g], groups[g + 1]):
                    falling[i] = np.exp(lowest - scores[i])
                    falls += falling[i]
                log_falling[g] = np.log(falls) - lowest
                as_better[g] = below - lowest + log_weights[q]
                total = _log_of_sum(total, below + log_falling[g] + log_weights[q])
            if g < last:
                rises = 0.0
                for i in range(groups[g], groups[g + 1]):
                    rising[i] = np.exp(scores[i] - highest)
                    rises += rising[i]
                log_rising[g] = highest + np.log(rises)
                below = _log_of_sum(below, log_rising[g])
                as_worse[g] = highest + log_weights[q]
        above = -np.inf
        for g in range(last, first, -1):
            above = _log_of_sum(above, log_falling[g])
            as_worse[g - 1] += above
    for q in range(len(queries) - 1):
        first, last = queries[q], queries[q + 1] - 1
        for g in range(first, last + 1):
            better = np.exp(as_better[g] - total) if g > first else 0.0
            worse = np.exp(as_worse[g] - total) if g < last else 0.0
            for i in range(groups[g], groups[g + 1]):
                potential = 0.0
                if g > first:
                    potential += better * falling[i]
                if g < last:
                    potential -= worse * rising[i]
                potentials[i] = potential
    return total


@compiled
def write_listed_potentials(
    scores: Vector, better: IntVector, worse: IntVector, log_weights: Vector, potentials: Vector
) -> float:
    """Write the potentials of P listed pairs of rows, shape (n,); return the log of their total weight."""
    logs = np.empty(len(better))
    largest = -np.inf
    for p in range(len(better)):
        logs[p] = log_weights[p] + scores[worse[p]] - scores[better[p]]
        largest = max(largest, logs[p])
    total = 0.0
    for p in range(len(better)):
        logs[p] = np.exp(logs[p] - largest)
        total += logs[p]
    potentials[:] = 0.0
    for p in range(len(better)):
        share = logs[p] / total
        potentials[better[p]] += share
        potentials[worse[p]] -= share
    return float(largest + np.log(total))


@compiled
def _log_of_sum(a: float, b: float) -> float:
    """Return the log of the sum of two numbers, given their logs."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))
