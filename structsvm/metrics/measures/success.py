"""Success at k."""

import numpy as np
from attrs import frozen

from structsvm.metrics.base import RankedLists
from structsvm.metrics.measures.binary import BinaryMeasureAtK
from structsvm.types import Vector


@frozen
class Success(BinaryMeasureAtK):
    """Success at k: 1 if a relevant document is among the first k, else 0 (a hit, in other fields).

    Undefined without a relevant document. Text: ``success@5``.

    Parameters
    ----------
    k, relevant_from, empty : see `BinaryMeasureAtK`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("success@1").values(lists).round(3).tolist()
    [1.0]
    """

    @property
    def name(self) -> str:
        return "success"

    def values(self, lists: RankedLists) -> Vector:
        hits = self.hits(lists)
        return np.where(np.isnan(hits), np.nan, hits > 0)
