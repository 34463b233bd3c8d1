"""Rank documents by score with the package's only tie rule, and prepare ranked lists, the input of all measures."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from attrs import evolve, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError, brief
from structsvm.foundation.arrays import numbers
from structsvm.foundation.memory import require_memory
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import require_choice, require_switch
from structsvm.foundation.types import BoolVector, IntVector, Vector

Judgments: TypeAlias = tuple[ArrayLike, ArrayLike]
"""Labels and query ids of all judged documents, including documents that the ranking lacks."""

Ties: TypeAlias = Literal["mean", "trec", "input"]
"""Value of tied documents: the mean over all their orders, descending by document id, or in the order of rows."""


@frozen(eq=False)
class Ranking:
    """The rows of all queries, grouped by query, best first: row numbers ``order``, and ``rank`` from 1."""

    ids: NDArray[Any]
    order: IntVector
    query: IntVector
    rank: IntVector


def rank_documents(scores: ArrayLike, qid: ArrayLike | None = None, *, doc_ids: ArrayLike | None = None) -> Ranking:
    """Rank each query by descending score; ties keep the order of rows, or descend by ``doc_ids``, as in trec_eval."""
    values = as_vector(scores, "scores")
    rows = _tie_order(len(values), doc_ids)
    if qid is None:
        one = np.zeros(len(rows), dtype=np.int64)
        order = rows[np.argsort(-values[rows], kind="stable")]
        return Ranking(ids=np.zeros(1, dtype=np.int64), order=order, query=one, rank=np.arange(1, len(rows) + 1))
    queries = Queries.of(qid, len(values))
    rows = rows[np.argsort(queries.number[rows], kind="stable")]
    start, size = queries.ptr[:-1], queries.sizes
    return Ranking(
        ids=queries.ids,
        order=rows[_sort_descending(values[rows], start, size)],
        query=queries.number[rows],
        rank=np.arange(1, len(rows) + 1) - np.repeat(start, size),
    )


@frozen(eq=False)
class TieGroups:
    """Groups of documents with equal scores and different labels.

    Parameters
    ----------
    rows : positions of the documents in the ranked lists, group after group, shape (m,).
    group : group of each of these documents, ascending from 0, shape (m,).
    first : position of the first document of each group in the ranked lists, shape (G,).
    size : number of documents of each group, shape (G,).
    """

    rows: IntVector
    group: IntVector
    first: IntVector
    size: IntVector

    @classmethod
    def among(cls, tied: BoolVector, *kinds: NDArray[Any]) -> "TieGroups | None":
        """Return the groups of tied documents that differ in one of the ``kinds``; None if no group does."""
        rows = np.flatnonzero(tied)
        differing = rows[np.logical_or.reduce([kind[rows] != kind[rows - 1] for kind in kinds])]
        if not len(differing):
            return None
        first = np.flatnonzero(~tied)
        size = np.diff(np.append(first, len(tied)))
        mixed = np.unique(np.searchsorted(first, differing, "right") - 1)
        first, size = first[mixed], size[mixed]
        group = np.repeat(np.arange(len(first)), size)
        rows = np.arange(len(group)) - np.repeat(np.cumsum(size) - size, size) + first[group]
        return cls(rows, group, first, size)

    def total(self, values: Vector | IntVector | BoolVector) -> Vector:
        """Sum a value per ranked document, shape (n,), over each group, shape (G,)."""
        return np.asarray(np.bincount(self.group, values[self.rows], len(self.first)), dtype=np.float64)


@frozen(eq=False)
class RankedLists:
    """The labels of ranked documents, best first, with all judgments: the input of measures.

    With ``ties="mean"``, the order of documents with equal scores is undecided; the lists contain them in ascending
    order of labels.

    Parameters
    ----------
    ids : query ids in order of first appearance, shape (Q,).
    query : position in `ids` of the query of each ranked document, ascending, shape (n,).
    rank : rank within the query, from 1, shape (n,).
    label : label of each ranked document, shape (n,).
    tied : True if a ranked document has the same score as its predecessor in the query, shape (n,).
    is_judged : mask of judged ranked documents, shape (n,). Documents that were not judged have labels of 0 or less.
    is_pooled : mask of ranked documents that were judged or set apart for judging, shape (n,).
    judged : labels of the judged documents, in any order, shape (m,).
    judged_query : position in `ids` of the query of each judged document, shape (m,).
    ties : the tie rule; see `rank_lists`.

    Examples
    --------
    >>> from structsvm.metrics import rank_lists
    >>> lists = rank_lists([1.0, 3.0, 2.0, 5.0], [1, 0, 2, 1], [7, 7, 7, 8])
    >>> lists.ids.tolist(), lists.query.tolist(), lists.rank.tolist(), lists.label.tolist()
    ([7, 8], [0, 0, 0, 1], [1, 2, 3, 1], [0.0, 2.0, 1.0, 1.0])
    >>> lists.total(lists.label > 0)  # relevant documents of each query
    array([2., 1.])
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
    ties: Ties = "mean"

    @cached_property
    def straddling(self) -> TieGroups | None:
        """The groups of documents with equal scores and different labels or judgments; None if no such group exists."""
        return TieGroups.among(self.tied, self.label, self.is_judged, self.is_pooled)

    @property
    def groups(self) -> TieGroups | None:
        """The groups over whose orders a measure takes the mean; None if the order of all documents is decided."""
        return self.straddling if self.ties == "mean" else None

    def in_order(self, *, best_first: bool) -> "RankedLists":
        """Decide the order of tied documents by their labels; unjudged documents are the worst."""
        groups = self.straddling
        if groups is None:
            return evolve(self, ties="input")
        worth = np.where(self.is_judged, self.label, -np.inf)[groups.rows]
        order = groups.rows[np.lexsort((self.is_pooled[groups.rows], -worth if best_first else worth, groups.group))]
        arrays = {name: getattr(self, name).copy() for name in ("label", "is_judged", "is_pooled")}
        for array in arrays.values():
            array[groups.rows] = array[order]
        return evolve(self, **arrays, ties="input")

    def _canonical(self) -> "RankedLists":
        """Put tied documents into an order that does not depend on that of the rows, nor do the last bits of sums."""
        if self.groups is None:
            return self
        return evolve(self.in_order(best_first=False), ties=self.ties)

    def share(self, values: Any) -> Vector:
        """Replace the value of each ranked document by its mean over the orders of tied documents, shape (n,)."""
        groups = self.groups
        shared: Vector = values
        if groups is None:
            return shared
        shared = values.astype(np.float64)
        shared[groups.rows] = (groups.total(values) / groups.size)[groups.group]
        return shared

    def total(self, values: Vector | IntVector | BoolVector) -> Vector:
        """Sum a value per ranked document over each query, shape (Q,)."""
        return np.asarray(np.bincount(self.query, values, len(self.ids)), dtype=np.float64)

    def total_judged(self, values: Vector | BoolVector) -> Vector:
        """Sum a value per judged document over each query, shape (Q,)."""
        return np.asarray(np.bincount(self.judged_query, values, len(self.ids)), dtype=np.float64)

    def count_down(self, marked: BoolVector) -> IntVector:
        """Count the marked documents from the top of the list down to each ranked document, shape (n,)."""
        count: IntVector = np.cumsum(marked)
        top = self.rank == 1
        before_list = np.zeros(len(self.ids), dtype=np.int64)
        before_list[self.query[top]] = (count - marked)[top]
        counts: IntVector = count - before_list[self.query]
        return counts

    def within(self, k: int | None) -> BoolVector:
        """Return a mask of the first k documents of each query, shape (n,); of all documents if k is None."""
        return np.ones(len(self.rank), dtype=np.bool_) if k is None else self.rank <= k

    def require_judged(self, measure: object) -> None:
        """Reject lists that do not distinguish judged documents, for a measure that depends on them."""
        ranked, judged = self.total(self.is_judged), np.bincount(self.judged_query, minlength=len(self.ids))
        wrong = np.flatnonzero(ranked > judged)
        if len(wrong):
            query = wrong[0]
            raise InputError(
                f"{measure} depends on which documents were judged: query {self.ids.tolist()[query]!r} has "
                f"{judged[query]} judged documents, but {ranked[query]:g} are ranked as judged. Labels of unjudged "
                "documents must be NaN, as Qrels.grades_of returns them"
            )


