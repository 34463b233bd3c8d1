"""Losses for normalized discounted cumulative gain, in three encodings."""

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from attrs import evolve, field, frozen
from attrs.validators import optional
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.foundation.compute.compilation import inlined_part
from structsvm.foundation.compute.sorting import descending
from structsvm.foundation.settings import at_least, finite, one_of, truth_value
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.losses.base import RankedByScore
from structsvm.losses.shared.cost_tables import pack
from structsvm.losses.shared.interleaving import InterleavingLoss, interleaving
from structsvm.losses.shared.relevance import ONE_KIND
from structsvm.metrics.graded import Discount, Gain, discounts, gains
from structsvm.metrics.ranking import rank_documents

_MOST_GRADES = 31
"""Largest number of grades above 0, as in LightGBM's lambdarank."""


@frozen
class _GainLoss(RankedByScore):
    """Base of losses of documents with gains by grade and discounts by rank, for the first k documents (None: all)."""

    k: int | None = field(default=None, validator=optional(at_least(1)))
    discount: Discount = field(default="standard", kw_only=True, validator=one_of("standard", "letor"))
    gain: Gain = field(default="exponential", kw_only=True, validator=one_of("exponential", "linear"))

    numeric_labels = True

    def usable(self, y: Vector) -> bool:
        """Return True if the documents have different gains."""
        gain = self._gains(y)
        return len(gain) > 0 and bool(gain.max() > gain.min())

    def _gains(self, y: Vector) -> Vector:
        return gains(np.asarray(y, dtype=np.float64), self.gain)

    def _discounts(self, ranks: int) -> Vector:
        return discounts(ranks, self.discount, self.k)


