"""Measures of the set of ranked documents, independent of their order, and counts."""

from typing import ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.foundation.settings import not_negative
from structsvm.foundation.types import Vector
from structsvm.metrics.base import BinaryMeasure, Measure, Summary
from structsvm.metrics.ranking import RankedLists


@frozen
class _OfSets(BinaryMeasure):
    """A measure of the numbers of ranked, ranked relevant, and all relevant documents."""

    averages_ties: ClassVar[bool] = True

    def precision_and_recall(self, lists: RankedLists) -> tuple[Vector, Vector]:
        """Return precision and recall, shape (Q,) each; NaN for queries without a relevant document."""
        hits = self.if_any(lists, lists.total(self.found(lists)))
        return hits / np.maximum(np.bincount(lists.query, minlength=len(lists.ids)), 1), hits / self.n_relevant(lists)


@frozen
class SetP(_OfSets):
    """Precision of all ranked documents: the share of relevant ones."""

    name: ClassVar[str] = "set_p"

    def values(self, lists: RankedLists) -> Vector:
        return self.precision_and_recall(lists)[0]


@frozen
class SetRecall(_OfSets):
    """Recall of all ranked documents: the share of relevant documents that are ranked."""

    name: ClassVar[str] = "set_recall"

    def values(self, lists: RankedLists) -> Vector:
        return self.precision_and_recall(lists)[1]


@frozen
class SetF(_OfSets):
    """F measure of all ranked documents: (1 + x) P R / (R + x P) with ``recall_weight`` x; 0 without a hit.

    x = 1 gives the harmonic mean. trec_eval's parameter and ir_measures' `beta` are x, but van Rijsbergen's F_β, and
    the loss of that name, use x = β².
    """

    name: ClassVar[str] = "set_f"

    recall_weight: float = field(default=1.0, kw_only=True, validator=not_negative)

    def values(self, lists: RankedLists) -> Vector:
        precision, recall = self.precision_and_recall(lists)
        below = recall + self.recall_weight * precision
        return (1.0 + self.recall_weight) * precision * recall / np.where(below == 0.0, 1.0, below)


@frozen
class SetAP(_OfSets):
    """Precision times recall of all ranked documents: average precision if their order is unknown."""

    name: ClassVar[str] = "set_map"

    def values(self, lists: RankedLists) -> Vector:
        precision, recall = self.precision_and_recall(lists)
        return precision * recall


@frozen
class NumQ(Measure):
    """Number of ranked queries."""

    name: ClassVar[str] = "num_q"
    averages_ties: ClassVar[bool] = True
    summary: ClassVar[Summary] = "sum"

    def values(self, lists: RankedLists) -> Vector:
        return np.ones(len(lists.ids))


@frozen
class NumRet(Measure):
    """Number of ranked documents."""

    name: ClassVar[str] = "num_ret"
    averages_ties: ClassVar[bool] = True
    summary: ClassVar[Summary] = "sum"

    def values(self, lists: RankedLists) -> Vector:
        return lists.total(np.ones(len(lists.query)))


@frozen
class NumRel(BinaryMeasure):
    """Number of documents judged relevant, ranked or not."""

    name: ClassVar[str] = "num_rel"
    averages_ties: ClassVar[bool] = True
    summary: ClassVar[Summary] = "sum"

    def values(self, lists: RankedLists) -> Vector:
        return lists.total_judged(self.relevant(lists.judged))


@frozen
class NumRelRet(BinaryMeasure):
    """Number of ranked relevant documents."""

    name: ClassVar[str] = "num_rel_ret"
    averages_ties: ClassVar[bool] = True
    summary: ClassVar[Summary] = "sum"

    def values(self, lists: RankedLists) -> Vector:
        return lists.total(self.found(lists))
