"""The loss for clicks and for positive-only labels: weighted ranks of documents."""

from typing import Any

import numpy as np
from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.foundation.compute.sorting import descending
from structsvm.foundation.types import Matrix, Vector
from structsvm.losses.shared.graded_pairs import graded
from structsvm.losses.shared.pairs import JudgedPairs, SwappedPairsLoss
from structsvm.losses.shared.weighted_labels import weights_of


def weighted_ranks(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated set of swapped pairs, with ``s_i − 1 < s_j``, and return its loss.

    ``labels`` are weights divided by n − 1. One pass merges documents by ``s − 1``, as weighted ones, with documents by
    ``s``.
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
    """The loss for clicks: the sum, over documents, of a document's weight times the share of others ahead of it.

    Labels are non-negative weights v, such as the number of clicks on a document divided by the click's propensity; or
    1 for a document known to be relevant and 0 if unknown. The loss of a ranking is
    ``Δ = 1/(n − 1) Σ_i v_i (rank_i − 1)`` over the n documents of the query. It is linear in v, so an unbiased v makes
    an unbiased loss. The hinge is ``1/(n − 1) Σ_i v_i Σ_{j≠i} max(0, 1 − (s_i − s_j))``, as in propensity SVM-rank
    (Joachims, Swaminathan and Schnabel, "Unbiased learning-to-rank with biased feedback", WSDM 2017, section 5), but
    divided by n − 1, so that lists of all lengths count equally. Query weights of n − 1 undo the division.

    ``Ψ(x, ŷ) = 1/(2(n − 1)) Σ_i v_i Σ_{j≠i} ŷ_ij (x_i − x_j)`` with ``ŷ_ij = −1`` if the pair is swapped, else 1. Pairs
    are swapped independently; two weighted documents make two pairs, one each way. An output has shape (2, n): row 0
    sums ``v_i / (n − 1)`` over the swapped pairs that have the document as i, row 1 over the pairs that have it as j.
    Or it is a ranking, shape (1, n): one number per document, larger is ahead, ties in document order. The truth, shape
    (n,), has no swapped pairs. No ranking attains it if two documents have weights. The argmax takes O(n log n).

    Queries without a positive weight, or with one document, are not usable.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> Ranker("weighted_ranks", C=10).fit([[1.0], [2.0]], [0.0, 1.5], qid=[1, 1]).predict([[3.0]]).item() > 0
    True
    """

    kernel = staticmethod(weighted_ranks)
    numeric_labels = True
    takes_document_weights = True
    why_unusable = (
        "none has two documents, one of them with a label above 0. Labels are the weights of documents, such as clicks "
        "over their propensities; check the labels and qid"
    )

    def labels(self, y: Vector) -> Vector:
        """Return the labels times the weights of documents, divided by n − 1."""
        return np.asarray(graded(y) * weights_of(y) / max(1, len(y) - 1))

    def usable(self, y: Vector) -> bool:
        """Return True if some document has a weight and there is another document."""
        weights = graded(y)
        if (weights < 0.0).any():
            raise InputError(
                f"WeightedRanks reads labels as weights of documents, but {weights.min():g} is below 0: give 0 to "
                "documents without information"
            )
        return len(weights) > 1 and bool(self.labels(y).any())

    def pairs(self, y: Vector) -> JudgedPairs:
        """Return the pairs of a weighted document and any other document; the share is the weight divided by n − 1."""
        v = self.labels(y)
        better, worse = np.nonzero((v[:, None] > 0.0) & ~np.eye(len(v), dtype=bool))
        return JudgedPairs(len(v), better, worse, v[better])

    def swaps(self, scores: Vector, y: Vector, margin: float) -> Matrix:
        v = self.labels(y)
        swapped = (scores[:, None] - margin < scores) & ~np.eye(len(scores), dtype=bool)
        return np.stack([v * swapped.sum(axis=1), v @ swapped])

    def swaps_of(self, y_hat: Any, y: Vector) -> Matrix:
        values = np.asarray(y_hat, dtype=np.float64)
        if values.ndim == 1:
            return np.zeros((2, len(values)))
        return super().swaps_of(values[0] if len(values) == 1 else values, y)

    def argmax(self, scores: Vector) -> Matrix:
        """Return the scores as a ranking, shape (1, n): sorting by them maximizes ``w·Ψ``."""
        return scores[None]