def rank_lists(
    scores: ArrayLike,
    labels: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    doc_ids: ArrayLike | None = None,
    judged: Judgments | None = None,
    ties: Ties | None = None,
    all_topics: bool = False,
) -> RankedLists:
    """Rank the documents of every query once, for one measure or several (`Measure.of`).

    Parameters
    ----------
    scores : one number per document, larger is ahead, shape (n,).
    labels : label of each document, shape (n,): a grade; by default, above 0 if relevant. With `judged`, NaN marks a
        document without judgment. Labels below 0 mark documents set apart for judging but not judged
        (`structsvm.data.Qrels.grades_of`). Both kinds are never relevant, but some measures distinguish them from
        documents judged not relevant. Without `judged`, all documents are judged.
    qid : query id of each row, shape (n,); rows of a query need not be contiguous. Default: one query.
    doc_ids : document ids, shape (n,), for ``ties="trec"``.
    judged : (labels, query ids) of all judged documents if the ranking lacks some of them, as in trec_eval. Labels
        below 0 are ignored. Default: the ranked documents.
    ties : treatment of documents with equal scores: "mean" takes the mean over all their orders; "trec" orders them by
        descending document id; "input" keeps the order of rows. Default: "trec" if `doc_ids` are given, else "mean".
    all_topics : also include queries of `judged` that are not ranked, as trec_eval's -c. Most measures are 0 for them.

    Examples
    --------
    >>> from structsvm.metrics import AP
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1])
    >>> AP().values(lists).round(3).tolist()
    [0.833]
    >>> AP().mean([1.0, 1.0], [1, 0]), AP().mean([1.0, 1.0], [1, 0], ties="input")
    (0.75, 1.0)
    """
    ties = _tie_rule(ties, doc_ids)
    require_switch("all_topics", all_topics)
    vectors: tuple[Any, Any] = (scores, labels)
    if any(isinstance(values, Mapping) for values in vectors):
        raise InputError(
            "scores and labels must have an entry per document, but one is a dictionary: pass a run and judgments to "
            "rank_run(run, qrels), and its result to the measure, as in AP().of(rank_run(run, qrels))"
        )
    grades = _labels(labels, "labels", missing=judged is not None)
    ranking = rank_documents(scores, qid, doc_ids=doc_ids if ties == "trec" else None)
    if len(grades) != len(ranking.order):
        raise InputError(f"there are {len(ranking.order)} scores and {len(grades)} labels")
    score = as_vector(scores, "scores")[ranking.order]
    tied = np.zeros(len(score), dtype=np.bool_)
    tied[1:] = (score[1:] == score[:-1]) & (ranking.rank[1:] > 1)
    label = grades[ranking.order]
    if judged is None:
        every = np.ones(len(label), dtype=np.bool_)
        if all_topics:
            raise InputError("all_topics needs judgments of queries that are not ranked: give judged")
        return RankedLists(
            ranking.ids, ranking.query, ranking.rank, label, tied, every, every, label, ranking.query, ties
        )._canonical()
    pair: Any = judged
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InputError(
            f"judged must be labels and query ids of the judged documents, (labels, qid), got {brief(judged)}"
        )
    judged_label = _labels(judged[0], "judged labels")
    queries = Queries.of(judged[1], len(judged_label))
    all_queries = Queries.of(np.concatenate([ranking.ids, queries.ids]), len(ranking.ids) + len(queries.ids))
    number = all_queries.number[len(ranking.ids) :][queries.number]
    ranked = number < len(ranking.ids)
    if not ranked.any():
        raise InputError(f"no ranked query is judged: ranked are {_some(ranking.ids)}, judged {_some(queries.ids)}")
    counting = (ranked | all_topics) & (judged_label >= 0)
    is_pooled = ~np.isnan(label)
    return RankedLists(
        all_queries.ids if all_topics else ranking.ids,
        ranking.query,
        ranking.rank,
        np.where(is_pooled, label, 0.0),
        tied,
        is_pooled & (label >= 0),
        is_pooled,
        judged_label[counting],
        number[counting],
        ties,
    )._canonical()


