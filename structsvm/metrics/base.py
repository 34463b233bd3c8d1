"""The base class of all measures: values per query, means over queries, and names."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import attrs
import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError, counted
from structsvm.foundation.settings import as_list, finite, one_of, require_kind
from structsvm.foundation.types import BoolVector, Vector
from structsvm.metrics.orders import mean_over_orders
from structsvm.metrics.ranking import Judgments, RankedLists, Ties, as_vector, rank_lists
from structsvm.registry import measures
from structsvm.registry.spelling import spell

Empty: TypeAlias = Literal["zero", "skip"]
"""Treatment of a query for which a measure is undefined: 0 in the mean, or left out."""

Summary: TypeAlias = Literal["mean", "geometric mean", "sum"]
"""How the values of queries are combined; counts are summed."""

Weights: TypeAlias = Mapping[Any, float] | ArrayLike
"""Weights of queries: by query id, or in order of first appearance."""


class PerQuery(NamedTuple):
    """The ids of queries in order of first appearance, and a measure's value for each; shape (Q,) each."""

    ids: NDArray[Any]
    values: Vector


class TieRange(NamedTuple):
    """The smallest and the largest mean over orders of tied documents, and the number of queries that change it."""

    queries: int
    low: float
    high: float

    @classmethod
    def of(cls, low: Vector, high: Vector, mean: Callable[[Vector], float]) -> Self:
        """Return the range, given the values of queries with the better documents behind and ahead."""
        return cls(int(np.sum(low != high)), mean(low), mean(high))

    def note(self, measure: str, number: int, queries: str = "queries") -> str:
        """Return a sentence on the range, given the number of all queries and the word for them."""
        return (
            f"{self.queries} of {number} {queries} have equal scores at different labels: {measure} is between "
            f"{self.low:.4f} and {self.high:.4f}."
        )


