"""Inferred average precision."""

import numpy as np
from attrs import frozen

from structsvm.metrics.base import RankedLists
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.types import Vector

_SMOOTHING = 1e-5
"""What trec_eval adds to both counts, so that a precision can be inferred where nothing ahead was judged."""


@frozen
class InfAP(BinaryMeasure):
    """Inferred average precision, an estimate of average precision where a sample of the pool was judged.

    At a relevant document of rank r, with n documents of the pool ahead of it, of which a were judged relevant and b
    not relevant, the precision is estimated as 1/r + (n / r) (a + ε) / (a + b + 2ε), ε = 1e-5; these are summed, over
    the number R of documents judged relevant. Documents of the pool that were not judged have a grade below 0.
    Yilmaz and Aslam, "Estimating average precision with incomplete and imperfect judgments", CIKM 2006, as in
    trec_eval. Undefined without a relevant document. Text: ``infap``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Raises
    ------
    InputError : the lists do not tell what was judged; see `RankedLists.require_judged`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("infap").values(lists).round(3).tolist()
    [0.833]
    """

    @property
    def name(self) -> str:
        return "infap"

    def values(self, lists: RankedLists) -> Vector:
        lists.require_judged(self)
        relevant = self.found(lists)
        found = lists.count_down(relevant)[relevant] - 1
        others = lists.count_down(lists.is_judged & ~relevant)[relevant]
        pooled = lists.count_down(lists.is_pooled)[relevant] - 1
        rank = lists.rank[relevant]
        share = (found + _SMOOTHING) / (found + others + 2.0 * _SMOOTHING)
        estimates = 1.0 / rank + pooled / rank * share
        return np.bincount(lists.query[relevant], estimates, len(lists.ids)) / self.n_relevant(lists)