@frozen
class NDCGLoss(_GainLoss):
    """One minus NDCG, at full depth unless truncated: ``Δ = 1 − Σ gain(grade) · discount(rank) / ideal``.

    NDCG is the normalized discounted cumulative gain, and ``ideal`` is the sum of the best ranking. To report NDCG at
    k, train NDCG at full depth: in lists much longer than k, w = 0 minimizes the hinge of the first k ranks, for any C.
    So a fit drops the cut-off unless ``truncated``, and its bounds are for ``NDCGLoss(k=None)``.

    Rankings are encoded in one of three ways:

    "pairwise"
        by pairs of a relevant and a non-relevant document, as in `AveragePrecision`. Relevant documents gain 1, others
        0. For R relevant and N other documents, the argmax takes O(n log n) with n = R + N. With a cut-off K it takes
        O(K² + n log n); with LETOR's discount and no cut-off, O(R N).
    "thresholds"
        by pairs of a document above and one below a threshold, for each threshold between the grades of a query. Gains
        depend on grades: NDCG is a weighted sum of the thresholds' binary NDCGs. Each threshold has its own most
        violated ranking, and costs as much as "pairwise". With one grade above 0, both encodings are equal.
    "position"
        by the discount of each document's position. Gains depend on grades. The argmax takes O(n log n). The hinge is 0
        only if scores are equal within each grade, so on noisy data the optimum can be w = 0 for any C.

    Parameters
    ----------
    k : the cut-off of the reported measure, ignored in training unless ``truncated``. Default: no cut-off.
    discount : "standard" (1/log2(1 + rank)) or "letor" (1, 1, 1/log2(3), 1/log2(4), ...).
    gain : gain of a grade, for encodings in which gains depend on grades: "exponential" (2^grade − 1) or "linear" (the
        grade). Grades below 0 have gain 0.
    encoding : "pairwise", "thresholds", "position", or "auto": "thresholds" if the labels of the whole training set
        have more than one grade above 0 and relevant_from is None, else "pairwise".
    relevant_from : smallest label of a relevant document, for the pairwise encoding. Default: every label above 0 is
        relevant.
    truncated : train on the first k documents only: Δ is then one minus NDCG at k.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> Ranker(NDCGLoss(k=10), C=10).fit([[1.0], [2.0], [4.0]], [0, 1, 2], qid=[1, 1, 1]).result_.converged
    True
    """

    encoding: Literal["auto", "pairwise", "thresholds", "position"] = field(
        default="auto", kw_only=True, validator=one_of("auto", "pairwise", "thresholds", "position")
    )
    relevant_from: float | None = field(default=None, kw_only=True, validator=optional(finite))
    truncated: bool = field(default=False, kw_only=True, validator=truth_value)

    title = "NDCG"

    def __attrs_post_init__(self) -> None:
        if self.truncated and self.k is None:
            raise InputError(
                "NDCGLoss(truncated=True) has no cut-off to be truncated at: give one, as in NDCGLoss(k=10, "
                "truncated=True) or 'ndcg@10(truncated=true)'"
            )
        if self.encoding in ("thresholds", "position") and self.relevant_from is not None:
            raise InputError(
                f"NDCGLoss(encoding={self.encoding!r}, relevant_from={self.relevant_from!r}): only the pairwise "
                "encoding distinguishes relevant documents; leave relevant_from out, or choose encoding='pairwise'"
            )

    def bind(self, ys: Sequence[Vector]) -> Self:
        """Drop the cut-off, unless truncated, and choose the encoding by the labels if it is "auto"."""
        trained = self if self.truncated else evolve(self, k=None)
        if self.encoding != "auto":
            return trained
        grades = 1 if self.relevant_from is not None else _count_grades(ys)
        if grades > _MOST_GRADES:
            raise InputError(
                f"the labels y have {grades} different values above 0; NDCG learns from up to {_MOST_GRADES}: round "
                "them to grades, or set the smallest label of a relevant document, as in NDCGLoss(relevant_from=2)"
            )
        return evolve(trained, encoding="thresholds" if grades > 1 else "pairwise")

    @property
    def kernel(self) -> Any:
        """The kernel of the encoding; None while the encoding is "auto"."""
        return None if self.encoding == "auto" else self._encoded.kernel

    def chosen(self, ys: Sequence[Vector]) -> "_Encoded":
        """Return the loss of the encoding for these labels."""
        return self.bind(ys)._encoded

    def encode(self, y_hat: Any, y: Vector) -> Vector:
        return self.chosen([y]).encode(y_hat, y)

    def labels(self, y: Vector) -> Vector:
        return self.chosen([y]).labels(y)

    def params(self, ys: Sequence[Vector]) -> Vector:
        return self.chosen(ys).params(ys)

    def usable(self, y: Vector) -> bool:
        return self.chosen([y]).usable(y)

    def why_none_usable(self, ys: Sequence[Vector]) -> str:
        binary = self.chosen(ys)
        has_reason = self.why_unusable or any(map(binary.usable, ys))
        return super().why_none_usable(ys) if has_reason else ONE_KIND

    def loss(self, y: Vector, y_hat: Any) -> float:
        return self.chosen([y]).loss(y, y_hat)

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Any:
        return self.chosen([y]).loss_augmented_argmax(scores, y)

    def outputs(self, y: Vector) -> Iterable[Any]:
        return self.chosen([y]).outputs(y)

    @cached_property
    def _encoded(self) -> "_Encoded":
        k = self.k if self.truncated else None
        if self.encoding == "position":
            return PositionNDCG(k, discount=self.discount, gain=self.gain)
        if self.encoding == "thresholds":
            return ThresholdNDCG(k, discount=self.discount, gain=self.gain)
        return PairwiseNDCG(k, discount=self.discount, relevant_from=self.relevant_from)


def _count_grades(ys: Any) -> int:
    """Count the different labels above 0."""
    try:
        parts = [np.ravel(ys)] if isinstance(ys, np.ndarray) and ys.dtype != object else [np.ravel(y) for y in ys]
        labels = np.concatenate([np.asarray(part, dtype=np.float64) for part in parts]) if parts else np.zeros(0)
    except (TypeError, ValueError) as error:
        raise InputError(f"the labels y must be numbers for NDCG: {error}") from None
    return len(np.unique(labels[labels > 0.0]))


