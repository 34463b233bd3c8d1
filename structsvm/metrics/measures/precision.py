"""Precision at k."""

import numpy as np
from attrs import field, frozen

from structsvm.metrics.base import RankedLists
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.settings import at_least
from structsvm.types import Vector


@frozen
class P(BinaryMeasure):
    """Precision at k: relevant documents among the first k, over k, however few are ranked.

    Undefined without a relevant document. Text: ``p@5``.

    Parameters
    ----------
    k : cut-off, at least 1.
    relevant_from, empty : see `BinaryMeasure`.
    """

    k: int = field(validator=at_least(1))

    @property
    def name(self) -> str:
        return "p"

    def values(self, lists: RankedLists) -> Vector:
        hits = lists.total(self.found(lists) & (lists.rank <= self.k))
        return np.where(np.isnan(self.n_relevant(lists)), np.nan, hits / self.k)
