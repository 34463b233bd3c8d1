"""Normalised discounted cumulative gain."""

from typing import ClassVar

import attrs
import numpy as np
from attrs import field, frozen

from structsvm.metrics.base import Measure, RankedLists
from structsvm.metrics.discounts import Discount, Gain, discounts, gains
from structsvm.metrics.ranking import rank_documents
from structsvm.settings import at_least, one_of
from structsvm.types import IntVector, Vector


@frozen
class NDCG(Measure):
    """Normalised discounted cumulative gain: Σ gain(grade) · discount(rank), over its ideal value.

    Labels are grades, used as they are; grades below 0 gain nothing. The ideal ranking is that of
    all `judged` documents. Undefined without a grade above 0. Text: ``ndcg``, ``ndcg@10``,
    ``letor_ndcg@10``.

    Parameters
    ----------
    k : only the first k documents count. None: all.
    discount : "standard", 1/log2(1 + rank) (Burges et al. 2005, trec_eval, scikit-learn), or
        "letor", 1, 1, 1/log2(3), 1/log2(4), ... (Järvelin and Kekäläinen 2002; the evaluation
        tools of LETOR 3.0 and 4.0): the first two ranks weigh the same.
    gain : "exponential", 2^grade - 1, or "linear", the grade (trec_eval, scikit-learn).
    empty : see `Measure`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("ndcg@2").values(lists).round(3).tolist()
    [0.613]
    """

    named_by: ClassVar[tuple[str, ...]] = ("discount",)

    k: int | None = field(default=None, validator=attrs.validators.optional(at_least(1)))
    discount: Discount = field(default="standard", kw_only=True, validator=one_of("standard", "letor"))
    gain: Gain = field(default="exponential", kw_only=True, validator=one_of("exponential", "linear"))

    @property
    def name(self) -> str:
        return "ndcg" if self.discount == "standard" else "letor_ndcg"

    @property
    def note(self) -> str:
        if self.gain == "linear":
            return "gains are the grades"
        return "gains are 2^grade - 1, where trec_eval and ir_measures have the grades: (gain=linear)"

    def values(self, lists: RankedLists) -> Vector:
        ideal = np.zeros(len(lists.ids))
        gaining = lists.judged > 0
        if gaining.any():
            judged = lists.judged[gaining]
            best = rank_documents(judged, lists.judged_query[gaining])
            ideal[best.ids] = np.bincount(best.query, weights=self._terms(judged[best.order], best.rank))
        return lists.total(self._terms(lists.label, lists.rank)) / np.where(ideal > 0, ideal, np.nan)

    def _terms(self, grades: Vector, rank: IntVector) -> Vector:
        return gains(grades, self.gain) * discounts(int(rank.max()), self.discount, self.k)[rank - 1]
