"""Pairs of a better and a worse document, losses with Ψ as a sum over pairs, and outputs as swapped pairs."""

from abc import abstractmethod
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
from attrs import cmp_using, field, frozen

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import at_least
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.losses.base import RankedByScore
from structsvm.metrics.ranking import rank_documents

_SAME = cmp_using(eq=np.array_equal)


def _documents(values: Any) -> IntVector:
    numbers(values, "documents of pairs", "document numbers, integers from 0")
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"documents of pairs must be document numbers, integers from 0; they are {array.dtype}")
    return array.astype(np.int64)


def magnitudes(values: Any) -> Vector:
    """Return the magnitudes of pairs as float64; reject values that are not real numbers."""
    return numbers(values, "magnitudes")


@frozen
class JudgedPairs:
    """Pairs of a better and a worse document of one query: the true output of `PreferencePairs`.

    Parameters
    ----------
    documents : number of documents in the query.
    better, worse : indices of the better and the worse document of each pair, from 0, shape (P,); a pair has two
        different documents.
    magnitude : weight of each pair, above 0, shape (P,).

    Examples
    --------
    >>> from structsvm.losses import PreferencePairs
    >>> pairs = JudgedPairs(3, better=[2, 1], worse=[1, 0], magnitude=[1.0, 3.0])
    >>> PreferencePairs().loss(pairs, [2.0, 1.0, 3.0])  # the pair (1, 0), which counts 3 of 4, is swapped
    0.75
    """

    documents: int = field(validator=at_least(0))
    better: IntVector = field(converter=_documents, eq=_SAME, hash=False)
    worse: IntVector = field(converter=_documents, eq=_SAME, hash=False)
    magnitude: Vector = field(converter=magnitudes, eq=_SAME, hash=False)

    def __attrs_post_init__(self) -> None:
        if not self.better.shape == self.worse.shape == self.magnitude.shape == (len(self),):
            raise InputError(
                "better, worse and magnitude must be vectors of equal length, got shapes "
                f"{self.better.shape}, {self.worse.shape} and {self.magnitude.shape}"
            )
        in_range = (np.minimum(self.better, self.worse) >= 0) & (np.maximum(self.better, self.worse) < self.documents)
        positive = np.isfinite(self.magnitude) & (self.magnitude > 0.0)
        right = in_range & (self.better != self.worse) & positive
        if not right.all():
            pair = int(np.argmin(right))
            raise InputError(
                f"pair {pair} ({self.better[pair]}, {self.worse[pair]}, {self.magnitude[pair]:g}) must join two "
                f"different documents from 0 to {self.documents - 1}, with a positive finite magnitude"
            )

    def __len__(self) -> int:
        return self.better.size


class PairEncoding(RankedByScore):
    """Encode rankings, or sets of swapped pairs, by the pairs p of a better document i and a worse j.

    ``Ψ(x, ŷ) = ½ Σ_p v_p ŷ_p (x_i − x_j)`` with the shares v_p of the pairs, and ``ŷ_p = −1`` if the pair is swapped,
    else 1. Outputs are described in `GradedPairsLoss`. Derived classes define `pairs`, and `swaps` if it can be
    computed without a list of pairs.
    """

    @abstractmethod
    def pairs(self, y: Any) -> JudgedPairs:
        """Return the pairs of a query; their magnitudes are the shares."""

    def swaps(self, scores: Vector, y: Any, margin: float) -> Matrix:
        """Return the output that swaps the pairs with ``s_i − margin < s_j``."""
        pairs = self.pairs(y)
        return _summed(pairs, pairs.magnitude * (scores[pairs.better] - margin < scores[pairs.worse]))

    def swaps_of(self, y_hat: Any, y: Any) -> Matrix:
        """Return an output or a ranking as shares of swapped pairs, shape (2, n)."""
        if np.ndim(y_hat) == 2:
            return np.asarray(y_hat, dtype=np.float64)
        order = rank_documents(y_hat).order
        standing = np.empty(len(order))
        standing[order] = -np.arange(len(order))
        return self.swaps(standing, y, 0.0)

    def encode(self, y_hat: Any, y: Any) -> Vector:
        """Return each document's coefficient: half the shares of its pairs, positive in pairs in which it is ahead."""
        lost, won = self.swaps_of(y_hat, y)
        better, worse = self.swaps(np.zeros(len(lost)), y, np.inf)
        return np.asarray(0.5 * (better - worse) - lost + won)


def listed_pairs(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated set of swapped pairs and return its loss.

    ``labels`` contains the better documents of the pairs, then the worse ones, then the shares.
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
    """The sum of the shares of swapped pairs, each swapped independently: outputs need not be rankings.

    The hinge is ``Σ_p v_p max(0, 1 − (s_i − s_j))``, as in the ranking SVM, with a weight per pair. The compiled argmax
    reads a list of pairs in O(n + P).
    """

    kernel = staticmethod(listed_pairs)

    def labels(self, y: Any) -> Vector:
        """Return the better documents, the worse ones, and the share of each pair."""
        pairs = self.pairs(y)
        return np.concatenate([pairs.better, pairs.worse, pairs.magnitude])

    def loss(self, y: Any, y_hat: Any) -> float:
        return float(self.swaps_of(y_hat, y)[0].sum())

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Matrix:
        return self.swaps(scores, y, 1.0)

    def outputs(self, y: Any) -> Iterable[Matrix]:
        """Return all sets of swapped pairs."""
        pairs = self.pairs(y)
        return (_summed(pairs, pairs.magnitude * swapped) for swapped in product([0.0, 1.0], repeat=len(pairs)))


def _summed(pairs: JudgedPairs, shares: Vector) -> Matrix:
    """Sum numbers of pairs for each document, over pairs in which it is better and in which it is worse; (2, n)."""
    return np.stack([np.bincount(ends, shares, pairs.documents) for ends in (pairs.better, pairs.worse)])
