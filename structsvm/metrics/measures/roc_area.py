"""The area under the ROC curve."""

import numpy as np
from attrs import frozen

from structsvm.metrics.base import RankedLists
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.types import Vector


@frozen
class ROCArea(BinaryMeasure):
    """Area under the ROC curve: the share of pairs whose relevant document is ahead of the other.

    A tied pair counts 1 or 0, as the tie rule (`rank_documents`) decides, and not 1/2 as in
    `sklearn.metrics.roc_auc_score`: it is the area of the ranking that is shown. Computed from
    the ranked documents alone, whatever is `judged`. Undefined unless a query has both kinds.
    Text: ``roc_area``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("roc_area").values(lists).round(3).tolist()
    [0.5]
    """

    @property
    def name(self) -> str:
        return "roc_area"

    def values(self, lists: RankedLists) -> Vector:
        relevant = self.found(lists)
        swapped = lists.total((lists.rank - lists.count_down(relevant)) * relevant)
        pairs = lists.total(relevant) * lists.total(~relevant)
        return 1.0 - swapped / np.where(pairs > 0, pairs, np.nan)
