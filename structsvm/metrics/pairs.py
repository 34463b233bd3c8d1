"""Measures of pairs of a relevant and a non-relevant document."""

from typing import ClassVar

import numpy as np
from attrs import frozen

from structsvm.foundation.types import Vector
from structsvm.metrics.base import BinaryMeasure
from structsvm.metrics.ranking import RankedLists


@frozen
class AUC(BinaryMeasure):
    """Area under the ROC curve: the share of pairs with the relevant document ahead.

    A tied pair counts 1/2, as in `sklearn.metrics.roc_auc_score`; with another tie rule, 1 or 0. Only ranked documents
    count, not `judged` ones. Undefined unless a query has both kinds of document. Text: ``roc_area``.

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
        relevant = self.found(lists)
        ahead = lists.rank - lists.count_down(relevant)
        swapped = lists.total(ahead * relevant)
        groups = lists.groups
        if groups is not None:
            hits = groups.total(relevant)
            by_order = groups.total(ahead * relevant)
            above = (ahead - ~relevant)[groups.first]
            swapped += np.bincount(
                lists.query[groups.first], hits * (above + (groups.size - hits) / 2.0) - by_order, len(lists.ids)
            )
        pairs = lists.total(relevant) * lists.total(~relevant)
        return 1.0 - swapped / np.where(pairs > 0, pairs, np.nan)


@frozen
class Bpref(BinaryMeasure):
    """Binary preference: the share of judged non-relevant documents that are not ahead of relevant ones.

    The mean of 1 − min(n, R) / min(N, R) over the R relevant documents, 0 for relevant documents that are not ranked; n
    judged non-relevant documents are ahead, of N in all. Unjudged documents are ignored. Buckley and Voorhees,
    "Retrieval evaluation with incomplete information", SIGIR 2004, with min(N, R) in the denominator as in trec_eval 8
    and later. Undefined without a relevant document. Text: ``bpref``.

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
