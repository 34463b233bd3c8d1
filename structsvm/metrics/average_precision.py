"""Average precision, its estimates, and interpolated precision."""

from typing import ClassVar, Literal

import attrs
import numpy as np
from attrs import field, frozen

from structsvm.foundation.settings import at_least, one_of, within
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.metrics.base import Summary
from structsvm.metrics.binary import BinaryMeasure
from structsvm.metrics.ranking import RankedLists

LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Levels of recall that trec_eval reports."""

_LEAST = 1e-5
"""Smallest value of a query in the geometric mean, so that a single query does not make it 0 (trec_eval)."""

_SMOOTHING = 1e-5
"""Added to both counts of inferred precision, as in trec_eval, which defines it if no document ahead is judged."""


@frozen
class AP(BinaryMeasure):
    """Average precision: the sum of the precision at each relevant document, divided by their number R.

    R includes relevant documents that are not ranked (`judged`). Undefined without a relevant document. Its mean over
    queries is MAP. Text: ``map``, ``map@100``, ``map(ties=average)``.

    Parameters
    ----------
    k : only the first k documents count; R does not change (trec_eval's map_cut). Default: all.
    ties : "order": equal scores are ranked by the package's tie rule; or "average": the mean over all their possible
        orders, in closed form (McSherry and Najork, "Computing information retrieval performance measures efficiently
        in the presence of tied scores", ECIR 2008, section 2.4).
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> round(AP().mean([3.0, 2.0, 1.0], [1, 0, 1]), 3)
    0.833
    """

    name: ClassVar[str] = "map"

    k: int | None = field(default=None, validator=attrs.validators.optional(at_least(1)))
    ties: Literal["order", "average"] = field(default="order", kw_only=True, validator=one_of("order", "average"))

    def values(self, lists: RankedLists) -> Vector:
        relevant = self.found(lists)
        found = lists.count_down(relevant)
        if self.ties == "order":
            gain = found / lists.rank * relevant
        else:
            gain = _expected_precision(relevant, found, lists)
        return lists.total(gain * lists.within(self.k)) / self.n_relevant(lists)


def _expected_precision(relevant: BoolVector, found: IntVector, lists: RankedLists) -> Vector:
    """Return relevance times precision at each rank, averaged over all orders of tied documents."""
    group = np.cumsum(~lists.tied) - 1
    first = np.flatnonzero(~lists.tied)[group]
    size, hits = np.bincount(group)[group], np.bincount(group, relevant)[group]
    above = (found - relevant)[first]
    tied_above = lists.rank - lists.rank[first]
    expected = above + 1.0 + tied_above * (hits - 1.0) / np.maximum(size - 1, 1)
    return np.asarray(hits / size * expected / lists.rank)


@frozen
class GMAP(BinaryMeasure):
    """Geometric mean of average precision over queries; each query, defined or not, counts at least 1e-5.

    Robertson, "On GMAP: and other transformations", CIKM 2006, as in trec_eval.
    """

    name: ClassVar[str] = "gm_map"
    summary: ClassVar[Summary] = "geometric mean"

    def values(self, lists: RankedLists) -> Vector:
        return np.maximum(AP(relevant_from=self.relevant_from).values(lists), _LEAST)

    def over_queries(self, values: Vector, weights: Vector | None = None) -> float:
        return super().over_queries(np.maximum(values, _LEAST), weights)


@frozen
class InfAP(BinaryMeasure):
    """Inferred average precision: an estimate of average precision if only a sample of the pool was judged.

    At a relevant document of rank r, with n pool documents ahead, a of them judged relevant and b not relevant, the
    precision is estimated as 1/r + (n / r) (a + ε) / (a + b + 2ε), ε = 1e-5. The estimates are summed and divided by
    the number R of documents judged relevant. Pool documents that were not judged have a grade below 0. Yilmaz and
    Aslam, "Estimating average precision with incomplete and imperfect judgments", CIKM 2006, as in trec_eval. Undefined
    without a relevant document. Text: ``infap``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> round(InfAP().mean([3.0, 2.0, 1.0], [1, 0, 1]), 3)
    0.833
    """

    name: ClassVar[str] = "infap"

    def values(self, lists: RankedLists) -> Vector:
        lists.require_judged(self)
        relevant = self.found(lists)
        found = lists.count_down(relevant)[relevant] - 1
        others = lists.count_down(lists.is_judged & ~relevant)[relevant]
        pooled = lists.count_down(lists.is_pooled)[relevant] - 1
        rank = lists.rank[relevant]
        share = (found + _SMOOTHING) / (found + others + 2.0 * _SMOOTHING)
        estimates = 1.0 / rank + pooled / rank * share
        return np.bincount(lists.query[relevant], estimates, len(lists.ids)) / self.n_relevant(lists)


@frozen
class IPrec(BinaryMeasure):
    """Interpolated precision at a level of recall: the best precision at any rank with at least that recall.

    The level is reached with ⌊recall · R + 0.9⌋ relevant documents, as in trec_eval; the value is 0 if it is not
    reached. Undefined without a relevant document. Text: ``iprec@0.1``.

    Parameters
    ----------
    recall : the level, from 0 to 1.
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> IPrec(0.5).mean([3.0, 2.0, 1.0], [1, 0, 1])
    1.0
    """

    name: ClassVar[str] = "iprec"
    behind_at: ClassVar[str] = "recall"

    recall: float = field(validator=within(0.0, 1.0))

    def values(self, lists: RankedLists) -> Vector:
        return interpolated(self, lists, (self.recall,))[0]


@frozen
class ElevenPoint(BinaryMeasure):
    """Eleven-point average precision: the mean of `IPrec` at recall 0, 0.1, ..., 1."""

    name: ClassVar[str] = "11pt_avg"

    def values(self, lists: RankedLists) -> Vector:
        return np.asarray(np.mean(interpolated(self, lists, LEVELS), axis=0))


def interpolated(measure: BinaryMeasure, lists: RankedLists, levels: tuple[float, ...]) -> list[Vector]:
    """Return interpolated precision at each level; NaN for queries without a relevant document."""
    relevant, n_relevant = measure.found(lists), measure.n_relevant(lists)
    query, found = lists.query[relevant], lists.count_down(relevant)[relevant]
    precision = found / lists.rank[relevant]
    values = []
    for level in levels:
        enough = found >= np.floor(level * n_relevant + 0.9)[query]
        best = np.zeros(len(lists.ids))
        np.maximum.at(best, query[enough], precision[enough])
        values.append(measure.if_any(lists, best))
    return values