@frozen
class Measure(ABC):
    """Base class of measures of rankings; a measure is immutable, and its text is its name.

    `mean` returns the number that papers report, and `per_query` the values that are averaged.

    Parameters
    ----------
    empty : treatment of a query for which the measure is undefined: "zero" counts it as 0, as LETOR's tools and
        trec_eval do; "skip" leaves it out.

    Examples
    --------
    >>> measure = parse_measure("p@1")
    >>> scores, labels, qid = [2.0, 1.0, 1.0, 2.0], [1, 0, 1, 0], [7, 7, 8, 8]
    >>> measure.mean(scores, labels, qid)
    0.5
    >>> measure.mean(scores, labels, qid, weights={7: 3.0, 8: 1.0})
    0.75
    >>> measure == parse_measure(str(measure))
    True
    """

    name: ClassVar[str]
    """The name without cut-off and settings, as `parse_measure` accepts it."""

    named_by: ClassVar[tuple[str, ...]] = ()
    """Settings that the name implies."""

    behind_at: ClassVar[str] = "k"
    """The setting that follows ``@``."""

    summary: ClassVar[Summary] = "mean"
    """How `mean` combines the values of queries."""

    value_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """The least and the largest possible value of a query; confidence intervals of means are cut there."""

    averages_ties: ClassVar[bool] = False
    """True if `values` itself returns the mean over the orders of tied documents (`RankedLists.groups`)."""

    empty: Empty = field(default="zero", kw_only=True, validator=one_of("zero", "skip"))

    @property
    def note(self) -> str:
        """The variant of the measure, printed below tables: "the best grade is 4"; "" if the name is unambiguous."""
        return ""

    @abstractmethod
    def values(self, lists: RankedLists) -> Vector:
        """Return the value for each query, shape (Q,), NaN if the measure is undefined.

        A measure may ignore ties: unless `averages_ties`, `expected` passes lists in which the order is decided.
        """

    def expected(self, lists: RankedLists) -> Vector:
        """Return the value for each query by the tie rule of the lists, shape (Q,), NaN if the measure is undefined.

        With ``ties="mean"`` it is the mean over all orders of documents with equal scores. The measures of this package
        compute the mean exactly. For other measures, the mean is over all orders that differ in labels if a query has
        at most 1,000 of them, else over 1,000 random orders, which do not depend on the order of rows.
        """
        _require_lists(lists)
        if self.averages_ties or lists.groups is None:
            return self.values(lists)
        return mean_over_orders(self.values, lists)

    def range_over_ties(self, lists: RankedLists) -> TieRange:
        """Return the range of `mean` over all orders of documents with equal scores, whatever the tie rule.

        At the low end, the better of tied documents are behind; at the high end, they are ahead. A measure that
        sometimes rewards a worse document ahead, as `InfAP` does with unjudged documents, may leave the range.

        Examples
        --------
        >>> from structsvm.metrics import AP, rank_lists
        >>> AP().range_over_ties(rank_lists([2.0, 2.0, 1.0], [1, 0, 0]))
        TieRange(queries=1, low=0.5, high=1.0)
        """
        return TieRange.of(*self.ends_over_ties(lists), self.over_queries)

    def ends_over_ties(self, lists: RankedLists) -> tuple[Vector, Vector]:
        """Return the values per query with the better of tied documents behind and ahead; see `range_over_ties`."""
        _require_lists(lists)
        low, high = (self.of(lists.in_order(best_first=best)).values for best in (False, True))
        return low, high

    def of(self, lists: RankedLists) -> PerQuery:
        """Return the value per query of documents ranked by `rank_lists`."""
        values = self.expected(lists)
        return self.counted(lists.ids, values)

    def counted(self, ids: NDArray[Any], values: Vector) -> PerQuery:
        """Replace undefined values by 0, or leave their queries out if ``empty="skip"``."""
        if self.empty == "skip":
            defined = ~np.isnan(values)
            return PerQuery(ids[defined], values[defined])
        return PerQuery(ids, np.nan_to_num(values, nan=0.0))

    def per_query(
        self,
        scores: ArrayLike,
        labels: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        doc_ids: ArrayLike | None = None,
        judged: Judgments | None = None,
        ties: Ties | None = None,
        all_topics: bool = False,
    ) -> PerQuery:
        """Return the ids of queries, in order of first appearance, and the value for each (``ids``, ``values``).

        Arguments and errors are as in `rank_lists`. With ``empty="skip"``, the result lacks queries for which the
        measure is undefined.
        """
        lists = rank_lists(scores, labels, qid, doc_ids=doc_ids, judged=judged, ties=ties, all_topics=all_topics)
        return self.of(lists)

    def mean(
        self,
        scores: ArrayLike,
        labels: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        weights: Weights | None = None,
        doc_ids: ArrayLike | None = None,
        judged: Judgments | None = None,
        ties: Ties | None = None,
        all_topics: bool = False,
    ) -> float:
        """Return the mean over queries, or the sum or geometric mean; see `summary`.

        Parameters
        ----------
        scores, labels, qid, doc_ids, judged, ties, all_topics : as in `rank_lists`.
        weights : non-negative weight of each query: a mapping from query id, or an array of all queries in order of
            first appearance in `qid`. Default: equal weights.
        """
        lists = rank_lists(scores, labels, qid, doc_ids=doc_ids, judged=judged, ties=ties, all_topics=all_topics)
        values, weight = self.weighted(lists, None if weights is None else _weights(weights, lists.ids))
        self.require_weight(float(weight.sum()))
        return self.over_queries(values, weight)

    def weighted(self, lists: RankedLists, weights: Vector | None = None) -> tuple[Vector, Vector]:
        """Return values (0 if undefined) and weights for `over_queries`, shape (Q,) each.

        Weights are 1 by default. With ``empty="skip"``, queries without a value have weight 0.
        """
        values = self.expected(lists)
        weight = np.ones(len(lists.ids)) if weights is None else weights
        if self.empty == "skip":
            weight = np.where(np.isnan(values), 0.0, weight)
        return np.nan_to_num(values, nan=0.0), weight

    def require_weight(self, total: float) -> None:
        """Reject a mean if no query has both a value and a weight; ``total`` is the sum of weights."""
        if total <= 0.0:
            raise InputError(
                f"{self} has no mean: no query has both a value and a weight above 0. "
                "With empty='zero' a query without a value counts 0."
            )

    def over_queries(self, values: Vector, weights: Vector | None = None) -> float:
        """Return the mean of the values of queries, shape (Q,), or their sum or geometric mean; see `summary`.

        Weights are non-negative and not all 0, shape (Q,); 1 by default.
        """
        if self.summary == "sum":
            return float(values.sum() if weights is None else values @ weights)
        if self.summary == "geometric mean":
            return float(np.exp(np.average(np.log(values), weights=weights)))
        return float(np.average(values, weights=weights))

    def __str__(self) -> str:
        """Return the name that `parse_measure` accepts, such as ``ndcg@10`` or ``map(empty=skip)``."""
        return spell(self.name, self, self.named_by) or repr(self)


