"""Average precision."""

from typing import Literal

import attrs
import numpy as np
from attrs import field, frozen

from structsvm.metrics.base import RankedLists
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.settings import at_least, one_of
from structsvm.types import BoolVector, IntVector, Vector


@frozen
class AP(BinaryMeasure):
    """Average precision: the precision at each relevant document, summed, over their number R.

    Relevant documents that are not ranked (`judged`) count in R. Undefined without a relevant
    document. Its mean over queries is MAP. Text: ``map``, ``map@100``, ``map(ties=average)``.

    Parameters
    ----------
    k : only the first k documents count, and R stays as it is (trec_eval's map_cut). None: all.
    ties : "order", documents of one score are ranked by the tie rule (`rank_documents`); or "average",
        the mean over all orders that they can have, in closed form (McSherry and Najork,
        "Computing information retrieval performance measures efficiently in the presence of tied
        scores", ECIR 2008, section 2.4).
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("map").values(lists).round(3).tolist()
    [0.833]
    """

    k: int | None = field(default=None, validator=attrs.validators.optional(at_least(1)))
    ties: Literal["order", "average"] = field(default="order", kw_only=True, validator=one_of("order", "average"))

    @property
    def name(self) -> str:
        return "map"

    def values(self, lists: RankedLists) -> Vector:
        relevant = self.found(lists)
        found = lists.count_down(relevant)
        if self.ties == "order":
            gain = found / lists.rank * relevant
        else:
            gain = _expected_precision(relevant, found, lists)
        if self.k is not None:
            gain = gain * (lists.rank <= self.k)
        return lists.total(gain) / self.n_relevant(lists)


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