@frozen
class PairwiseNDCG(InterleavingLoss):
    """One minus NDCG of relevant and other documents, encoded by pairs; `NDCGLoss` for binary labels.

    ``cost(k, j) = (d(k) − d(k + j)) / (d(1) + ... + d(R))`` is concave in j for the standard discount d without
    cut-off.
    """

    k: int | None = field(default=None, validator=optional(at_least(1)))
    discount: Discount = field(default="standard", kw_only=True, validator=one_of("standard", "letor"))

    title = "NDCG"

    def cost(self, k: IntVector, j: IntVector, R: int, N: int) -> NDArray[Any]:
        discount = discounts(R + N, self.discount, self.k)
        return np.asarray((discount[k - 1] - discount[k + j - 1]) / discount[:R].sum())


_interleaving = inlined_part(interleaving)


def thresholds(scores: Vector, labels: Vector, tables: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking of each threshold, and return their loss.

    ``labels`` are the weights of the thresholds, followed by the number of thresholds that each document reaches;
    ``tables`` are as in the interleaving kernel.
    """
    n = len(scores)
    T = len(labels) - n
    level = labels[T:]
    relevant = np.empty(n)
    part = np.empty(n)
    loss = 0.0
    out[:] = 0.0
    for t in range(T):
        weight = labels[t]
        for document in range(n):
            relevant[document] = 1.0 if level[document] > t else 0.0
        loss += weight * _interleaving(scores, relevant, tables, part)
        for document in range(n):
            out[document] += weight * part[document]
    return loss


@frozen
class ThresholdNDCG(_GainLoss):
    """One minus NDCG of graded documents, encoded by pairs at each threshold; `NDCGLoss` for grades.

    Threshold t makes documents relevant that gain at least g_t, the t-th smallest gain in the query above the least,
    g_0. DCG is linear in the gains, so ``NDCG(ŷ) = ω_0 + Σ_t ω_t NDCG_t(ŷ)`` with the binary NDCG_t of `PairwiseNDCG`,
    ``ω_t = (g_t − g_{t−1}) ideal_t / ideal``, and ω_0 for the gain common to all documents. With ``Ψ(x, ŷ) = Σ_t ω_t
    Ψ_t(x, ŷ_t)``, the hinge is the sum of ω_t times the hinges of binary NDCG. An output is one ranking per threshold,
    shape (T, n), or one for all, shape (n,), as the truth and the prediction.
    """

    kernel = staticmethod(thresholds)

    def labels(self, y: Vector) -> Vector:
        """Return the weights of the thresholds, followed by the number of thresholds that each document reaches."""
        weights, level = self._levels(y)
        return np.concatenate([weights, level])

    def params(self, ys: Sequence[Vector]) -> Vector:
        binary = self._binary
        shapes = {
            (len(y) - int(others), int(others))
            for y in ys
            for others in np.cumsum(np.unique(self._gains(y), return_counts=True)[1])[:-1]
        }
        return pack(binary.title, binary.cost, shapes, binary.cutoff)

    def encode(self, y_hat: Matrix, y: Vector) -> Vector:
        weights, reached = self._thresholds(y)
        rankings = np.broadcast_to(y_hat, reached.shape)
        codes = [self._binary.encode(*pair) for pair in zip(rankings, reached, strict=True)]
        return np.asarray(weights @ np.reshape(codes, reached.shape))

    def loss(self, y: Vector, y_hat: Matrix) -> float:
        """Return the weighted sum of the binary losses; for a single ranking ŷ this is one minus its NDCG."""
        weights, reached = self._thresholds(y)
        rankings = np.broadcast_to(y_hat, reached.shape)
        return float(weights @ [self._binary.loss(*pair) for pair in zip(reached, rankings, strict=True)])

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Matrix:
        """Return the most violated ranking of each threshold, shape (T, n)."""
        reached = self._thresholds(y)[1]
        rankings = [self._binary.loss_augmented_argmax(scores, relevant) for relevant in reached]
        return np.reshape(rankings, reached.shape)

    def outputs(self, y: Vector) -> Iterable[Matrix]:
        """Return all combinations of one ranking per threshold, without repeated encodings."""
        reached = self._thresholds(y)[1]
        distinct = [
            {self._binary.encode(ranking, relevant).tobytes(): ranking for ranking in self._binary.outputs(relevant)}
            for relevant in reached
        ]
        return (np.reshape(grades, reached.shape) for grades in product(*(codes.values() for codes in distinct)))

    @property
    def _binary(self) -> PairwiseNDCG:
        return PairwiseNDCG(self.k, discount=self.discount)

    def _levels(self, y: Vector) -> tuple[Vector, IntVector]:
        """Return ω, shape (T,), and the number of thresholds that each document reaches, shape (n,)."""
        values, level, counts = np.unique(self._gains(y), return_inverse=True, return_counts=True)
        n = len(level)
        ideal = _ideals(1 << max(n - 1, 0).bit_length(), self.discount, self.k)
        parts = np.diff(values) * ideal[n - 1 - np.cumsum(counts)[:-1]]
        return parts / (values[0] * ideal[n - 1] + parts.sum()), level

    def _thresholds(self, y: Vector) -> tuple[Vector, Matrix]:
        """Return ω, shape (T,), and 1 if a document reaches a threshold, else 0, shape (T, n)."""
        weights, level = self._levels(y)
        return weights, (level > np.arange(len(weights))[:, None]).astype(np.float64)


@lru_cache(maxsize=64)
def _ideals(ranks: int, discount: Discount, k: int | None) -> Vector:
    """Return the ideal DCG of 1, 2, ... relevant documents, shape (ranks,)."""
    ideals = np.cumsum(discounts(ranks, discount, k))
    ideals.flags.writeable = False
    return ideals


def position(scores: Vector, labels: Vector, discounts: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking and return its loss.

    ``labels`` are ``c(y)`` followed by the gain of each document divided by the ideal DCG. Sorting by score minus gain
    maximizes ``1 − Σ gain · discount + Σ score · discount``.
    """
    n = len(scores)
    gain = labels[n:]
    loss = 1.0
    for rank, document in enumerate(descending(scores - gain)):
        loss -= gain[document] * discounts[rank]
        out[document] = labels[document] - discounts[rank]
    return max(loss, 0.0)


@frozen
class PositionNDCG(_GainLoss):
    """One minus NDCG of graded documents, encoded by the discounts of their positions: `NDCGLoss(encoding="position")`.

    ``Ψ(x, ŷ) = Σ_i d(rank of i in ŷ) x_i`` with the discount d of a rank, averaged over equal values in ŷ, as grades of
    the truth are. ``Δ + w·Ψ(x, ŷ) = 1 + Σ_i (s_i − gain_i / ideal) d(rank_i)``, so sorting by ``s_i − gain_i / ideal``
    maximizes it (rearrangement inequality).
    """

    kernel = staticmethod(position)

    def labels(self, y: Vector) -> Vector:
        return np.concatenate([self.encode(y, y), self._shares(y)])

    def params(self, ys: Sequence[Vector]) -> Vector:
        return self._discounts(max((len(y) for y in ys), default=0))

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        """Return the discount of each document's position, averaged over equal values of ŷ."""
        order = rank_documents(y_hat).order
        discount = np.empty(len(order))
        discount[order] = self._discounts(len(order))
        value = np.unique(y_hat, return_inverse=True)[1]
        return np.asarray((np.bincount(value, discount) / np.bincount(value))[value])

    def loss(self, y: Vector, y_hat: Vector) -> float:
        gain = self._gains(y)
        ideal = self._dcg(np.sort(gain)[::-1])
        return max(ideal - self._dcg(gain[rank_documents(y_hat).order]), 0.0) / ideal if ideal > 0.0 else 0.0

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        order = rank_documents(scores - self._shares(y)).order
        ranking = np.empty(len(order))
        ranking[order] = -np.arange(len(order))
        return ranking

    def _dcg(self, gain: Vector) -> float:
        return float(gain @ self._discounts(len(gain)))

    def _shares(self, y: Vector) -> Vector:
        """Return the gain of each document divided by the ideal DCG, if that is not 0."""
        gain = self._gains(y)
        return gain / (self._dcg(np.sort(gain)[::-1]) or 1.0)


_Encoded: TypeAlias = PairwiseNDCG | ThresholdNDCG | PositionNDCG
