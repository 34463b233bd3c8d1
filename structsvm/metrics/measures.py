"""The measures, one class each. `structsvm.metrics.parse_measure` makes them from text."""

from typing import Any, ClassVar, Literal

import attrs
import numpy as np
from attrs import field, frozen

from structsvm.metrics.base import Measure, RankedLists
from structsvm.metrics.discounts import Discount, Gain, discounts, gains
from structsvm.metrics.ranking import rank_documents
from structsvm.settings import at_least, finite, one_of
from structsvm.types import BoolVector, IntVector, Vector


def _threshold(value: Any) -> Any:
    """Return a number as a float; what is none stays as it is, and is refused."""
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return value


@frozen
class BinaryMeasure(Measure):
    """A measure for which a document is relevant or not. Derive from it to write another.

    Parameters
    ----------
    relevant_from : the smallest label that is relevant. None: every label above 0.
    empty : see `Measure`.
    """

    relevant_from: float | None = field(
        default=None,
        kw_only=True,
        converter=_threshold,
        validator=attrs.validators.optional(finite),
    )

    def relevant(self, labels: Vector) -> BoolVector:
        """Return which labels are relevant."""
        return labels > 0 if self.relevant_from is None else labels >= self.relevant_from

    def n_relevant(self, lists: RankedLists) -> Vector:
        """Return the number of relevant documents that were judged, for each query; 0 becomes NaN."""
        count = lists.total_judged(self.relevant(lists.judged))
        return np.where(count > 0, count, np.nan)


@frozen
class AP(BinaryMeasure):
    """Average precision: the precision at each relevant document, summed, over their number R.

    Relevant documents that are not ranked (`judged`) count in R. Undefined without a relevant
    document. Its mean over queries is MAP. Text: ``map``, ``map(ties=average)``.

    Parameters
    ----------
    ties : "order", documents of one score are ranked by the tie rule (`rank_documents`); or "average",
        the mean over all orders that they can have, in closed form (McSherry and Najork,
        "Computing information retrieval performance measures efficiently in the presence of tied
        scores", ECIR 2008, section 2.4).
    relevant_from, empty : see `BinaryMeasure`.
    """

    ties: Literal["order", "average"] = field(default="order", kw_only=True, validator=one_of("order", "average"))

    @property
    def name(self) -> str:
        return "map"

    def values(self, lists: RankedLists) -> Vector:
        relevant = self.relevant(lists.label)
        found = _found(relevant, lists)
        if self.ties == "order":
            gain = found / lists.rank * relevant
        else:
            gain = _expected_precision(relevant, found, lists)
        return lists.total(gain) / self.n_relevant(lists)


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
    """

    @property
    def name(self) -> str:
        return "roc_area"

    def values(self, lists: RankedLists) -> Vector:
        relevant = self.relevant(lists.label)
        swapped = lists.total((lists.rank - _found(relevant, lists)) * relevant)
        pairs = lists.total(relevant) * lists.total(~relevant)
        return 1.0 - swapped / np.where(pairs > 0, pairs, np.nan)


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
        hits = lists.total(self.relevant(lists.label) & (lists.rank <= self.k))
        return np.where(np.isnan(self.n_relevant(lists)), np.nan, hits / self.k)


@frozen
class Recall(BinaryMeasure):
    """Recall at k: relevant documents among the first k, over their number R.

    Relevant documents that are not ranked (`judged`) count in R, as in trec_eval. Undefined without a
    relevant document. Text: ``recall@10``.

    Parameters
    ----------
    k : cut-off, at least 1.
    relevant_from, empty : see `BinaryMeasure`.
    """

    k: int = field(validator=at_least(1))

    @property
    def name(self) -> str:
        return "recall"

    def values(self, lists: RankedLists) -> Vector:
        return lists.total(self.relevant(lists.label) & (lists.rank <= self.k)) / self.n_relevant(lists)


@frozen
class RR(BinaryMeasure):
    """Reciprocal rank of the first relevant document; 0 if none of them is ranked.

    Undefined without a relevant document. Its mean over queries is MRR. Text: ``mrr``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.
    """

    @property
    def name(self) -> str:
        return "mrr"

    def values(self, lists: RankedLists) -> Vector:
        relevant = self.relevant(lists.label)
        first = relevant & (_found(relevant, lists) == 1)
        return np.where(np.isnan(self.n_relevant(lists)), np.nan, lists.total(first / lists.rank))


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
    """

    named_by: ClassVar[tuple[str, ...]] = ("k", "discount")

    k: int | None = field(default=None, validator=attrs.validators.optional(at_least(1)))
    discount: Discount = field(default="standard", kw_only=True, validator=one_of("standard", "letor"))
    gain: Gain = field(default="exponential", kw_only=True, validator=one_of("exponential", "linear"))

    @property
    def name(self) -> str:
        return "ndcg" if self.discount == "standard" else "letor_ndcg"

    def values(self, lists: RankedLists) -> Vector:
        best = rank_documents(lists.judged, lists.judged_query)
        ideal = np.zeros(len(lists.ids))
        ideal[best.ids] = np.bincount(best.query, weights=self._terms(lists.judged[best.order], best.rank))
        return lists.total(self._terms(lists.label, lists.rank)) / np.where(ideal > 0, ideal, np.nan)

    def _terms(self, grades: Vector, rank: IntVector) -> Vector:
        return gains(grades, self.gain) * discounts(int(rank.max()), self.discount, self.k)[rank - 1]


def _found(relevant: BoolVector, lists: RankedLists) -> IntVector:
    """Number of relevant documents from the top of its list down to each ranked document."""
    count: IntVector = np.cumsum(relevant)
    before_list: IntVector = (count - relevant)[lists.rank == 1]
    found: IntVector = count - before_list[lists.query]
    return found


def _expected_precision(relevant: BoolVector, found: IntVector, lists: RankedLists) -> Vector:
    """Precision at each rank times whether its document is relevant, averaged over all orders of tied documents.

    Of ``size`` tied documents ``hits`` are relevant; the one at a rank is with probability
    ``hits / size``, and then each of the others is with probability ``(hits − 1) / (size − 1)``.
    """
    group = np.cumsum(~lists.tied) - 1
    first = np.flatnonzero(~lists.tied)[group]
    size, hits = np.bincount(group)[group], np.bincount(group, relevant)[group]
    above = (found - relevant)[first]
    tied_above = lists.rank - lists.rank[first]
    expected = above + 1.0 + tied_above * (hits - 1.0) / np.maximum(size - 1, 1)
    return np.asarray(hits / size * expected / lists.rank)
