"""Success at k."""

import numpy as np
from attrs import field, frozen

from structsvm.metrics.base import RankedLists
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.settings import at_least
from structsvm.types import Vector


@frozen
class Success(BinaryMeasure):
    """Success at k: 1 if a relevant document is among the first k, else 0 (a hit, in other fields).

    Undefined without a relevant document. Text: ``success@5``.

    Parameters
    ----------
    k : cut-off, at least 1.
    relevant_from, empty : see `BinaryMeasure`.
    """

    k: int = field(validator=at_least(1))

    @property
    def name(self) -> str:
        return "success"

    def values(self, lists: RankedLists) -> Vector:
        hits = lists.total(self.found(lists) & (lists.rank <= self.k))
        return np.where(np.isnan(self.n_relevant(lists)), np.nan, hits > 0)
