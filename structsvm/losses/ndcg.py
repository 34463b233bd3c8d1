"""Normalised discounted cumulative gain, in three encodings."""

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import permutations, product
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from attrs import evolve, field, frozen
from attrs.validators import optional
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled_part
from structsvm.compute.sorting import descending
from structsvm.exceptions import InputError
from structsvm.losses.base import ScoreLoss
from structsvm.losses.shared.chosen import ChosenLoss
from structsvm.losses.shared.cost_tables import pack
from structsvm.losses.shared.interleaving import InterleavingLoss, interleaving
from structsvm.metrics.discounts import Discount, Gain, discounts, gains
from structsvm.metrics.ranking import rank_documents
from structsvm.settings import at_least, finite, one_of, truth_value
from structsvm.types import IntVector, Matrix, Vector

_MOST_GRADES = 31
"""Grades above 0 that encodings are chosen for by themselves, as in LightGBM's lambdarank."""


@frozen
class _GainLoss(ScoreLoss[Any]):
    """What a loss of documents with gains has: a discount of ranks, and a gain of grades.

    Queries whose documents gain all the same are not usable.

    Parameters
    ----------
    k : only the first k documents count. None: all.
    discount, gain : as in `NDCG`.
    """

    k: int | None = field(default=None, validator=optional(at_least(1)))
    discount: Discount = field(default="standard", kw_only=True, validator=one_of("standard", "letor"))
    gain: Gain = field(default="exponential", kw_only=True, validator=one_of("exponential", "linear"))

    numeric_labels = True

    def usable(self, y: Vector) -> bool:
        """Say whether some documents gain more than others."""
        gain = self._gains(y)
        return len(gain) > 0 and bool(gain.max() > gain.min())

    def argmax(self, scores: Vector) -> Vector:
        """Return the scores: sorting by them maximises ``w·Ψ`` in all encodings."""
        return scores

    def _gains(self, y: Vector) -> Vector:
        return gains(np.asarray(y, dtype=np.float64), self.gain)

    def _discounts(self, ranks: int) -> Vector:
        return discounts(ranks, self.discount, self.k)


@frozen
class NDCG(ChosenLoss, _GainLoss):
    """One minus NDCG, at full depth unless truncated: ``Δ = 1 − Σ gain(grade) · discount(rank) / ideal``.

    NDCG is the normalised discounted cumulative gain. NDCG at k is what one reports, and NDCG of all ranks the better
    loss to train on for it: the hinge of the first k ranks alone is so loose a bound that in lists of many times k
    documents no weights lower it, whatever C is. So `bind` drops the cut-off, what is fitted is ``NDCG(k=None)``, and
    its bounds are those of that; with ``truncated`` the cut-off is kept.

    Rankings are encoded in one of three ways:

    "pairwise"
        by pairs of a relevant and a non-relevant document, as in `AveragePrecision`. A document is
        relevant or not, and its gain 1 or 0. The argmax takes O(n log n) for the standard discount,
        O(K² + n log n) with a cut-off K, O(R N) for LETOR's discount without one.
    "thresholds"
        by pairs, at each threshold between the grades of a query. Grades have their gains: NDCG is
        the weighted sum of the binary NDCGs of the thresholds, each of which has a most violated
        ranking of its own. The argmax, and the tables that it reads, take as much as those of
        "pairwise" for each threshold. Of labels with one grade above 0 it is the same as "pairwise".
    "position"
        by the discount of the position that a document gets. Grades have their gains. The argmax
        takes O(n log n). The hinge is 0 only where scores are equal within a grade, which few data
        allow: on noisy data the optimum can be w = 0, whatever C is.

    Parameters
    ----------
    k : the cut-off of the measure that one reports, which training looks beyond unless ``truncated``. None: there is
        none.
    discount : "standard", 1/log2(1 + rank), or "letor", 1, 1, 1/log2(3), 1/log2(4), ...
    gain : of a grade, where grades have gains: "exponential", 2^grade − 1, or "linear", the grade.
        Grades below 0 gain nothing.
    encoding : "pairwise", "thresholds", "position", or "auto": "thresholds" for labels with more than
        one grade above 0 where relevant_from is None, "pairwise" otherwise. The labels of the whole
        training set decide.
    relevant_from : smallest label of a relevant document, for the pairwise encoding; None: every
        label above 0.
    truncated : train on the first k documents alone: Δ is then one minus NDCG at k.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> from structsvm.losses import NDCG
    >>> Ranker(NDCG(k=10), C=10).fit([[1.0], [2.0], [4.0]], [0, 1, 2], qid=[1, 1, 1]).result_.converged
    True
    """

    encoding: Literal["auto", "pairwise", "thresholds", "position"] = field(
        default="auto", kw_only=True, validator=one_of("auto", "pairwise", "thresholds", "position")
    )
    relevant_from: float | None = field(default=None, kw_only=True, validator=optional(finite))
    truncated: bool = field(default=False, kw_only=True, validator=truth_value)

    def __attrs_post_init__(self) -> None:
        if self.truncated and self.k is None:
            raise InputError(
                "NDCG(truncated=True) has no cut-off to be truncated at: give one, as in NDCG(k=10, truncated=True) "
                "or 'ndcg@10(truncated=true)'"
            )
        if self.encoding in ("thresholds", "position") and self.relevant_from is not None:
            raise InputError(
                f"NDCG(encoding={self.encoding!r}, relevant_from={self.relevant_from!r}): documents that are relevant "
                "or not are what the pairwise encoding knows; leave relevant_from out, or choose encoding='pairwise'"
            )

    def bind(self, ys: Sequence[Vector]) -> Self:
        """Drop the cut-off, unless truncated, and choose the encoding by the labels, where it is "auto"."""
        trained = self if self.truncated else evolve(self, k=None)
        if self.encoding != "auto":
            return trained
        grades = 1 if self.relevant_from is not None else _count_grades(ys)
        if grades > _MOST_GRADES:
            raise InputError(
                f"the labels y have {grades} different values above 0; NDCG learns from up to {_MOST_GRADES}: "
                "round them to grades, or say from which label on a document is relevant, as in NDCG(relevant_from=2)"
            )
        return evolve(trained, encoding="thresholds" if grades > 1 else "pairwise")

    @property
    def kernel(self) -> Any:
        """The kernel of the encoding; None as long as that is "auto"."""
        return None if self.encoding == "auto" else self._encoded.kernel

    def chosen(self, ys: Sequence[Vector]) -> "_Encoded":
        """Return the loss in the encoding that it has for these labels."""
        return self.bind(ys)._encoded

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
    """One minus NDCG of rankings with two kinds of document, encoded by pairs: what `NDCG` is for binary labels.

    ``cost(k, j) = (d(k) − d(k + j)) / (d(1) + ... + d(R))`` with the discount d of a rank. It is
    concave in j for the standard discount without a cut-off.

    Parameters
    ----------
    k : only the first k documents count. None: all.
    discount, relevant_from : as in `NDCG`.
    """

    k: int | None = field(default=None, validator=optional(at_least(1)))
    discount: Discount = field(default="standard", kw_only=True, validator=one_of("standard", "letor"))

    title = "NDCG"

    def cost(self, k: IntVector, j: IntVector, R: int, N: int) -> NDArray[Any]:
        """Return the discount that the document loses, over the ideal DCG."""
        discount = discounts(R + N, self.discount, self.k)
        return np.asarray((discount[k - 1] - discount[k + j - 1]) / discount[:R].sum())


