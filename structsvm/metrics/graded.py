"""Measures of graded documents, such as NDCG, with the gains of grades and the discounts of ranks."""

from typing import ClassVar, Literal, TypeAlias

import attrs
import numpy as np
from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.foundation.settings import at_least, one_of
from structsvm.foundation.types import IntVector, Vector
from structsvm.metrics.base import Measure
from structsvm.metrics.ranking import RankedLists, rank_documents

Discount: TypeAlias = Literal["standard", "letor"]
"""``1/log2(1 + rank)``, or 1, 1, 1/log2(3), 1/log2(4), ..., with equal weight for the first two ranks."""

Gain: TypeAlias = Literal["exponential", "linear"]
"""``2^grade − 1``, or the grade."""


def discounts(ranks: int, discount: Discount, k: int | None = None) -> Vector:
    """Return the discounts of the ranks from 1, shape (ranks,); 0 beyond the cut-off k."""
    rank = np.arange(1, ranks + 1)
    values: Vector = 1.0 / np.log2(rank + 1.0 if discount == "standard" else np.maximum(rank, 2))
    if k is not None:
        values[k:] = 0.0
    return values


def gains(grades: Vector, gain: Gain) -> Vector:
    """Return the gain of each grade, 0 for grades below 0; reject gains that overflow."""
    positive: Vector = np.maximum(grades, 0.0)
    if gain == "linear":
        return positive
    if positive.max(initial=0.0) > 1000:
        raise InputError(f"2^grade overflows for a grade of {positive.max():g}; gain='linear' takes grades as gains")
    return np.exp2(positive) - 1.0


@frozen
class NDCG(Measure):
    """Normalized discounted cumulative gain: Σ gain(grade) · discount(rank), divided by the ideal ranking's sum.

    Labels are grades; grades below 0 gain nothing. The ideal ranking contains all `judged` documents. Undefined
    without a grade above 0. Name: ``ndcg``, ``ndcg@10``, ``letor_ndcg@10``.

    Parameters
    ----------
    k : only the first k documents count. Default: all.
    discount : "standard" is 1/log2(1 + rank) (Burges et al. 2005, trec_eval, scikit-learn); "letor" is 1, 1, 1/log2(3),
        1/log2(4), ... (Järvelin and Kekäläinen 2002; the evaluation tools of LETOR 3.0 and 4.0).
    gain : "exponential" is 2^grade − 1; "linear" is the grade (trec_eval, scikit-learn).
    empty : see `Measure`.

    Examples
    --------
    >>> round(NDCG(k=2).mean([3.0, 2.0, 1.0], [1, 0, 1]), 3)
    0.613
    """

    named_by: ClassVar[tuple[str, ...]] = ("discount",)
    averages_ties: ClassVar[bool] = True

    k: int | None = field(default=None, validator=attrs.validators.optional(at_least(1)))
    discount: Discount = field(default="standard", kw_only=True, validator=one_of("standard", "letor"))
    gain: Gain = field(default="exponential", kw_only=True, validator=one_of("exponential", "linear"))

    @property
    def name(self) -> str:  # type: ignore[override]
        return "ndcg" if self.discount == "standard" else "letor_ndcg"

    @property
    def note(self) -> str:
        if self.gain == "linear":
            return "gains are the grades"
        return "gains are 2^grade - 1; trec_eval and ir_measures use the grades (gain=linear)"

    def values(self, lists: RankedLists) -> Vector:
        ideal = np.zeros(len(lists.ids))
        gaining = lists.judged > 0
        if gaining.any():
            judged = lists.judged[gaining]
            best = rank_documents(judged, lists.judged_query[gaining])
            ideal[best.ids] = np.bincount(best.query, self._terms(gains(judged[best.order], self.gain), best.rank))
        gain = lists.share(gains(lists.label, self.gain))
        return lists.total(self._terms(gain, lists.rank)) / np.where(ideal > 0, ideal, np.nan)

    def _terms(self, gain: Vector, rank: IntVector) -> Vector:
        return gain * discounts(int(rank.max()), self.discount, self.k)[rank - 1]


@frozen
class ERR(Measure):
    """Expected reciprocal rank: the mean of 1 / rank over users who read down the list and stop at different ranks.

    A document of grade g stops a user with probability (2^g − 1) / 2^max_grade, and with probability 0 if g < 0.
    Chapelle, Metzler, Zhang and Grinspan, "Expected reciprocal rank for graded relevance", CIKM 2009, equation 4. With
    ``max_grade=4`` it is the measure of TREC's Web track (gdeval), ir_measures and RankLib. Undefined without a grade
    above 0. Name: ``err@20``, ``err@10(max_grade=2)``.

    Parameters
    ----------
    k : only the first k documents count. Default: all.
    max_grade : the best grade of the scale, even if no document has it, at least 1; a larger grade is refused.
    empty : see `Measure`.

    Examples
    --------
    >>> round(ERR(k=20).mean([3.0, 2.0, 1.0], [1, 0, 1]), 3)
    0.082
    """

    name: ClassVar[str] = "err"
    averages_ties: ClassVar[bool] = True

    k: int | None = field(default=None, validator=attrs.validators.optional(at_least(1)))
    max_grade: int = field(default=4, kw_only=True, validator=at_least(1))

    @property
    def note(self) -> str:
        return f"the best grade is {self.max_grade}"

    def values(self, lists: RankedLists) -> Vector:
        largest = max(lists.label.max(initial=0.0), lists.judged.max(initial=0.0))
        if largest > self.max_grade:
            raise InputError(
                f"{self} expects grades up to {self.max_grade}, but the largest is {largest:g}: "
                f"give the best grade of the scale, err(max_grade={np.ceil(largest):g})"
            )
        stopping = lists.label > 0
        chance = (np.exp2(lists.label[stopping]) - 1.0) / np.exp2(float(self.max_grade))
        groups = lists.groups
        if groups is not None:
            chances = np.zeros(len(stopping))
            chances[stopping] = chance
            for first, size in zip(groups.first, groups.size, strict=True):
                chances[first : first + size] = _tied_chances(chances[first : first + size])
            stopping = chances > 0
            chance = chances[stopping]
        place = lists.count_down(stopping)[stopping] - 1
        query, rank = lists.query[stopping], lists.rank[stopping]
        going_on = np.ones((len(lists.ids), int(place.max(initial=0)) + 2))
        going_on[query, place + 1] = 1.0 - chance
        arriving = np.cumprod(going_on, axis=1)[query, place]
        terms = arriving * chance / rank * lists.within(self.k)[stopping]
        total = np.bincount(query, terms, len(lists.ids))
        return np.where(lists.total_judged(lists.judged > 0) > 0, total, np.nan)


def _tied_chances(chances: Vector) -> Vector:
    """Return the chance to stop at each rank of a tie group after no stop above, averaged over all orders.

    The chance of no stop at the first m ranks is the mean, over all sets of m documents, of products of 1 − chance.
    """
    size = len(chances)
    taken = np.arange(size + 1)
    no_stop = np.ones(size + 1)
    stopping = np.flatnonzero(chances > 0)
    for documents, row in enumerate(stopping, size - len(stopping) + 1):
        with_row = taken[1 : documents + 1] / documents
        no_stop[1 : documents + 1] = (1.0 - with_row) * no_stop[1 : documents + 1] + with_row * (
            1.0 - chances[row]
        ) * no_stop[:documents]
    return 1.0 - no_stop[1:] / np.where(no_stop[:-1] > 0.0, no_stop[:-1], 1.0)
