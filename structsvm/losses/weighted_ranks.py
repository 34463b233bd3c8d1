"""The weighted ranks of documents: the loss of learning from clicks, and from positives alone."""

from collections.abc import Iterable
from itertools import product

import numpy as np
from attrs import frozen

from structsvm.compute.sorting import descending
from structsvm.exceptions import InputError
from structsvm.losses.base import ScoreLoss
from structsvm.metrics.ranking import rank_documents
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
class WeightedRanks(ScoreLoss[Matrix]):
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
    elsewhere, each pair for itself. Neither Ψ nor Δ depends on more than how many pairs a document
    loses. So an output is these numbers, shape (2, n): in how many swapped pairs each document is the weighted one,
    and what the weighted ones of those sum to in which it is the other. Or it is a ranking, shape (1, n): one number
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

    def encode(self, y_hat: Matrix, y: Vector) -> Vector:
        """Return the coefficient of each document: half of the weights of its pairs, signed by who is ahead."""
        v, swaps = self.labels(y), self._swaps(y_hat, y)
        n = len(v)
        return np.asarray(0.5 * (v * (n - 1) - (v.sum() - v)) - v * swaps[0] + swaps[1])

    def loss(self, y: Vector, y_hat: Matrix) -> float:
        """Return the weighted sum of the shares of documents that are ahead."""
        return float(self.labels(y) @ self._swaps(y_hat, y)[0])

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Matrix:
        """Return the numbers of the pairs with ``s_i − s_j < 1``, shape (2, n)."""
        return self._counts(scores, y, 1.0)

    def argmax(self, scores: Vector) -> Matrix:
        """Return the scores as a ranking, shape (1, n): sorting by them maximises ``w·Ψ``."""
        return scores[None]

    def outputs(self, y: Vector) -> Iterable[Matrix]:
        """Return the numbers of all sets of pairs: 2 to the power of the number of pairs."""
        v, n = self.labels(y), len(y)
        weighted, other = np.nonzero((v[:, None] > 0.0) & ~np.eye(n, dtype=bool))
        for swapped in product([0.0, 1.0], repeat=len(weighted)):
            yield np.stack([np.bincount(weighted, swapped, n), np.bincount(other, swapped * v[weighted], n)])

    def _swaps(self, y_hat: Matrix, y: Vector) -> Matrix:
        """Return how many pairs each document loses as the weighted one, and the weights of those it wins as the other.

        The weights are those of `labels`.
        """
        given = np.asarray(y_hat, dtype=np.float64)
        if given.ndim == 1:
            return np.zeros((2, len(given)))
        if len(given) == 2:
            return given
        order = rank_documents(given[0]).order
        standing = np.empty(len(order))
        standing[order] = -np.arange(len(order))
        return self._counts(standing, y, 0.0)

    def _counts(self, scores: Vector, y: Vector, margin: float) -> Matrix:
        v = self.labels(y)
        swapped = (scores[:, None] - margin < scores) & ~np.eye(len(scores), dtype=bool) & (v[:, None] > 0.0)
        return np.stack([swapped.sum(axis=1), v @ swapped])


def _weights(y: Vector) -> Vector:
    return np.asarray(y, dtype=np.float64)
