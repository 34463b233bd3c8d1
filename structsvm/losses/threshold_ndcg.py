"""Normalised discounted cumulative gain for grades, as a sum over thresholds between them."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product

import numpy as np
from attrs import field, frozen
from attrs.validators import optional

from structsvm.losses.base import ScoreLoss
from structsvm.losses.cost_tables import pack
from structsvm.losses.kernels.thresholds import thresholds
from structsvm.losses.pairwise_ndcg import PairwiseNDCG
from structsvm.metrics.discounts import Discount, Gain, discounts, gains
from structsvm.settings import at_least, one_of
from structsvm.types import IntVector, Matrix, Vector


@frozen
class ThresholdNDCG(ScoreLoss[Matrix]):
    """One minus NDCG of graded documents, encoded by pairs at each threshold: what `NDCG` is for grades.

    Threshold t makes documents relevant that gain at least g_t, the t-th smallest of the gains in
    the query above the least, g_0. DCG is linear in the gains, so that
    ``NDCG(ŷ) = ω_0 + Σ_t ω_t NDCG_t(ŷ)`` with the binary NDCG_t of `PairwiseNDCG`,
    ``ω_t = (g_t − g_{t−1}) ideal_t / ideal``, and ω_0 for what all documents gain. With
    ``Ψ(x, ŷ) = Σ_t ω_t Ψ_t(x, ŷ_t)`` over the pairs of each threshold, the hinge is the sum of ω_t
    times the hinges of binary NDCG: each has a maximiser ŷ_t of its own.

    An output is thus one ranking for each of the T thresholds, shape (T, n), or one ranking for
    all of them, shape (n,). The truth and the prediction are of the second kind, so that the
    hinge bounds the loss of the prediction. Of a query with two gains, of which one is 0, loss and
    encoding are those of `PairwiseNDCG`. Queries whose documents gain all the same are not usable.

    Parameters
    ----------
    k, discount, gain : as in `NDCG`.
    """

    k: int | None = field(default=None, validator=optional(at_least(1)))
    discount: Discount = field(default="standard", kw_only=True, validator=one_of("standard", "letor"))
    gain: Gain = field(default="exponential", kw_only=True, validator=one_of("exponential", "linear"))

    kernel = staticmethod(thresholds)

    def labels(self, y: Vector) -> Vector:
        """Return the weights of the thresholds and, behind them, how many of these each document reaches."""
        weights, level = self._levels(y)
        return np.concatenate([weights, level])

    def params(self, ys: Sequence[Vector]) -> Vector:
        """Return the tables of costs for the thresholds of all queries."""
        binary = self._binary
        shapes = {
            (len(y) - int(others), int(others))
            for y in ys
            for others in np.cumsum(np.unique(self._gains(y), return_counts=True)[1])[:-1]
        }
        return pack(binary.title, binary.cost, shapes, binary.cutoff)

    def usable(self, y: Vector) -> bool:
        """Say whether some documents gain more than others."""
        gain = self._gains(y)
        return len(gain) > 0 and bool(gain.max() > gain.min())

    def encode(self, y_hat: Matrix, y: Vector) -> Vector:
        """Return the weighted sum of the pairwise encodings."""
        weights, reached = self._thresholds(y)
        rankings = np.broadcast_to(y_hat, reached.shape)
        codes = [self._binary.encode(*each) for each in zip(rankings, reached, strict=True)]
        return np.asarray(weights @ np.reshape(codes, reached.shape))

    def loss(self, y: Vector, y_hat: Matrix) -> float:
        """Return the weighted sum of the binary losses; one minus NDCG of ŷ, where ŷ is one ranking."""
        weights, reached = self._thresholds(y)
        rankings = np.broadcast_to(y_hat, reached.shape)
        return float(weights @ [self._binary.loss(*each) for each in zip(reached, rankings, strict=True)])

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Matrix:
        """Return the most violated ranking for each threshold, shape (T, n)."""
        reached = self._thresholds(y)[1]
        rankings = [self._binary.loss_augmented_argmax(scores, relevant) for relevant in reached]
        return np.reshape(rankings, reached.shape)

    def argmax(self, scores: Vector) -> Vector:
        """Return the scores: sorting by them maximises ``w·Ψ_t`` for all thresholds at once."""
        return scores

    def outputs(self, y: Vector) -> Iterable[Matrix]:
        """Return all combinations of rankings, one for each threshold, of which no two are encoded alike."""
        reached = self._thresholds(y)[1]
        distinct = [
            {self._binary.encode(ranking, relevant).tobytes(): ranking for ranking in self._binary.outputs(relevant)}
            for relevant in reached
        ]
        return (np.reshape(each, reached.shape) for each in product(*(codes.values() for codes in distinct)))

    @property
    def _binary(self) -> PairwiseNDCG:
        return PairwiseNDCG(self.k, discount=self.discount)

    def _gains(self, y: Vector) -> Vector:
        return gains(np.asarray(y, dtype=np.float64), self.gain)

    def _levels(self, y: Vector) -> tuple[Vector, IntVector]:
        """Return ω, shape (T,), and how many thresholds each document reaches, shape (n,)."""
        values, level, counts = np.unique(self._gains(y), return_inverse=True, return_counts=True)
        n = len(level)
        ideal = _ideals(1 << max(n - 1, 0).bit_length(), self.discount, self.k)
        parts = np.diff(values) * ideal[n - 1 - np.cumsum(counts)[:-1]]
        return parts / (values[0] * ideal[n - 1] + parts.sum()), level

    def _thresholds(self, y: Vector) -> tuple[Vector, Matrix]:
        """Return ω, shape (T,), and 1 where a document reaches a threshold, 0 elsewhere, shape (T, n)."""
        weights, level = self._levels(y)
        return weights, (level > np.arange(len(weights))[:, None]).astype(np.float64)


@lru_cache(maxsize=64)
def _ideals(ranks: int, discount: Discount, k: int | None) -> Vector:
    """Return the ideal DCG of 1, 2, ... relevant documents, shape (ranks,)."""
    ideals = np.cumsum(discounts(ranks, discount, k))
    ideals.flags.writeable = False
    return ideals
