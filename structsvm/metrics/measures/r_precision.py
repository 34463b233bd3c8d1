"""R-precision."""

import numpy as np
from attrs import frozen

from structsvm.metrics.base import RankedLists
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.types import Vector


@frozen
class RPrec(BinaryMeasure):
    """R-precision: precision at R, the number of relevant documents that were judged.

    Undefined without a relevant document. Text: ``rprec``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("rprec").values(lists).round(3).tolist()
    [0.5]
    """

    @property
    def name(self) -> str:
        return "rprec"

    def values(self, lists: RankedLists) -> Vector:
        n_relevant = self.n_relevant(lists)
        within = lists.rank <= np.nan_to_num(n_relevant)[lists.query]
        return lists.total(self.found(lists) & within) / n_relevant
