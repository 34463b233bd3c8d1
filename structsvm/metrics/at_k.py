"""Measures of the first ranks: precision, recall, success, reciprocal rank and others."""

from typing import Any, ClassVar

import attrs
import numpy as np
from attrs import field, frozen

from structsvm.foundation.settings import at_least, within
from structsvm.foundation.types import BoolVector, Vector
from structsvm.metrics.base import BinaryMeasure, Measure
from structsvm.metrics.ranking import RankedLists


@frozen
class _AtK(BinaryMeasure):
    """A measure of the number of relevant documents among the first k."""

    averages_ties: ClassVar[bool] = True

    k: int = field(validator=at_least(1))

    def hits(self, lists: RankedLists) -> Vector:
        """Return the number of relevant documents among the first k of each query; NaN if none is judged relevant."""
        return self.if_any(lists, lists.total(lists.share(self.found(lists)) * lists.within(self.k)))


@frozen
class P(_AtK):
    """Precision at k: the number of relevant documents among the first k, divided by k, even if fewer are ranked.

    Undefined without a relevant document. Name: ``p@5``.

    Parameters
    ----------
    k : cut-off, at least 1.
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> P(k=2).mean([3.0, 2.0, 1.0], [1, 0, 1])
    0.5
    """

    name: ClassVar[str] = "p"

    def values(self, lists: RankedLists) -> Vector:
        return self.hits(lists) / self.k


@frozen
class Recall(_AtK):
    """Recall at k: the share of the R relevant documents that are among the first k.

    R includes the relevant documents of `judged` that are not ranked, as in trec_eval. Undefined without a relevant
    document. Name: ``recall@10``.

    Parameters
    ----------
    k : cut-off, at least 1.
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> Recall(k=2).mean([3.0, 2.0, 1.0], [1, 0, 1])
    0.5
    """

    name: ClassVar[str] = "recall"

    def values(self, lists: RankedLists) -> Vector:
        return self.hits(lists) / self.n_relevant(lists)


@frozen
class Success(_AtK):
    """Success (hit) at k: 1 if a relevant document is among the first k, else 0.

    Undefined without a relevant document. Name: ``success@5``.

    Parameters
    ----------
    k : cut-off, at least 1.
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> Success(k=1).mean([3.0, 2.0, 1.0], [1, 0, 1])
    1.0
    """

    name: ClassVar[str] = "success"

    def values(self, lists: RankedLists) -> Vector:
        if lists.groups is None:
            return np.minimum(self.hits(lists), 1.0)
        first = _chance_of_first(self.found(lists), lists)
        return self.if_any(lists, np.minimum(lists.total(first * lists.within(self.k)), 1.0))


@frozen
class Rprec(BinaryMeasure):
    """R-precision: precision at R, the number of documents judged relevant.

    Undefined without a relevant document. Name: ``rprec``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> Rprec().mean([3.0, 2.0, 1.0], [1, 0, 1])
    0.5
    """

    name: ClassVar[str] = "rprec"
    averages_ties: ClassVar[bool] = True

    def values(self, lists: RankedLists) -> Vector:
        n_relevant = self.n_relevant(lists)
        within = lists.rank <= np.nan_to_num(n_relevant)[lists.query]
        return lists.total(lists.share(self.found(lists)) * within) / n_relevant


@frozen
class RR(BinaryMeasure):
    """Reciprocal rank of the first relevant document; 0 if no relevant document is ranked.

    Undefined without a relevant document. Its mean over queries is MRR. Name: ``mrr``, ``mrr@10``.

    Parameters
    ----------
    k : only the first k documents count. Default: all.
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> RR().mean([3.0, 2.0, 1.0], [0, 1, 1])
    0.5
    """

    name: ClassVar[str] = "mrr"
    averages_ties: ClassVar[bool] = True

    k: int | None = field(default=None, validator=attrs.validators.optional(at_least(1)))

    def values(self, lists: RankedLists) -> Vector:
        first = _chance_of_first(self.found(lists), lists) * lists.within(self.k)
        return self.if_any(lists, lists.total(first / lists.rank))


@frozen
class RBP(BinaryMeasure):
    """Rank-biased precision: (1 − p) Σ p^(rank − 1) over the ranked relevant documents.

    Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness", TOIS 2008, equation 5, for
    binary relevance. This is the base value: unjudged documents add 0. Undefined without a relevant document. Name:
    ``rbp``, ``rbp@10``, ``rbp(p=0.95)``.

    Parameters
    ----------
    k : only the first k documents count. Default: all.
    p : persistence, the probability that a user continues to the next document, between 0 and 1.
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> round(RBP().mean([3.0, 2.0, 1.0], [1, 0, 1]), 3)
    0.328
    """

    name: ClassVar[str] = "rbp"
    averages_ties: ClassVar[bool] = True

    k: int | None = field(default=None, validator=attrs.validators.optional(at_least(1)))
    p: float = field(default=0.8, kw_only=True, validator=within(0.0, 1.0, ends=False))

    @property
    def note(self) -> str:
        return f"p = {self.p:g}"

    def values(self, lists: RankedLists) -> Vector:
        relevance = lists.share(self.found(lists))
        counting = relevance.astype(np.bool_, copy=False) & lists.within(self.k)
        terms = (1.0 - self.p) * self.p ** (lists.rank[counting] - 1.0)
        if lists.groups is not None:
            terms *= relevance[counting]
        return self.if_any(lists, np.bincount(lists.query[counting], terms, len(lists.ids)))


@frozen
class Judged(Measure):
    """Share of judged documents among the first k, or among all if fewer are ranked.

    A document with a grade below 0 was not judged. Name: ``judged@10``, ``judged``.

    Parameters
    ----------
    k : cut-off. Default: all ranked documents.
    empty : see `Measure`; the share is defined for every query.

    Examples
    --------
    >>> Judged(k=2).mean([3.0, 2.0, 1.0], [1, -1, 1], judged=([1, 1], [0, 0]))
    0.5
    """

    name: ClassVar[str] = "judged"
    averages_ties: ClassVar[bool] = True

    k: int | None = field(default=None, validator=attrs.validators.optional(at_least(1)))

    def values(self, lists: RankedLists) -> Vector:
        lists.require_judged(self)
        counting = lists.within(self.k)
        return lists.total(lists.share(lists.is_judged) * counting) / np.maximum(lists.total(counting), 1.0)


def _chance_of_first(relevant: BoolVector, lists: RankedLists) -> Vector:
    """Return the chance of each rank, over the orders of tied documents, to have the first relevant document."""
    count = lists.count_down(relevant)
    first: Any = relevant & (count == 1)
    chance: Vector = first
    groups = lists.groups
    if groups is None:
        return chance
    chance = first.astype(np.float64)
    chance[groups.rows] = 0.0
    hits = groups.total(relevant)
    above = (count - relevant)[groups.first]
    for group in np.flatnonzero((above == 0) & (hits > 0)):
        start, size = groups.first[group], groups.size[group]
        remaining = np.arange(size, 0, -1)
        none_yet = np.cumprod(np.append(1.0, np.maximum(remaining - hits[group], 0.0) / remaining))
        chance[start : start + size] = none_yet[:-1] * hits[group] / remaining
    return chance