def _tie_rule(ties: Ties | None, doc_ids: ArrayLike | None) -> Ties:
    if ties is None:
        return "mean" if doc_ids is None else "trec"
    require_choice("ties", ties, ("mean", "trec", "input"))
    if ties == "trec" and doc_ids is None:
        raise InputError("ties='trec' orders documents with equal scores by their ids: give doc_ids, or ties='mean'")
    return ties


def as_vector(values: ArrayLike, name: str, *, missing: bool = False) -> Vector:
    """Return a non-empty float64 vector, without NaN unless ``missing``; errors call it ``name``."""
    vector = numbers(values, name)
    if vector.ndim != 1 or len(vector) == 0:
        raise InputError(f"{name} must be a vector with an entry per document; its shape is {vector.shape}")
    require_memory(len(vector), f"Flags for each of {len(vector):,} {name}", "rank fewer documents at a time")
    nan = np.isnan(vector)
    if nan.any() and not missing:
        raise InputError(f"{name} must not be NaN: {nan.sum()} of {len(vector)} are, first row {nan.argmax()}")
    return vector


def _labels(labels: ArrayLike, name: str, *, missing: bool = False) -> Vector:
    values = as_vector(labels, name, missing=missing)
    if np.isinf(values).any():
        raise InputError(f"{name} must be finite: row {np.isinf(values).argmax()} is not")
    return values


def _some(ids: NDArray[Any]) -> str:
    return ", ".join(map(repr, ids[:3].tolist())) + (", ..." if len(ids) > 3 else "")


def _tie_order(n: int, doc_ids: ArrayLike | None) -> IntVector:
    """Return row numbers in the order that equal scores get."""
    if doc_ids is None:
        return np.arange(n)
    try:
        names = np.asarray(doc_ids)
        if names.shape == (n,):
            return np.argsort(names, kind="stable")[::-1]
    except (TypeError, ValueError) as error:
        raise InputError(f"doc_ids must be all strings or all integers, one per row: {error}") from None
    raise InputError(f"doc_ids must have one document id per row, shape ({n},); its shape is {names.shape}")


def _sort_descending(values: Vector, start: IntVector, size: IntVector) -> IntVector:
    """Return positions that sort every list ``values[start : start + size]`` in descending order, stably."""
    order = np.empty(len(values), dtype=np.int64)
    size_class = np.frexp(size)[1]
    # One padded table per size class (a factor of two) is ten times faster than one sort of all rows by (list, value).
    for exponent in np.unique(size_class):
        lists = np.flatnonzero(size_class == exponent)
        column = np.arange(size[lists].max())
        filled = column < size[lists, None]
        positions = (start[lists, None] + column)[filled]
        table = np.full(filled.shape, np.inf)
        table[filled] = -values[positions]
        ranked = np.argsort(table, axis=1, kind="stable") + start[lists, None]
        order[positions] = ranked[filled]
    return order
