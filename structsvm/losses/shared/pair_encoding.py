"""What losses of pairs share: Ψ as a sum over the pairs of a better and a worse document, and which are swapped."""

from abc import abstractmethod
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np

from structsvm.losses.base import ScoreLoss
from structsvm.losses.shared.judged_pairs import JudgedPairs
from structsvm.metrics.ranking import rank_documents
from structsvm.types import Matrix, Vector


class PairEncoding(ScoreLoss[Any]):
    """Rankings, or sets of swapped pairs, encoded by the pairs p of a better document i and a worse j.

    ``Ψ(x, ŷ) = ½ Σ_p v_p ŷ_p (x_i − x_j)`` with the shares v_p of the pairs, and ``ŷ_p = −1`` where the pair is swapped
    and 1 elsewhere. It depends on no more than what documents lose by swapped pairs. So an output is that, shape
    (2, n): the shares of the swapped pairs in which each document is the better one, and of those in which it is the
    worse. Or it is a ranking: one number per document, larger is ahead, ties in document order.

    Derive from it and write `pairs`, and `swaps` where that can be had without a list of them.
    """

    @abstractmethod
    def pairs(self, y: Any) -> JudgedPairs:
        """Return the pairs of a query; their magnitudes are the shares."""

    def swaps(self, scores: Vector, y: Any, margin: float) -> Matrix:
        """Return the output that swaps the pairs with ``s_i − margin < s_j``."""
        pairs = self.pairs(y)
        return _summed(pairs, pairs.magnitude * (scores[pairs.better] - margin < scores[pairs.worse]))

    def swaps_of(self, y_hat: Any, y: Any) -> Matrix:
        """Return an output as what documents lose by swapped pairs, where it may be a ranking."""
        if np.ndim(y_hat) == 2:
            return np.asarray(y_hat, dtype=np.float64)
        order = rank_documents(y_hat).order
        standing = np.empty(len(order))
        standing[order] = -np.arange(len(order))
        return self.swaps(standing, y, 0.0)

    def encode(self, y_hat: Any, y: Any) -> Vector:
        """Return the coefficient of each document: half of the shares of its pairs, signed by who is ahead."""
        lost, won = self.swaps_of(y_hat, y)
        better, worse = self.swaps(np.zeros(len(lost)), y, np.inf)
        return np.asarray(0.5 * (better - worse) - lost + won)

    def argmax(self, scores: Vector) -> Any:
        """Return the scores: sorting by them maximises ``w·Ψ``."""
        return scores


def listed_pairs(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated set of swapped pairs and return its loss.

    ``labels`` holds the better documents of the pairs, then the worse ones, then the share of each.
    """
    pairs = len(labels) // 3
    out[:] = 0.0
    loss = 0.0
    for pair in range(pairs):
        better = int(labels[pair])
        worse = int(labels[pairs + pair])
        if scores[better] - 1.0 < scores[worse]:
            share = labels[2 * pairs + pair]
            out[better] += share
            out[worse] -= share
            loss += share
    return loss


class SwappedPairsLoss(PairEncoding):
    """The sum of the shares of swapped pairs, each of which is swapped or not for itself.

    The hinge is ``Σ_p v_p max(0, 1 − (s_i − s_j))``: that of the ranking SVM, with a weight for each pair. An output
    need not be a ranking: with three grades, 1 may be ahead of 2, 0 ahead of 1, and 2 ahead of 0.

    Derive from it and write `pairs`. The compiled argmax reads lists of pairs and takes O(n + P); write another
    ``kernel``, with its ``labels``, where the pairs need not be listed.
    """

    kernel = staticmethod(listed_pairs)

    def labels(self, y: Any) -> Vector:
        """Return the better documents, the worse ones, and the share of each pair."""
        pairs = self.pairs(y)
        return np.concatenate([pairs.better, pairs.worse, pairs.magnitude])

    def loss(self, y: Any, y_hat: Any) -> float:
        """Return the sum of the shares of swapped pairs."""
        return float(self.swaps_of(y_hat, y)[0].sum())

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Matrix:
        """Swap the pairs with ``s_i − s_j < 1``."""
        return self.swaps(scores, y, 1.0)

    def outputs(self, y: Any) -> Iterable[Matrix]:
        """Return all sets of swapped pairs."""
        pairs = self.pairs(y)
        return (_summed(pairs, pairs.magnitude * swapped) for swapped in product([0.0, 1.0], repeat=len(pairs)))


def _summed(pairs: JudgedPairs, shares: Vector) -> Matrix:
    """Sum a number of each pair over the pairs in which a document is the better one, and the worse."""
    return np.stack([np.bincount(ends, shares, pairs.documents) for ends in (pairs.better, pairs.worse)])
