"""Measures of pairs of documents with different labels."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from attrs import frozen

from structsvm.foundation.types import IntVector, Vector
from structsvm.metrics.base import BinaryMeasure, Measure
from structsvm.metrics.ranking import RankedLists


@frozen
class AUC(BinaryMeasure):
    """Area under the ROC curve: the share of pairs with the relevant document ahead.

    A tied pair counts 1/2, as in `sklearn.metrics.roc_auc_score`, unless the tie rule orders it. Only ranked
    documents count, not `judged` ones. Undefined unless a query has both kinds of document. Name: ``roc_area``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> AUC().mean([3.0, 2.0, 1.0], [1, 0, 1])
    0.5
    """

    name: ClassVar[str] = "roc_area"
    averages_ties: ClassVar[bool] = True

    def values(self, lists: RankedLists) -> Vector:
        return _share_in_order(lists, lambda order: self.found(order).astype(np.int64))


@frozen
class OrderedPairs(Measure):
    """The share of pairs of documents with different labels in which the better document is ahead.

    It is one minus the share of swapped pairs, which svm_rank reports and ``loss="swapped_pairs"`` trains. A tied pair
    counts 1/2, unless the tie rule orders it. Only ranked documents count, and unjudged ones have the label 0.
    Undefined if all labels of a query are equal. Name: ``ordered_pairs``.

    Parameters
    ----------
    empty : see `Measure`.

    Examples
    --------
    >>> OrderedPairs().mean([4.0, 3.0, 2.0, 1.0], [2, 0, 1, 0])  # one pair of five is swapped
    0.8
    """

    name: ClassVar[str] = "ordered_pairs"
    averages_ties: ClassVar[bool] = True

    def values(self, lists: RankedLists) -> Vector:
        return _share_in_order(lists, _grades)


@frozen
class Bpref(BinaryMeasure):
    """Binary preference: the share of judged non-relevant documents that are not ahead of relevant ones.

    A relevant document counts 1 − min(n, R) / min(N, R) if n of the N judged non-relevant documents are ahead of it,
    and 0 if it is not ranked. The measure is the mean over all R relevant documents. Unjudged documents are ignored.
    Buckley and Voorhees, "Retrieval evaluation with incomplete information", SIGIR 2004, with min(N, R) in the
    denominator as in trec_eval 8 and later. Undefined without a relevant document. Name: ``bpref``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> Bpref().mean([3.0, 2.0, 1.0], [1, 0, 1])
    0.5
    """

    name: ClassVar[str] = "bpref"
    averages_ties: ClassVar[bool] = True

    def values(self, lists: RankedLists) -> Vector:
        lists.require_judged(self)
        relevant, n_relevant = self.found(lists), self.n_relevant(lists)
        others = lists.total_judged(~self.relevant(lists.judged))
        other = lists.is_judged & ~relevant
        ahead = lists.count_down(other)
        groups = lists.groups
        if groups is not None:
            # The number of tied others ahead of a relevant document is 0, 1, ..., or all of them, with equal chances.
            tied, most = groups.total(other), n_relevant[lists.query[groups.first]]
            above = (ahead - other)[groups.first]
            below_most = np.clip(most - above, 0.0, tied + 1.0)
            total = below_most * (above + (below_most - 1.0) / 2.0) + (tied + 1.0 - below_most) * most
            ahead = ahead.astype(np.float64)
            ahead[groups.rows] = (total / (tied + 1.0))[groups.group]
        query = lists.query[relevant]
        at_most = n_relevant[query]
        share = np.minimum(ahead[relevant], at_most) / np.maximum(np.minimum(others[query], at_most), 1.0)
        return np.bincount(query, 1.0 - share, len(lists.ids)) / n_relevant


def _grades(lists: RankedLists) -> IntVector:
    """Return the labels of ranked documents, numbered from 0; unjudged documents have the label 0."""
    return np.asarray(np.unique(np.where(lists.is_judged, lists.label, 0.0), return_inverse=True)[1])


def _share_in_order(lists: RankedLists, grades_of: Callable[[RankedLists], IntVector]) -> Vector:
    """Return the share of pairs with different grades whose better document is ahead, shape (Q,); NaN without a pair.

    Half of the tied pairs count: the mean of both orders in which all of them count or none does.
    """
    orders = [lists] if lists.groups is None else [lists.in_order(best_first=best) for best in (False, True)]
    swapped, pairs = np.mean([_swapped(order, grades_of(order)) for order in orders], axis=0)
    return np.asarray(1.0 - swapped / np.where(pairs > 0, pairs, np.nan))


def _swapped(lists: RankedLists, grade: IntVector) -> Vector:
    """Return the numbers of swapped pairs and of all pairs of each query, shape (2, Q).

    The numbers of two grades differ first in one bit. The pairs of a bit are the pairs of a 1 and a 0 among documents
    whose higher bits are equal.
    """
    counts = np.zeros((2, len(lists.ids)))
    for bit in range(int(grade.max()).bit_length()):
        part = (lists.query << 32) + (grade >> (bit + 1))
        order = np.argsort(part, kind="stable")
        first = np.flatnonzero(np.diff(part[order], prepend=-1))
        better = (grade[order] >> bit) & 1
        worse = 1 - better
        ahead = np.cumsum(worse)
        ahead -= np.repeat((ahead - worse)[first], np.diff(first, append=len(order)))
        query = lists.query[order]
        counts[0] += np.bincount(query, better * ahead, len(lists.ids))
        both = np.add.reduceat(better, first) * np.add.reduceat(worse, first)
        counts[1] += np.bincount(query[first], both, len(lists.ids))
    return counts
