"""Interpolated precision at levels of recall."""

from typing import ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.metrics.base import RankedLists
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.settings import within
from structsvm.types import Vector

LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""The levels of recall at which trec_eval shows it."""


@frozen
class IPrec(BinaryMeasure):
    """Interpolated precision at a level of recall: the best precision at any rank of at least that recall.

    The level is reached with ⌊recall · R + 0.9⌋ relevant documents, as in trec_eval. 0 if it is not reached.
    Undefined without a relevant document. Text: ``iprec@0.1``.

    Parameters
    ----------
    recall : the level, from 0 to 1.
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("iprec@0.5").values(lists).round(3).tolist()
    [1.0]
    """

    behind_at: ClassVar[str] = "recall"

    recall: float = field(validator=within(0.0, 1.0))

    @property
    def name(self) -> str:
        return "iprec"

    def values(self, lists: RankedLists) -> Vector:
        return _interpolated(self, lists, (self.recall,))[0]


@frozen
class ElevenPoint(BinaryMeasure):
    """Eleven-point average precision: the mean of interpolated precision (`IPrec`) at recall 0, 0.1, ..., 1.

    Undefined without a relevant document. Text: ``11pt_avg``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("11pt_avg").values(lists).round(3).tolist()
    [0.848]
    """

    @property
    def name(self) -> str:
        return "11pt_avg"

    def values(self, lists: RankedLists) -> Vector:
        return np.asarray(np.mean(_interpolated(self, lists, LEVELS), axis=0))


def _interpolated(measure: BinaryMeasure, lists: RankedLists, levels: tuple[float, ...]) -> list[Vector]:
    """Return interpolated precision at each level, NaN for queries without a relevant document."""
    relevant, n_relevant = measure.found(lists), measure.n_relevant(lists)
    query, found = lists.query[relevant], lists.count_down(relevant)[relevant]
    precision = found / lists.rank[relevant]
    values = []
    for level in levels:
        enough = found >= np.floor(level * n_relevant + 0.9)[query]
        best = np.zeros(len(lists.ids))
        np.maximum.at(best, query[enough], precision[enough])
        values.append(np.where(np.isnan(n_relevant), np.nan, best))
    return values