_interleaving = compiled_part(interleaving)


def thresholds(scores: Vector, labels: Vector, tables: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking for each threshold, and return the loss of them.

    ``labels`` holds the weight of each threshold and, behind these, how many of them each document
    reaches; ``tables`` is what the kernel of two kinds of document reads.
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
    k : only the first k documents count. None: all.
    discount, gain : as in `NDCG`.
    """

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


def position(scores: Vector, labels: Vector, discounts: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking and return its loss.

    ``labels`` holds ``c(y)`` and, behind it, the gain of each document over the ideal DCG.
    Sorting by score less gain maximises ``1 − Σ gain · discount + Σ score · discount``.
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
    k : only the first k documents count. None: all.
    discount, gain : as in `NDCG`.
    """

    kernel = staticmethod(position)

    def labels(self, y: Vector) -> Vector:
        """Return ``c(y)`` and the gain of each document over the ideal DCG."""
        return np.concatenate([self.encode(y, y), self._shares(y)])

    def params(self, ys: Sequence[Vector]) -> Vector:
        """Return the discounts up to the largest number of documents."""
        return self._discounts(max((len(y) for y in ys), default=0))

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        """Return the discount of the position of each document, the mean of them for equal values of ŷ."""
        order = rank_documents(y_hat).order
        discount = np.empty(len(order))
        discount[order] = self._discounts(len(order))
        value = np.unique(y_hat, return_inverse=True)[1]
        return np.asarray((np.bincount(value, discount) / np.bincount(value))[value])

    def loss(self, y: Vector, y_hat: Vector) -> float:
        """Return one minus NDCG of ŷ; 0 without a gain."""
        gain = self._gains(y)
        ideal = self._dcg(np.sort(gain)[::-1])
        return max(ideal - self._dcg(gain[rank_documents(y_hat).order]), 0.0) / ideal if ideal > 0.0 else 0.0

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        """Return the ranking by ``s_i − gain_i / ideal``."""
        order = rank_documents(scores - self._shares(y)).order
        ranking = np.empty(len(order))
        ranking[order] = -np.arange(len(order))
        return ranking

    def outputs(self, y: Vector) -> Iterable[Vector]:
        """Return all complete rankings."""
        return (np.array(ranking, dtype=np.float64) for ranking in permutations(range(len(y))))

    def _dcg(self, gain: Vector) -> float:
        return float(gain @ self._discounts(len(gain)))

    def _shares(self, y: Vector) -> Vector:
        """Return the gain of each document over the ideal DCG, where there is one."""
        gain = self._gains(y)
        return gain / (self._dcg(np.sort(gain)[::-1]) or 1.0)


_Encoded: TypeAlias = PairwiseNDCG | ThresholdNDCG | PositionNDCG
