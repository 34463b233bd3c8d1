"""The weighted ranks of documents: the loss of learning from clicks, and from positives alone."""

from typing import Any

import numpy as np
from attrs import frozen

from structsvm.compute.sorting import descending
from structsvm.exceptions import InputError
from structsvm.losses.shared.judged_pairs import JudgedPairs
from structsvm.losses.shared.pair_encoding import SwappedPairsLoss
from structsvm.types import Matrix, Vector


def weighted_ranks(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated set of swapped pairs and return its loss.

    ``labels`` are the weights of the documents over n − 1. The pair of a weighted i and any other j is swapped where
    ``s_i − 1 < s_j``: one walk merges the documents by ``s − 1``, as the weighted of their pairs, with the documents
    by ``s``, as the others.
    """
    n = len(scores)
    order = descending(scores)
    left = 0.0
    for document in range(n):
        left += labels[document]
        out[document] = 0.0
    loss = 0.0
    passed = 0
    for place in range(n):
        weighted = order[place]
        while passed < n and scores[weighted] - 1.0 < scores[order[passed]]:
            other = order[passed]
            out[other] -= max(0.0, left - labels[other] if passed >= place else left)
            passed += 1
        ahead = passed - 1 if passed > place else passed
        out[weighted] += labels[weighted] * ahead
        loss += labels[weighted] * ahead
        left -= labels[weighted]
    return loss


@frozen
class WeightedRanks(SwappedPairsLoss):
    """The weighted sum of the shares of other documents that are ahead of each weighted one.

    The labels are weights v, not negative: how often a document was clicked over the propensity of the click, say, or 1
    for a document that is known to be relevant and 0 where nothing is known. The loss of a ranking is
    ``Δ = 1/(n − 1) Σ_i v_i (rank_i − 1)`` over the n documents of the query, linear in v: with weights whose mean is
    the relevance, its mean is that of full judgments. Its hinge is ``1/(n − 1) Σ_i v_i Σ_{j≠i} max(0, 1 − (s_i −
    s_j))``,
    that of propensity SVM-rank (Joachims, Swaminathan and Schnabel, "Unbiased learning-to-rank with biased feedback",
    WSDM 2017, section 5), but for the n − 1, which makes lists of all lengths count alike; query weights of
    n − 1 take it back. Two weighted documents make two pairs, one each way.

    ``Ψ(x, ŷ) = 1/(2(n − 1)) Σ_i v_i Σ_{j≠i} ŷ_ij (x_i − x_j)`` with ``ŷ_ij = −1`` where the pair is swapped and 1
    elsewhere, each pair for itself. An output is what documents lose by swapped pairs, shape (2, n): their own
    weights in those in which they are the weighted one, and those of the weighted ones in those in which they are the
    other, over n − 1. Or it is a ranking, shape (1, n): one number
    per document, larger is ahead, ties in document order. The truth, shape (n,), has no swapped pair, which no ranking
    attains where two documents have weights. The argmax takes O(n log n).

    Queries without a weight above 0, or of one document, are not usable.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> Ranker("weighted_ranks", C=10).fit([[1.0], [2.0]], [0.0, 1.5], qid=[1, 1]).predict([[3.0]]).item() > 0
    True
    """

    kernel = staticmethod(weighted_ranks)
    numeric_labels = True

    def labels(self, y: Vector) -> Vector:
        """Return the weights over n − 1."""
        return np.asarray(_weights(y) / max(1, len(y) - 1))

    def usable(self, y: Vector) -> bool:
        """Say whether some document has a weight, and another is there to be behind it.

        Raises
        ------
        InputError : when a weight is below 0.
        """
        weights = _weights(y)
        if (weights < 0.0).any():
            raise InputError(
                f"WeightedRanks reads labels as weights of documents, and {weights.min():g} is below 0: give 0 where "
                "nothing is known of a document"
            )
        return len(weights) > 1 and bool(weights.any())

    @property
    def why_unusable(self) -> str:
        """What to tell where no query can be learned from."""
        return (
            "none has two documents, one of them with a label above 0. Labels are the weights of documents, such as "
            "clicks over their propensities; check the labels and qid"
        )

    def pairs(self, y: Vector) -> JudgedPairs:
        """Return the pairs of a document with a weight and any other, the weight over n − 1 as share."""
        v = self.labels(y)
        better, worse = np.nonzero((v[:, None] > 0.0) & ~np.eye(len(v), dtype=bool))
        return JudgedPairs(len(v), better, worse, v[better])

    def swaps(self, scores: Vector, y: Vector, margin: float) -> Matrix:
        """Return the output that swaps the pairs with ``s_i − margin < s_j``."""
        v = self.labels(y)
        swapped = (scores[:, None] - margin < scores) & ~np.eye(len(scores), dtype=bool)
        return np.stack([v * swapped.sum(axis=1), v @ swapped])

    def swaps_of(self, y_hat: Any, y: Vector) -> Matrix:
        """Return an output as what documents lose by swapped pairs: nothing, for the truth."""
        given = np.asarray(y_hat, dtype=np.float64)
        if given.ndim == 1:
            return np.zeros((2, len(given)))
        return super().swaps_of(given[0] if len(given) == 1 else given, y)

    def argmax(self, scores: Vector) -> Matrix:
        """Return the scores as a ranking, shape (1, n): sorting by them maximises ``w·Ψ``."""
        return scores[None]


def _weights(y: Vector) -> Vector:
    return np.asarray(y, dtype=np.float64)
