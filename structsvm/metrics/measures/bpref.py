"""Binary preference."""

import numpy as np
from attrs import frozen

from structsvm.metrics.base import RankedLists
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.types import Vector


@frozen
class BPref(BinaryMeasure):
    """Binary preference: how few of the judged documents ahead of the relevant ones are not relevant.

    Σ (1 − min(n, R) / min(N, R)) / R over the relevant documents that are ranked, n of the others that
    were judged being ahead of each; N and R are all that were judged not relevant, and relevant. Documents
    that were not judged are passed over. Buckley and Voorhees, "Retrieval evaluation with incomplete
    information", SIGIR 2004, as trec_eval 8 and later have it (min(N, R) below the line).
    Undefined without a relevant document. Text: ``bpref``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Raises
    ------
    InputError : the lists do not tell what was judged; see `RankedLists.require_judged`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("bpref").values(lists).round(3).tolist()
    [0.5]
    """

    @property
    def name(self) -> str:
        return "bpref"

    def values(self, lists: RankedLists) -> Vector:
        lists.require_judged(self)
        relevant, n_relevant = self.found(lists), self.n_relevant(lists)
        others = lists.total_judged(~self.relevant(lists.judged))
        ahead = lists.count_down(lists.is_judged & ~relevant)[relevant]
        query = lists.query[relevant]
        at_most = n_relevant[query]
        share = np.minimum(ahead, at_most) / np.maximum(np.minimum(others[query], at_most), 1.0)
        return np.bincount(query, 1.0 - share, len(lists.ids)) / n_relevant
