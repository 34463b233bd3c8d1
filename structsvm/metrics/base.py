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
    judged : labels of the judged documents, in any order, shape (m,).
    judged_query : position in `ids` of the query of each judged document, shape (m,).
    """

    ids: NDArray[Any]
    query: IntVector
    rank: IntVector
    label: Vector
    tied: BoolVector
    judged: Vector
    judged_query: IntVector

    def total(self, values: Vector | IntVector | BoolVector) -> Vector:
        """Sum a value per ranked document over each query, shape (Q,)."""
        return np.asarray(np.bincount(self.query, values, len(self.ids)), dtype=np.float64)

    def total_judged(self, values: Vector | BoolVector) -> Vector:
        """Sum a value per judged document over each query, shape (Q,)."""
        return np.asarray(np.bincount(self.judged_query, values, len(self.ids)), dtype=np.float64)


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
    labels : label of each document, shape (n,): a grade, or relevant (> 0) or not.
    qid : query id of each row, shape (n,); rows of a query need not be contiguous. None means
        one query.
    doc_ids : document ids, shape (n,): documents of one score are ranked by id, descending, as
        in trec_eval. None: they keep the order of the input.
    judged : (labels, query ids) of all judged documents when the ranking does not hold them
        all: the denominators of trec_eval. Queries that are not ranked are ignored; a ranked
        query without a judged document has no relevant one. None: the ranked documents.

    Raises
    ------
    InputError : lengths differ, a score or label is NaN, a label is infinite, or no ranked
        query is judged.
    """
    grades = _labels(labels, "labels")
    ranking = rank_documents(scores, qid, doc_ids=doc_ids)
    if len(grades) != len(ranking.order):
        raise InputError(f"there are {len(ranking.order)} scores and {len(grades)} labels")
    label = grades[ranking.order]
    score = as_vector(scores, "scores")[ranking.order]
    tied = np.zeros(len(score), dtype=np.bool_)
    tied[1:] = (score[1:] == score[:-1]) & (ranking.rank[1:] > 1)
    if judged is None:
        return RankedLists(ranking.ids, ranking.query, ranking.rank, label, tied, label, ranking.query)
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
    return RankedLists(ranking.ids, ranking.query, ranking.rank, label, tied, judged_label[ranked], number[ranked])


@frozen
class Measure(ABC):
    """A measure of rankings. A value: frozen, comparable, and its text is its name.

    ``measure.mean(scores, labels, qid)`` is the number that papers report,
    ``measure.per_query(scores, labels, qid)`` what it is the mean of.

    Parameters
    ----------
    empty : what a query counts for which the measure is undefined: "zero" (as LETOR's tools and
        trec_eval do) or "skip" (it is left out, as queries without any judgment are by trec_eval).
    """

    named_by: ClassVar[tuple[str, ...]] = ("k",)
    """The settings that the text shows without their names."""

    empty: Empty = field(default="zero", kw_only=True, validator=one_of("zero", "skip"))

    @property
    @abstractmethod
    def name(self) -> str:
        """The name without cut-off and settings, as `parse_measure` reads it."""

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
        """Return the mean over queries.

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
        weight = np.ones(len(lists.ids)) if weights is None else _weights(weights, lists.ids)
        values = self.values(lists)
        if self.empty == "skip":
            weight = np.where(np.isnan(values), 0.0, weight)
        if not weight.any():
            raise InputError(
                f"{self} has no mean: no query has both a value and a weight above 0. "
                "With empty='zero' a query without a value counts 0."
            )
        return float(np.average(np.nan_to_num(values, nan=0.0), weights=weight))

    def __str__(self) -> str:
        """Return the name that `parse_measure` reads, such as ``ndcg@10`` or ``map(empty=skip)``."""
        return spell(self.name, self, set(self.named_by) - {"k"}) or repr(self)


def measure_names() -> list[str]:
    """Return the names that `parse_measure` reads, with a cut-off as an example where there may be one."""
    return measures.names()


def parse_measure(text: str) -> Measure:
    """Return the measure of that name; ``str(measure)`` is the name again.

    Case does not matter, nor do ``-``, ``_`` and blanks. A cut-off follows ``@``. Settings that
    are not the default stand in parentheses: ``map(relevant_from=2,empty=skip)``. Other packages
    add to the names through entry points of the group ``structsvm.measures``.

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
    """
    measure: Measure = measures.create(text)
    return measure


def _labels(labels: ArrayLike, name: str) -> Vector:
    values = as_vector(labels, name)
    if not np.isfinite(values).all():
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
