"""Average precision: SVM-map."""

import numpy as np
from attrs import frozen

from structsvm.losses.shared.kinds import by_kind
from structsvm.losses.shared.pairwise import PairwiseLoss
from structsvm.metrics.ranking import rank_documents
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


@frozen
class AveragePrecision(PairwiseLoss):
    """One minus average precision, for rankings: ``Δ = 1 − (1/R) Σ_k k / rank(k)``.

    Yue, Finley, Radlinski and Joachims, "A Support Vector Method for Optimizing Average
    Precision", SIGIR 2007. The compiled argmax takes O(n log n), the Python one O(R N) as
    in the paper's Algorithm 2.

    Parameters
    ----------
    relevant_from : smallest label of a relevant document; None: every label above 0.
    """

    kernel = staticmethod(average_precision)

    def params(self, ys: "list[Vector]") -> Vector:  # type: ignore[override]
        """Return the harmonic numbers h_0, h_1, ... up to the largest number of documents."""
        longest = max((len(y) for y in ys), default=0)
        return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, longest + 1))])

    def loss(self, y: Vector, y_hat: Vector) -> float:
        """Return one minus the average precision of ŷ; 0 without relevant documents."""
        ranks = np.flatnonzero(self.ranked_relevance(y, y_hat)) + 1
        k = np.arange(1, len(ranks) + 1)
        return float(np.mean(1.0 - k / ranks)) if len(ranks) else 0.0

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        """Return the ranking of Algorithm 2, with the factor 1/(RN) that equation (5) leaves out.

        Both kinds of document are sorted by score (Observation 1). For the j-th non-relevant
        one, ``change[i − 1, j − 1]`` is ``δ_j(i, R + 1)``: what it adds to ``Δ + w·Ψ`` to let
        it pass the relevant documents i to R. Each j is maximised alone (Theorem 2); among
        equals the fewest are passed, which is the one tie rule that the theorem needs.
        """
        order = rank_documents(scores).order
        relevant = self.relevant(y)[order]
        R, N = int(relevant.sum()), int((~relevant).sum())
        s, s_bar = scores[order[relevant]], scores[order[~relevant]]
        k, j = np.arange(1, R + 1)[:, None], np.arange(1, N + 1)
        step = (j / (j + k) - (j - 1) / (j + k - 1)) / R - 2 * (s[:, None] - s_bar) / (R * N)
        change = np.concatenate([np.cumsum(step[::-1], axis=0)[::-1], np.zeros((1, N))])
        first_passed = R - np.argmax(change[::-1], axis=0)

        ranking = np.empty(len(scores))
        ranking[order[relevant]] = -np.arange(R)
        ranking[order[~relevant]] = 0.5 - first_passed - 0.25 * j / (N + 1)
        return ranking
