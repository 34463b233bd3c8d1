"""The loss for the area under the ROC curve."""

from typing import Any

import numpy as np
from attrs import frozen

from structsvm.foundation.compute.sorting import descending
from structsvm.foundation.types import Vector
from structsvm.losses.shared.relevance import PairwiseLoss
from structsvm.losses.shared.weighted_labels import WeightedLabels
from structsvm.metrics.ranking import rank_documents


def roc_area(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking, by ``s − ¼`` if relevant, else ``s + ¼``; return its loss.

    ``labels`` are weights of documents, negative if not relevant.
    """
    n = len(scores)
    shifted = np.empty(n)
    R = 0.0
    N = 0.0
    for document in range(n):
        label = labels[document]
        shifted[document] = scores[document] + (-0.25 if label > 0.0 else 0.25)
        R += max(label, 0.0)
        N -= min(label, 0.0)
    if R == 0.0 or N == 0.0:
        for document in range(n):
            out[document] = 0.0
        return 0.0

    scale = 2.0 / (R * N)
    others_ahead = 0.0
    relevant_behind = R
    swapped = 0.0
    order = descending(shifted)
    # Avoid a branch here: it would be unpredictable.
    for place in range(n):
        document = order[place]
        label = labels[document]
        relevant = max(label, 0.0)
        relevant_behind -= relevant
        swapped += others_ahead * relevant
        out[document] = scale * label * (others_ahead if label > 0.0 else relevant_behind)
        others_ahead += relevant - label
    return 0.5 * scale * swapped


@frozen
class ROCArea(PairwiseLoss):
    """One minus the area under the ROC curve: the share of pairs in the wrong order.

    The hinge is ``1/(RN) Σ max(0, 1 − 2(s_i − s_j))`` over the pairs of R relevant documents i and N others j
    (Joachims, "A Support Vector Method for Multivariate Performance Measures", ICML 2005, section 4.3). If documents
    have weights, each pair counts the product of both weights, as in scikit-learn's ``roc_auc_score``.

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
    takes_document_weights = True

    def labels(self, y: Any) -> Vector:
        """Return the weights of the documents, negative if they are not relevant."""
        signs = np.where(self.relevant(y), 1.0, -1.0)
        return signs * y.weights if isinstance(y, WeightedLabels) else signs

    def loss(self, y: Vector, y_hat: Vector) -> float:
        ranked = self.labels(y)[rank_documents(y_hat).order]
        relevant, other = np.maximum(ranked, 0.0), np.maximum(-ranked, 0.0)
        return float(relevant @ np.cumsum(other) / (relevant.sum() * other.sum() or 1.0))

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
