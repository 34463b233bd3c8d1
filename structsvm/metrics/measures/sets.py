"""Measures of the set of ranked documents, whatever their order."""

import numpy as np
from attrs import field, frozen

from structsvm.metrics.base import RankedLists
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.settings import not_negative
from structsvm.types import Vector


@frozen
class _OfSets(BinaryMeasure):
    """A measure of how many documents are ranked, how many of them are relevant, and how many are in all."""

    def precision_and_recall(self, lists: RankedLists) -> tuple[Vector, Vector]:
        """Return both, shape (Q,) each, NaN for queries without a relevant document."""
        n_relevant = self.n_relevant(lists)
        hits = np.where(np.isnan(n_relevant), np.nan, lists.total(self.found(lists)))
        return hits / np.bincount(lists.query, minlength=len(lists.ids)), hits / n_relevant


@frozen
class SetP(_OfSets):
    """Precision of all ranked documents: how many of them are relevant, over their number.

    Undefined without a relevant document. Text: ``set_p``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("set_p").values(lists).round(3).tolist()
    [0.667]
    """

    @property
    def name(self) -> str:
        return "set_p"

    def values(self, lists: RankedLists) -> Vector:
        return self.precision_and_recall(lists)[0]


@frozen
class SetRecall(_OfSets):
    """Recall of all ranked documents: how many of the relevant ones are among them, over the number of these.

    Undefined without a relevant document. Text: ``set_recall``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("set_recall").values(lists).round(3).tolist()
    [1.0]
    """

    @property
    def name(self) -> str:
        return "set_recall"

    def values(self, lists: RankedLists) -> Vector:
        return self.precision_and_recall(lists)[1]


@frozen
class SetF(_OfSets):
    """F measure of all ranked documents: (1 + x) P R / (R + x P), of their precision P and recall R.

    x = 1 is the harmonic mean. Van Rijsbergen's F_β, and the loss of that name, has x = β²; trec_eval's parameter
    and ir_measures' `beta` are x. 0 without a hit; undefined without a relevant document.
    Text: ``set_f``, ``set_f(recall_weight=4)``.

    Parameters
    ----------
    recall_weight : x, how much recall weighs beside precision, at least 0.
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("set_f").values(lists).round(3).tolist()
    [0.8]
    """

    recall_weight: float = field(default=1.0, kw_only=True, validator=not_negative)

    @property
    def name(self) -> str:
        return "set_f"

    def values(self, lists: RankedLists) -> Vector:
        precision, recall = self.precision_and_recall(lists)
        below = recall + self.recall_weight * precision
        return (1.0 + self.recall_weight) * precision * recall / np.where(below == 0.0, 1.0, below)


@frozen
class SetMAP(_OfSets):
    """Precision times recall of all ranked documents: average precision where their order is unknown.

    Undefined without a relevant document. Text: ``set_map``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("set_map").values(lists).round(3).tolist()
    [0.667]
    """

    @property
    def name(self) -> str:
        return "set_map"

    def values(self, lists: RankedLists) -> Vector:
        precision, recall = self.precision_and_recall(lists)
        return precision * recall
