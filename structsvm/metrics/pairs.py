"""Measures of pairs of a relevant and a non-relevant document."""

from typing import ClassVar

import numpy as np
from attrs import frozen

from structsvm.foundation.types import Vector
from structsvm.metrics.binary import BinaryMeasure
from structsvm.metrics.ranking import RankedLists


@frozen
class ROCArea(BinaryMeasure):
    """Area under the ROC curve: the share of pairs with the relevant document ahead.

    A tied pair counts 1 or 0 by the package's tie rule, but 1/2 in `sklearn.metrics.roc_auc_score`: this is the area of
    the displayed ranking. Only ranked documents count, not `judged` ones. Undefined unless a query has both kinds of
    document. Text: ``roc_area``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> ROCArea().mean([3.0, 2.0, 1.0], [1, 0, 1])
    0.5
    """

    name: ClassVar[str] = "roc_area"

    def values(self, lists: RankedLists) -> Vector:
        relevant = self.found(lists)
        swapped = lists.total((lists.rank - lists.count_down(relevant)) * relevant)
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

    def values(self, lists: RankedLists) -> Vector:
        lists.require_judged(self)
        relevant, n_relevant = self.found(lists), self.n_relevant(lists)
        others = lists.total_judged(~self.relevant(lists.judged))
        ahead = lists.count_down(lists.is_judged & ~relevant)[relevant]
        query = lists.query[relevant]
        at_most = n_relevant[query]
        share = np.minimum(ahead, at_most) / np.maximum(np.minimum(others[query], at_most), 1.0)
        return np.bincount(query, 1.0 - share, len(lists.ids)) / n_relevant