def parse_measure(text: str) -> Measure:
    """Return the measure with this name; ``str(measure)`` is the name again.

    Case, ``-``, ``_`` and blanks do not matter, with one exception: ``nDCG``, spelled like this, is ir_measures'
    measure with linear gain; other spellings of ``ndcg`` have exponential gain. A cut-off follows ``@``, and other
    settings follow in parentheses: ``map(relevant_from=2,empty=skip)``. Names of trec_eval and ir_measures
    (``ndcg_cut_10``, ``nDCG@10``, ``AP(rel=2)@100``) keep their meaning. Other packages can add names through entry
    points of the group ``structsvm.measures``.

    Parameters
    ----------
    text : the name.

    Raises
    ------
    UnknownNameError : no measure has this name; the message suggests the nearest one.

    Examples
    --------
    >>> parse_measure("NDCG@10")
    NDCG(empty='zero', k=10, discount='standard', gain='exponential')
    >>> str(parse_measure("letor-ndcg@10"))
    'letor_ndcg@10'
    >>> str(parse_measure("ndcg_cut_10"))
    'ndcg@10(gain=linear)'
    """
    measure: Measure = measures.create(text)
    return measure


def checked_measures(wanted: Any) -> list[Measure]:
    """Return one or several measures, by name or as objects."""
    listed = [wanted] if isinstance(wanted, str | Measure) else as_list("measures", wanted, "a list of measures")
    if not listed:
        raise InputError("the list of measures is empty: name at least one")
    return [measures.create(measure) for measure in listed]


def _require_lists(lists: RankedLists) -> None:
    """Reject runs, judgments and scores that are not ranked yet."""
    words = "ranked lists, from rank_run(run, qrels) of a run or from rank_lists(scores, labels, qid)"
    require_kind("lists", lists, RankedLists, words)


def _weights(weights: Weights, ids: NDArray[Any]) -> Vector:
    if isinstance(weights, Mapping):
        keys = ids.tolist()
        lacking = [key for key in keys if key not in weights]
        if lacking:
            raise InputError(
                f"weights has no entry for {counted(len(lacking), 'query', 'queries')}, such as {lacking[0]!r}"
            )
        weights = [weights[key] for key in keys]
    vector = as_vector(weights, "weights")
    if vector.shape != ids.shape:
        raise InputError(f"weights must have one entry per query: {len(vector)} weights, {len(ids)} queries")
    if not (np.isfinite(vector) & (vector >= 0)).all():
        raise InputError("weights must be finite and not negative")
    return vector


def _threshold(value: Any) -> Any:
    """Convert a number to float; leave other values for the validator."""
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return value


@frozen
class BinaryMeasure(Measure):
    """Base class of measures of documents that are relevant or not; derive from it to write a measure.

    Parameters
    ----------
    relevant_from : the smallest relevant label. Default: every label above 0 is relevant.
    empty : see `Measure`.

    Examples
    --------
    >>> from attrs import frozen
    >>> @frozen
    ... class Success(BinaryMeasure):  # 1 if the first document is relevant
    ...     name = "success"
    ...     def values(self, lists):
    ...         return lists.total(self.found(lists) & (lists.rank == 1))
    >>> Success().mean([2.0, 1.0, 1.0, 2.0], [1, 0, 1, 0], [7, 7, 8, 8])
    0.5
    >>> str(Success(relevant_from=2))
    'success(relevant_from=2)'
    """

    relevant_from: float | None = field(
        default=None, kw_only=True, converter=_threshold, validator=attrs.validators.optional(finite)
    )

    def relevant(self, labels: Vector) -> BoolVector:
        """Return a mask of the relevant labels."""
        return labels > 0 if self.relevant_from is None else labels >= self.relevant_from

    def found(self, lists: RankedLists) -> BoolVector:
        """Return a mask of the relevant ranked documents, shape (n,); unjudged documents are not relevant."""
        if self.relevant_from is not None and self.relevant_from <= 0:
            lists.require_judged(self)
        return self.relevant(lists.label) & lists.is_judged

    def n_relevant(self, lists: RankedLists) -> Vector:
        """Return the number of judged relevant documents of each query; NaN instead of 0."""
        count = lists.total_judged(self.relevant(lists.judged))
        return np.where(count > 0, count, np.nan)

    def if_any(self, lists: RankedLists, values: NDArray[Any]) -> Vector:
        """Return the values of queries, shape (Q,), with NaN for queries without a judged relevant document."""
        return np.where(np.isnan(self.n_relevant(lists)), np.nan, values)
