"""The loss for the area under the ROC curve."""

import numpy as np
from attrs import frozen

from structsvm.foundation.compute.sorting import descending
from structsvm.foundation.types import Vector
from structsvm.losses.shared.relevance import PairwiseLoss


def roc_area(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking, by ``s − ¼`` if relevant, else ``s + ¼``; return its loss."""
    n = len(scores)
    shifted = np.empty(n)
    R = 0
    for document in range(n):
        relevant = labels[document] > 0.0
        shifted[document] = scores[document] + (-0.25 if relevant else 0.25)
        R += relevant
    N = n - R
    if R == 0 or N == 0:
        for document in range(n):
            out[document] = 0.0
        return 0.0

    scale = 2.0 / (R * N)
    others_ahead = 0
    relevant_behind = R
    swapped = 0
    order = descending(shifted)
    # Avoid a branch here: it would be unpredictable.
    for place in range(n):
        document = order[place]
        relevant = labels[document] > 0.0
        relevant_behind -= relevant
        swapped += others_ahead * relevant
        out[document] = scale * (others_ahead if relevant else -relevant_behind)
        others_ahead += not relevant
    return 0.5 * scale * swapped


@frozen
class ROCArea(PairwiseLoss):
    """One minus the area under the ROC curve: the share of pairs in the wrong order.

    Its hinge is ``1/(RN) Σ max(0, 1 − 2(s_i − s_j))`` over the pairs of a relevant i and a non-relevant j. Joachims, "A
    Support Vector Method for Multivariate Performance Measures", ICML 2005, section 4.3.

    Parameters
    ----------
    relevant_from : smallest label of a relevant document. Default: every label above 0 is relevant.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> Ranker("roc_area", C=10).fit([[1.0], [2.0]], [0, 1], qid=[1, 1]).result_.converged
    True
    """

    kernel = staticmethod(roc_area)

    def loss(self, y: Vector, y_hat: Vector) -> float:
        relevant = self.ranked_relevance(y, y_hat)
        pairs = relevant.sum() * (~relevant).sum()
        return float(np.cumsum(~relevant)[relevant].sum() / pairs) if pairs else 0.0

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        """Return the ranking that swaps a pair if and only if ``s_i − s_j < ½``."""
        return scores + np.where(self.relevant(y), -0.25, 0.25)

    def slack_rescaled_argmax(self, scores: Vector, y: Vector) -> Vector:
        """Return the ranking that swaps the m pairs of the smallest ``s_i − s_j``, with the best m: O(RN log RN).

        These pairs have the largest score of all sets of m pairs, and they form a ranking: each relevant document is
        behind the best other documents, as many as it loses to.
        """
        relevant = self.relevant(y)
        differences = (scores[relevant, None] - scores[~relevant]).ravel()
        pairs = len(differences)
        # Jitter breaks ties, because any number of equal pairs may be swapped.
        jitter = (0.6180339887 * np.arange(1, len(scores) + 1)) % 1.0
        order = np.lexsort([(jitter[relevant, None] - jitter[~relevant]).ravel(), differences])
        m = np.arange(pairs + 1)
        values = m * (1.0 - 2.0 / pairs * np.concatenate([[0.0], np.cumsum(differences[order])]))
        swapped = np.zeros(pairs, dtype=np.bool_)
        swapped[order[: int(np.argmax(values))]] = True
        ranking = np.empty(len(scores))
        ranking[np.flatnonzero(~relevant)[np.lexsort([jitter[~relevant], scores[~relevant]])[::-1]]] = -np.arange(
            np.count_nonzero(~relevant)
        )
        ranking[relevant] = 0.5 - swapped.reshape(np.count_nonzero(relevant), -1).sum(axis=1)
        return ranking
