"""What every measure shares: its input, its value per query, its mean, and its name."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError
from structsvm.metrics.ranking import as_vector, rank_documents
from structsvm.queries import Queries
from structsvm.registry import measures
from structsvm.registry.spelling import spell
from structsvm.settings import one_of
from structsvm.types import BoolVector, IntVector, Vector

Empty: TypeAlias = Literal["zero", "skip"]
"""What a query counts for which a measure is undefined: 0 in the mean, or left out of it."""

Summary: TypeAlias = Literal["mean", "geometric mean", "sum"]
"""How the values of queries become one: counts are summed."""

Weights: TypeAlias = Mapping[Any, float] | ArrayLike
"""Weights of queries: by query id, or in order of first appearance."""

Judged: TypeAlias = tuple[ArrayLike, ArrayLike]
"""Labels and query ids of all judged documents, also those that the ranking lacks."""


class PerQuery(NamedTuple):
    """The value of a measure for each query.

    Parameters
    ----------
    ids : query ids in order of first appearance, shape (Q,).
    values : the value for each of them, shape (Q,).

    Examples
    --------
    >>> from structsvm.metrics import parse_measure
    >>> found = parse_measure("mrr").per_query([2.0, 1.0, 1.0, 2.0], [1, 0, 1, 0], ["a", "a", "b", "b"])
    >>> dict(zip(found.ids.tolist(), found.values.tolist()))
    {'a': 1.0, 'b': 0.5}
    """

    ids: NDArray[Any]
    values: Vector


@frozen(eq=False)
class RankedLists:
    """Labels in ranked order, with all that was judged: what measures are computed from.

    Parameters
    ----------
    ids : query ids in order of first appearance, shape (Q,).
    query : position in `ids` of the query of each ranked document, ascending, shape (n,).
    rank : rank within the query, from 1, shape (n,).
    label : label of each ranked document, shape (n,).
    tied : whether each ranked document has the score of the one before it in its query, shape (n,).
    is_judged : whether each ranked document was judged, shape (n,). Of one that was not the label is 0 or less.
    is_pooled : whether each ranked document was judged or set apart for judging, shape (n,).
    judged : labels of the judged documents, in any order, shape (m,).
    judged_query : position in `ids` of the query of each judged document, shape (m,).

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([1.0, 3.0, 2.0, 5.0], [1, 0, 2, 1], [7, 7, 7, 8])
    >>> lists.ids.tolist(), lists.query.tolist(), lists.rank.tolist(), lists.label.tolist()
    ([7, 8], [0, 0, 0, 1], [1, 2, 3, 1], [0.0, 2.0, 1.0, 1.0])
    >>> lists.total(lists.label > 0)  # relevant documents of each query
    array([2., 1.])
    >>> [parse_measure(name).of(lists).values.round(2).tolist() for name in ("map", "mrr")]
    [[0.58, 1.0], [0.5, 1.0]]
    """

    ids: NDArray[Any]
    query: IntVector
    rank: IntVector
    label: Vector
    tied: BoolVector
    is_judged: BoolVector
    is_pooled: BoolVector
    judged: Vector
    judged_query: IntVector

    def total(self, values: Vector | IntVector | BoolVector) -> Vector:
        """Sum a value per ranked document over each query, shape (Q,)."""
        return np.asarray(np.bincount(self.query, values, len(self.ids)), dtype=np.float64)

    def total_judged(self, values: Vector | BoolVector) -> Vector:
        """Sum a value per judged document over each query, shape (Q,)."""
        return np.asarray(np.bincount(self.judged_query, values, len(self.ids)), dtype=np.float64)

    def count_down(self, marked: BoolVector) -> IntVector:
        """Return the number of marked documents from the top of its list down to each ranked document, shape (n,)."""
        count: IntVector = np.cumsum(marked)
        before_list: IntVector = (count - marked)[self.rank == 1]
        found: IntVector = count - before_list[self.query]
        return found

    def require_judged(self, measure: "Measure") -> None:
        """Refuse lists that do not tell which of their documents were judged, for a measure that looks at it.

        Raises
        ------
        InputError : more documents of a query are ranked as judged than were judged.
        """
        ranked, judged = self.total(self.is_judged), np.bincount(self.judged_query, minlength=len(self.ids))
        wrong = np.flatnonzero(ranked > judged)
        if len(wrong):
            query = wrong[0]
            raise InputError(
                f"{measure} looks at which documents were judged: of query {self.ids.tolist()[query]!r} "
                f"{judged[query]} were, and {ranked[query]:g} are ranked as if they were. Labels of "
                "documents that were not must be NaN, as Qrels.grades_of has them"
            )


def rank_lists(
    scores: ArrayLike,
    labels: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    doc_ids: ArrayLike | None = None,
    judged: Judged | None = None,
) -> RankedLists:
    """Rank the documents of every query once, for one measure or several (`Measure.of`).

    Parameters
    ----------
    scores : one number per document, larger is ahead, shape (n,).
    labels : label of each document, shape (n,): a grade, or relevant (> 0) or not. With `judged`, NaN
        stands for a document that the judgments do not have, and a label below 0 for one that was set
        apart for judging and not judged (`structsvm.data.Qrels.grades_of`): neither is relevant, whatever
        `relevant_from` is, and some measures tell them from documents that were judged not relevant.
        Without, all are judged.
    qid : query id of each row, shape (n,); rows of a query need not be contiguous. None means
        one query.
    doc_ids : document ids, shape (n,): documents of one score are ranked by id, descending, as
        in trec_eval. None: they keep the order of the input.
    judged : (labels, query ids) of all judged documents when the ranking does not hold them
        all: the denominators of trec_eval. Queries that are not ranked are ignored, and so are labels
        below 0; a ranked query without a judged document has no relevant one. None: the ranked documents.

    Raises
    ------
    InputError : lengths differ, a score is NaN, a label is infinite, or NaN without `judged`, or no
        ranked query is judged.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.metrics import AP, rank_lists
    >>> lists = rank_lists(np.array([3.0, 2.0, 1.0]), np.array([1.0, 0.0, 1.0]), np.array([1, 1, 1]))
    >>> AP().values(lists).round(3).tolist()
    [0.833]
    """
    grades = _labels(labels, "labels", missing=judged is not None)
    ranking = rank_documents(scores, qid, doc_ids=doc_ids)
    if len(grades) != len(ranking.order):
        raise InputError(f"there are {len(ranking.order)} scores and {len(grades)} labels")
    label = grades[ranking.order]
    score = as_vector(scores, "scores")[ranking.order]
    tied = np.zeros(len(score), dtype=np.bool_)
    tied[1:] = (score[1:] == score[:-1]) & (ranking.rank[1:] > 1)
    if judged is None:
        every = np.ones(len(label), dtype=np.bool_)
        return RankedLists(ranking.ids, ranking.query, ranking.rank, label, tied, every, every, label, ranking.query)
    given: Any = judged
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError(f"judged must be labels and query ids of the judged documents, (labels, qid), got {judged!r}")
    judged_label = _labels(judged[0], "judged labels")
    queries = Queries.of(judged[1], len(judged_label))
    known = Queries.of(np.concatenate([ranking.ids, queries.ids]), len(ranking.ids) + len(queries.ids)).number
    number = known[len(ranking.ids) :][queries.number]
    ranked = number < len(ranking.ids)
    if not ranked.any():
        raise InputError(f"no ranked query is judged: ranked are {_some(ranking.ids)}, judged {_some(queries.ids)}")
    ranked &= judged_label >= 0
    is_pooled = ~np.isnan(label)
    return RankedLists(
        ranking.ids,
        ranking.query,
        ranking.rank,
        np.where(is_pooled, label, 0.0),
        tied,
        is_pooled & (label >= 0),
        is_pooled,
        judged_label[ranked],
        number[ranked],
    )


@frozen
class Measure(ABC):
    """A measure of rankings. A value: frozen, comparable, and its text is its name.

    ``measure.mean(scores, labels, qid)`` is the number that papers report,
    ``measure.per_query(scores, labels, qid)`` what it is the mean of.

    Parameters
    ----------
    empty : how a query counts for which the measure is undefined: "zero" (as LETOR's tools and
        trec_eval do) or "skip" (it is left out, as queries without any judgment are by trec_eval).

    Examples
    --------
    >>> from structsvm.metrics import parse_measure
    >>> measure = parse_measure("p@1")
    >>> scores, labels, qid = [2.0, 1.0, 1.0, 2.0], [1, 0, 1, 0], [7, 7, 8, 8]
    >>> measure.mean(scores, labels, qid)
    0.5
    >>> measure.mean(scores, labels, qid, weights={7: 3.0, 8: 1.0})
    0.75
    >>> measure == parse_measure(str(measure))
    True
    """

    named_by: ClassVar[tuple[str, ...]] = ()
    """The settings that the name alone shows."""

    behind_at: ClassVar[str] = "k"
    """The setting that is written behind ``@``."""

    summary: ClassVar[Summary] = "mean"
    """What `mean` makes of the values of the queries."""

    empty: Empty = field(default="zero", kw_only=True, validator=one_of("zero", "skip"))

    @property
    @abstractmethod
    def name(self) -> str:
        """The name without cut-off and settings, as `parse_measure` reads it."""

    @property
    def note(self) -> str:
        """What distinguishes the measure from others of the same name, as a clause; "" where there are none."""
        return ""

    @abstractmethod
    def values(self, lists: RankedLists) -> Vector:
        """Return the value for each query, shape (Q,), NaN where the measure is undefined."""

    def of(self, lists: RankedLists) -> PerQuery:
        """Return the value per query of documents that `rank_lists` has ranked."""
        values = self.values(lists)
        if self.empty == "skip":
            defined = ~np.isnan(values)
            return PerQuery(lists.ids[defined], values[defined])
        return PerQuery(lists.ids, np.nan_to_num(values, nan=0.0))

    def per_query(
        self,
        scores: ArrayLike,
        labels: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        doc_ids: ArrayLike | None = None,
        judged: Judged | None = None,
    ) -> PerQuery:
        """Return the query ids, in order of first appearance, and the value for each.

        The arguments and errors are those of `rank_lists`. With ``empty="skip"``, queries for
        which the measure is undefined are missing from the result.
        """
        return self.of(rank_lists(scores, labels, qid, doc_ids=doc_ids, judged=judged))

    def mean(
        self,
        scores: ArrayLike,
        labels: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        weights: Weights | None = None,
        doc_ids: ArrayLike | None = None,
        judged: Judged | None = None,
    ) -> float:
        """Return the mean over queries, or what the measure has in its place: see `summary`.

        The arguments are those of `rank_lists`, and one more.

        Parameters
        ----------
        weights : weight of each query, non-negative: a mapping from query id, or an array in
            order of first appearance in `qid` of all queries, also those without a value. None:
            all the same.

        Raises
        ------
        InputError : as `rank_lists`; weights that do not fit; or ``empty="skip"`` leaves no query.
        """
        lists = rank_lists(scores, labels, qid, doc_ids=doc_ids, judged=judged)
        values, weight = self.weighted(lists, None if weights is None else _weights(weights, lists.ids))
        self.require_weight(float(weight.sum()))
        return self.over_queries(values, weight)

    def weighted(self, lists: RankedLists, weights: Vector | None = None) -> tuple[Vector, Vector]:
        """Return what `over_queries` takes: the value of each query, 0 where there is none, and its weight, shape (Q,).

        Parameters
        ----------
        lists : documents that `rank_lists` has ranked.
        weights : weights of the queries; None: all 1. With ``empty="skip"``, those without a value have weight 0.
        """
        values = self.values(lists)
        weight = np.ones(len(lists.ids)) if weights is None else weights
        if self.empty == "skip":
            weight = np.where(np.isnan(values), 0.0, weight)
        return np.nan_to_num(values, nan=0.0), weight

    def require_weight(self, total: float) -> None:
        """Refuse a mean over queries none of which has both a value and a weight, given the sum of `weighted`."""
        if total <= 0.0:
            raise InputError(
                f"{self} has no mean: no query has both a value and a weight above 0. "
                "With empty='zero' a query without a value counts 0."
            )

    def over_queries(self, values: Vector, weights: Vector | None = None) -> float:
        """Return the mean of values of queries, shape (Q,), or what the measure has in its place: see `summary`.

        Parameters
        ----------
        values : as `of` returns them.
        weights : non-negative, not all 0, shape (Q,). None: all 1.
        """
        if self.summary == "sum":
            return float(values.sum() if weights is None else values @ weights)
        if self.summary == "geometric mean":
            return float(np.exp(np.average(np.log(values), weights=weights)))
        return float(np.average(values, weights=weights))

    def __str__(self) -> str:
        """Return the name that `parse_measure` reads, such as ``ndcg@10`` or ``map(empty=skip)``."""
        return spell(self.name, self, self.named_by) or repr(self)


def measure_names() -> list[str]:
    """Return the names that `parse_measure` reads, with a cut-off as an example where there may be one.

    Examples
    --------
    >>> from structsvm.metrics import measure_names
    >>> measure_names()[:2]
    ['map', 'roc_area']
    """
    return measures.names()


def parse_measure(text: str) -> Measure:
    """Return the measure of that name; ``str(measure)`` is the name again.

    Case does not matter, nor do ``-``, ``_`` and blanks, with one exception: ``nDCG``, in this case, is ir_measures'
    and has linear gain; ``ndcg`` in any other has exponential gain. A cut-off follows ``@``. Settings that
    are not the default stand in parentheses: ``map(relevant_from=2,empty=skip)``. Names of trec_eval
    and ir_measures are read too (``ndcg_cut_10``, ``nDCG@10``, ``AP(rel=2)@100``) and mean what they
    mean there. Other packages add to the names through entry points of the group ``structsvm.measures``.

    Parameters
    ----------
    text : the name.

    Raises
    ------
    UnknownNameError : no measure is called so; the message has the nearest name.
    InputError : a cut-off or setting is wrong, or lacking.

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


def _labels(labels: ArrayLike, name: str, *, missing: bool = False) -> Vector:
    values = as_vector(labels, name, missing=missing)
    if np.isinf(values).any():
        raise InputError(f"{name} must be finite: row {np.isinf(values).argmax()} is not")
    return values


def _weights(weights: Weights, ids: NDArray[Any]) -> Vector:
    if isinstance(weights, Mapping):
        keys = ids.tolist()
        lacking = [key for key in keys if key not in weights]
        if lacking:
            raise InputError(f"weights has no weight for query {lacking[0]!r} ({len(lacking)} queries lack one)")
        weights = [weights[key] for key in keys]
    vector = as_vector(weights, "weights")
    if vector.shape != ids.shape:
        raise InputError(f"weights must hold one weight per query: {len(vector)} weights, {len(ids)} queries")
    if not (np.isfinite(vector) & (vector >= 0)).all():
        raise InputError("weights must be finite and not negative")
    return vector


def _some(ids: NDArray[Any]) -> str:
    return ", ".join(map(repr, ids[:3].tolist())) + (", ..." if len(ids) > 3 else "")
