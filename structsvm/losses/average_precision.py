"""The loss for average precision: SVM-map."""

import numpy as np
from attrs import frozen

from structsvm.foundation.types import Vector
from structsvm.losses.shared.relevance import PairwiseLoss, by_kind
from structsvm.metrics.ranking import rank_documents


def average_precision(scores: Vector, labels: Vector, harmonic: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking and return its loss: O(n + R log N) after the sort.

    The j-th best non-relevant document has i relevant documents ahead. The best i maximizes ``δ_j(i) = T_j(i)/R −
    2/(RN) Σ_{k>i} (s_k − s̄_j)`` and does not decrease with j (Yue et al., 2007, Theorem 2). For i < t, ``δ_j(i) −
    δ_j(t)`` falls with j, so each i, from R down, is optimal for some of the first j or for none; bisection finds how
    many. ``T_j(i) − T_j(t) = h_{j+t−1} − h_{j+i−1} − j (t − i) / ((j + t) (j + i))`` with harmonic numbers h.
    """
    relevant, other = by_kind(scores, labels)
    R = len(relevant)
    N = len(other)
    if R == 0 or N == 0:
        for document in range(R + N):
            out[document] = 0.0
        return 0.0

    below = np.empty(R + 1)
    below[R] = 0.0
    for i in range(R - 1, -1, -1):
        below[i] = below[i + 1] + scores[relevant[i]]

    # A stack: the top entry is optimal for the first j, up to its end.
    best, end = np.empty(R + 1, np.int64), np.empty(R + 1, np.int64)
    best[0], end[0] = R, N
    depth = 1
    half = 0.5 * N
    for i in range(R - 1, -1, -1):
        first = 0
        while depth > 0:
            t, last = best[depth - 1], end[depth - 1]
            passed, lead = t - i, below[i] - below[t]
            # Test the last j first, then bisect.
            step = left = last - first
            while left > 0:
                j = first + step
                denominator = float((j + t) * (j + i))
                gain = (harmonic[j + t - 1] - harmonic[j + i - 1]) * denominator - j * passed
                if half * gain > (lead - passed * scores[other[j - 1]]) * denominator:
                    first += step
                    left -= step
                else:
                    left = step - 1
                step = (left + 1) >> 1
            if first < last:
                break
            depth -= 1
        if first > 0:
            best[depth], end[depth] = i, first
            depth += 1

    scale = 2.0 / (R * N)
    loss = 0.0
    i, j = 0, 0
    while depth > 0:
        depth -= 1
        for k in range(i, best[depth]):
            out[relevant[k]] = scale * j
            loss += j / (k + 1 + j)
        i = best[depth]
        for k in range(j, end[depth]):
            out[other[k]] = -scale * (R - i)
        j = end[depth]
    for k in range(i, R):
        out[relevant[k]] = scale * N
        loss += N / (k + 1 + N)
    return loss / R


@frozen
class AveragePrecision(PairwiseLoss):
    """One minus average precision: ``Δ = 1 − (1/R) Σ_k k / rank(k)``; the k-th of R relevant documents has rank(k).

    Yue, Finley, Radlinski and Joachims, "A Support Vector Method for Optimizing Average Precision", SIGIR 2007. The
    compiled argmax takes O(n log n) for n documents; the Python one, the paper's Algorithm 2, takes O(R (n − R)).

    Parameters
    ----------
    relevant_from : smallest label of a relevant document. Default: every label above 0 is relevant.

    Examples
    --------
    >>> AveragePrecision().loss(np.array([1.0, 0.0]), np.array([1, 0]))
    0.0
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

        Both kinds of document are sorted by score (Observation 1). ``change[i − 1, j − 1]`` is ``δ_j(i, R + 1)``: the
        gain in ``Δ + w·Ψ`` if the j-th non-relevant document passes the relevant documents i to R. Each j is maximized
        separately (Theorem 2); ties pass the fewest documents, as the theorem requires.
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
