"""Reciprocal rank."""

import attrs
import numpy as np
from attrs import field, frozen

from structsvm.metrics.base import RankedLists
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.settings import at_least
from structsvm.types import Vector


@frozen
class RR(BinaryMeasure):
    """Reciprocal rank of the first relevant document; 0 if none of them is ranked.

    Undefined without a relevant document. Its mean over queries is MRR. Text: ``mrr``, ``mrr@10``.

    Parameters
    ----------
    k : only the first k documents count. None: all.
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("mrr").values(lists).round(3).tolist()
    [1.0]
    """

    k: int | None = field(default=None, validator=attrs.validators.optional(at_least(1)))

    @property
    def name(self) -> str:
        return "mrr"

    def values(self, lists: RankedLists) -> Vector:
        relevant = self.found(lists)
        if self.k is not None:
            relevant &= lists.rank <= self.k
        first = relevant & (lists.count_down(relevant) == 1)
        return np.where(np.isnan(self.n_relevant(lists)), np.nan, lists.total(first / lists.rank))
