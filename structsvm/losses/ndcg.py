"""Normalised discounted cumulative gain."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self

import numpy as np
from attrs import evolve, field, frozen
from attrs.validators import optional

from structsvm.exceptions import InputError
from structsvm.losses.base import ScoreLoss
from structsvm.losses.kernels.ndcg import PAIRWISE, POSITION, THRESHOLDS, ndcg
from structsvm.losses.pairwise_ndcg import PairwiseNDCG
from structsvm.losses.position_ndcg import PositionNDCG
from structsvm.losses.relevance import ONE_KIND
from structsvm.losses.threshold_ndcg import ThresholdNDCG
from structsvm.metrics.discounts import Discount, Gain
from structsvm.settings import at_least, finite, one_of
from structsvm.types import Vector


@frozen
class NDCG(ScoreLoss[Vector]):
    """One minus NDCG, the normalised discounted cumulative gain: ``Δ = 1 − Σ gain(grade) · discount(rank) / ideal``.

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
    k : only the first k documents count. None: all.
    discount : "standard", 1/log2(1 + rank), or "letor", 1, 1, 1/log2(3), 1/log2(4), ...
    gain : of a grade, where grades have gains: "exponential", 2^grade − 1, or "linear", the grade.
        Grades below 0 gain nothing.
    encoding : "pairwise", "thresholds", "position", or "auto": "thresholds" for labels with more than
        one grade above 0 where relevant_from is None, "pairwise" otherwise. The labels of the whole
        training set decide.
    relevant_from : smallest label of a relevant document, for the pairwise encoding; None: every
        label above 0.
    """

    k: int | None = field(default=None, validator=optional(at_least(1)))
    discount: Discount = field(default="standard", kw_only=True, validator=one_of("standard", "letor"))
    gain: Gain = field(default="exponential", kw_only=True, validator=one_of("exponential", "linear"))
    encoding: Literal["auto", "pairwise", "thresholds", "position"] = field(
        default="auto", kw_only=True, validator=one_of("auto", "pairwise", "thresholds", "position")
    )
    relevant_from: float | None = field(default=None, kw_only=True, validator=optional(finite))

    kernel = staticmethod(ndcg)
    numeric_labels = True

    def __attrs_post_init__(self) -> None:
        if self.encoding in ("thresholds", "position") and self.relevant_from is not None:
            raise InputError(
                f"NDCG(encoding={self.encoding!r}, relevant_from={self.relevant_from!r}): documents that are relevant "
                "or not are what the pairwise encoding knows; leave relevant_from out, or choose encoding='pairwise'"
            )

    def bind(self, ys: Sequence[Vector]) -> Self:
        """Choose the encoding by the labels, where it is "auto"."""
        if self.encoding != "auto":
            return self
        grades = 1 if self.relevant_from is not None else _grades(ys)
        if grades > _MOST_GRADES:
            raise InputError(
                f"the labels y have {grades} different values above 0; NDCG learns from up to {_MOST_GRADES}: "
                "round them to grades, or say from which label on a document is relevant, as in NDCG(relevant_from=2)"
            )
        return evolve(self, encoding="thresholds" if grades > 1 else "pairwise")

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        """Return the coefficient of each document in the encoding."""
        return self._encoded([y]).encode(y_hat, y)

    def labels(self, y: Vector) -> Vector:
        """Return what the kernel of the encoding reads of a query."""
        return self._encoded([y]).labels(y)

    def params(self, ys: Sequence[Vector]) -> Vector:
        """Return the encoding and what its kernel reads of all queries together."""
        encoded = self._encoded(ys)
        return np.concatenate([[_ENCODINGS[type(encoded)]], encoded.params(ys)])

    def usable(self, y: Vector) -> bool:
        """Say whether the query has documents that gain more than others."""
        return self._encoded([y]).usable(y)

    @property
    def why_unusable(self) -> str:
        """What to tell where the documents of each query gain all the same."""
        return ONE_KIND if type(self).usable is NDCG.usable else super().why_unusable

    def loss(self, y: Vector, y_hat: Vector) -> float:
        """Return one minus NDCG of ŷ; 0 where it is undefined."""
        return self._encoded([y]).loss(y, y_hat)

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        """Return the most violated ranking; for "thresholds" one for each, shape (T, n)."""
        return self._encoded([y]).loss_augmented_argmax(scores, y)

    def argmax(self, scores: Vector) -> Vector:
        """Return the scores: sorting by them maximises ``w·Ψ`` in all encodings."""
        return scores

    def outputs(self, y: Vector) -> Iterable[Vector]:
        """Return all complete rankings; for "thresholds" all combinations of one for each."""
        return self._encoded([y]).outputs(y)

    def _encoded(self, ys: Sequence[Vector]) -> PairwiseNDCG | PositionNDCG | ThresholdNDCG:
        """Return the loss in the encoding that it has for these labels."""
        encoding = self.bind(ys).encoding
        if encoding == "position":
            return PositionNDCG(self.k, discount=self.discount, gain=self.gain)
        if encoding == "thresholds":
            return ThresholdNDCG(self.k, discount=self.discount, gain=self.gain)
        return PairwiseNDCG(self.k, discount=self.discount, relevant_from=self.relevant_from)


_MOST_GRADES = 31
"""Grades above 0 that encodings are chosen for by themselves, as in LightGBM's lambdarank."""

_ENCODINGS = {PairwiseNDCG: PAIRWISE, PositionNDCG: POSITION, ThresholdNDCG: THRESHOLDS}


def _grades(ys: Any) -> int:
    """Count the different labels above 0."""
    try:
        parts = [np.ravel(ys)] if isinstance(ys, np.ndarray) and ys.dtype != object else [np.ravel(y) for y in ys]
        labels = np.concatenate([np.asarray(part, dtype=np.float64) for part in parts]) if parts else np.zeros(0)
    except (TypeError, ValueError) as error:
        raise InputError(f"the labels y must be numbers for NDCG: {error}") from None
    return len(np.unique(labels[labels > 0.0]))
