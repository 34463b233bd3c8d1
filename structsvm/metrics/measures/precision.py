"""Precision at k."""

from attrs import frozen

from structsvm.metrics.base import RankedLists
from structsvm.metrics.measures.binary import BinaryMeasureAtK
from structsvm.types import Vector


@frozen
class P(BinaryMeasureAtK):
    """Precision at k: relevant documents among the first k, over k, however few are ranked.

    Undefined without a relevant document. Text: ``p@5``.

    Parameters
    ----------
    k, relevant_from, empty : see `BinaryMeasureAtK`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("p@2").values(lists).round(3).tolist()
    [0.5]
    """

    @property
    def name(self) -> str:
        return "p"

    def values(self, lists: RankedLists) -> Vector:
        return self.hits(lists) / self.k
