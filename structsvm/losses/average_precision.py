"""Average precision: SVM-map."""

import numpy as np
from attrs import frozen

from structsvm.losses.kernels.average_precision import average_precision
from structsvm.losses.pairwise import PairwiseLoss
from structsvm.metrics.ranking import rank_documents
from structsvm.types import Vector


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
