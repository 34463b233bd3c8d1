"""Normalised discounted cumulative gain for grades."""

from collections.abc import Iterable, Sequence
from itertools import permutations

import numpy as np
from attrs import field, frozen
from attrs.validators import optional

from structsvm.losses.base import ScoreLoss
from structsvm.losses.kernels.position import position
from structsvm.metrics.discounts import Discount, Gain, discounts, gains
from structsvm.metrics.ranking import rank_documents
from structsvm.settings import at_least, one_of
from structsvm.types import Vector


@frozen
class PositionNDCG(ScoreLoss[Vector]):
    """One minus NDCG of graded documents, encoded by the discounts of their positions: `NDCG(encoding="position")`.

    ``Ψ(x, ŷ) = Σ_i d(rank of i in ŷ) x_i`` with the discount d of a rank, 0 beyond the cut-off.
    Documents of equal value in ŷ share the mean of their discounts: this is how the grades of the
    truth are encoded, which is then between the encodings of the rankings that sort by grade.

    ``Δ + w·Ψ(x, ŷ) = 1 + Σ_i (s_i − gain_i / ideal) d(rank_i)``, and d does not grow with the rank, so
    that sorting by ``s_i − gain_i / ideal`` maximises it (rearrangement inequality): O(n log n). The
    hinge is 0 only where the scores of a grade coincide. Queries whose documents gain all the same
    are not usable.

    Parameters
    ----------
    k, discount, gain : as in `NDCG`.
    """

    k: int | None = field(default=None, validator=optional(at_least(1)))
    discount: Discount = field(default="standard", kw_only=True, validator=one_of("standard", "letor"))
    gain: Gain = field(default="exponential", kw_only=True, validator=one_of("exponential", "linear"))

    kernel = staticmethod(position)

    def labels(self, y: Vector) -> Vector:
        """Return ``c(y)`` and the gain of each document over the ideal DCG."""
        return np.concatenate([self.encode(y, y), self._gains(y)])

    def params(self, ys: Sequence[Vector]) -> Vector:
        """Return the discounts up to the largest number of documents."""
        return self._discounts(max((len(y) for y in ys), default=0))

    def usable(self, y: Vector) -> bool:
        """Say whether some documents gain more than others."""
        gain = gains(_grades(y), self.gain)
        return bool(gain.max() > gain.min())

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        """Return the discount of the position of each document, the mean of them for equal values of ŷ."""
        order = rank_documents(y_hat).order
        discount = np.empty(len(order))
        discount[order] = self._discounts(len(order))
        value = np.unique(y_hat, return_inverse=True)[1]
        return np.asarray((np.bincount(value, discount) / np.bincount(value))[value])

    def loss(self, y: Vector, y_hat: Vector) -> float:
        """Return one minus NDCG of ŷ; 0 without a gain."""
        gain = gains(_grades(y), self.gain)
        ideal = self._dcg(np.sort(gain)[::-1])
        return max(ideal - self._dcg(gain[rank_documents(y_hat).order]), 0.0) / ideal if ideal > 0.0 else 0.0

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        """Return the ranking by ``s_i − gain_i / ideal``."""
        order = rank_documents(scores - self._gains(y)).order
        ranking = np.empty(len(order))
        ranking[order] = -np.arange(len(order))
        return ranking

    def argmax(self, scores: Vector) -> Vector:
        """Return the scores: sorting by them maximises ``w·Ψ``."""
        return scores

    def outputs(self, y: Vector) -> Iterable[Vector]:
        """Return all complete rankings."""
        return (np.array(ranking, dtype=np.float64) for ranking in permutations(range(len(y))))

    def _discounts(self, ranks: int) -> Vector:
        return discounts(ranks, self.discount, self.k)

    def _dcg(self, gain: Vector) -> float:
        return float(gain @ self._discounts(len(gain)))

    def _gains(self, y: Vector) -> Vector:
        """Return the gain of each document over the ideal DCG, where there is one."""
        gain = gains(_grades(y), self.gain)
        return gain / (self._dcg(np.sort(gain)[::-1]) or 1.0)


def _grades(y: Vector) -> Vector:
    return np.asarray(y, dtype=np.float64)
