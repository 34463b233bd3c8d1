"""Average precision, its estimates, and interpolated precision."""

from typing import ClassVar, NamedTuple

import attrs
import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.foundation.settings import at_least, within
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.metrics.base import BinaryMeasure, Summary
from structsvm.metrics.ranking import RankedLists

LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Levels of recall that trec_eval reports."""

_LEAST = 1e-5
"""Smallest value of a query in the geometric mean, so that a single query does not make it 0 (trec_eval)."""

_SMOOTHING = 1e-5
"""Added to both counts of inferred precision, as in trec_eval, which defines it if no document ahead is judged."""

_MOST_STEPS = 2_000_000
"""Largest number of steps of a tie group's interpolated precision; larger groups are integrated at fewer values."""


@frozen
class AP(BinaryMeasure):
    """Average precision: the precisions at the ranks of the relevant documents, summed and divided by their number R.

    R includes the relevant documents of `judged` that are not ranked. Undefined without a relevant document. Its mean
    over queries is MAP. Name: ``map``, ``map@100``.

    The mean over the orders of tied documents has a closed form (McSherry and Najork, "Computing information retrieval
    performance measures efficiently in the presence of tied scores", ECIR 2008, section 2.4).

    Parameters
    ----------
    k : only the first k documents count; R does not change (trec_eval's map_cut). Default: all.
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> round(AP().mean([3.0, 2.0, 1.0], [1, 0, 1]), 3)
    0.833
    """

    name: ClassVar[str] = "map"
    averages_ties: ClassVar[bool] = True

    k: int | None = field(default=None, validator=attrs.validators.optional(at_least(1)))

    def values(self, lists: RankedLists) -> Vector:
        relevant = self.found(lists)
        hits_above = lists.count_down(relevant)
        gain = hits_above / lists.rank * relevant
        groups = lists.groups
        if groups is not None:
            rows, above = groups.rows, (hits_above - relevant)[groups.first]
            first, size, hits = (column[groups.group] for column in (groups.first, groups.size, groups.total(relevant)))
            # If the document at a rank is relevant, each of the tied ones is with chance (hits - 1) / (size - 1).
            expected = above[groups.group] + 1.0 + (rows - first) * (hits - 1.0) / (size - 1.0)
            gain[rows] = hits / size * expected / lists.rank[rows]
        return lists.total(gain * lists.within(self.k)) / self.n_relevant(lists)


@frozen
class GMAP(BinaryMeasure):
    """Geometric mean of average precision over queries; each query, defined or not, counts at least 1e-5.

    Robertson, "On GMAP: and other transformations", CIKM 2006, as in trec_eval.
    """

    name: ClassVar[str] = "gm_map"
    averages_ties: ClassVar[bool] = True
    summary: ClassVar[Summary] = "geometric mean"

    def values(self, lists: RankedLists) -> Vector:
        return np.maximum(AP(relevant_from=self.relevant_from).values(lists), _LEAST)

    def over_queries(self, values: Vector, weights: Vector | None = None) -> float:
        return super().over_queries(np.maximum(values, _LEAST), weights)


@frozen
class InfAP(BinaryMeasure):
    """Inferred average precision: an estimate of average precision if only a sample of the pool was judged.

    Let n documents of the pool be ahead of a relevant document of rank r, with i judged relevant and j judged not
    relevant. The precision there is estimated as 1/r + (n / r) (i + ε) / (i + j + 2ε), ε = 1e-5. The sum of the
    estimates is divided by the number of documents judged relevant. Unjudged documents of the pool have a grade below 0
    (Yilmaz and Aslam, "Estimating average precision with incomplete and imperfect judgments", CIKM 2006, as in
    trec_eval). Undefined without a relevant document. Name: ``infap``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> round(InfAP().mean([3.0, 2.0, 1.0], [1, 0, 1]), 3)
    0.833
    """

    name: ClassVar[str] = "infap"
    averages_ties: ClassVar[bool] = True

    def values(self, lists: RankedLists) -> Vector:
        lists.require_judged(self)
        relevant = self.found(lists)
        kinds = relevant, lists.is_judged, lists.is_pooled
        counts = [lists.count_down(kind) for kind in kinds]
        groups, decided = lists.groups, relevant
        if groups is not None:
            decided = relevant.copy()
            decided[groups.rows] = False
        relevant_above, judged, pooled = (count[decided] - 1 for count in counts)
        rank = lists.rank[decided]
        share = (relevant_above + _SMOOTHING) / (judged + 2.0 * _SMOOTHING)
        total = np.bincount(lists.query[decided], 1.0 / rank + pooled / rank * share, len(lists.ids))
        if groups is not None:
            above = [(count - kind)[groups.first] for count, kind in zip(counts, kinds, strict=True)]
            of_groups = np.array([lists.rank[groups.first], groups.size, *above, *map(groups.total, kinds)])
            of_ties = [_inferred(*of) for of in of_groups.T.tolist()]
            total = total + np.bincount(lists.query[groups.first], of_ties, len(total))
        return total / self.n_relevant(lists)


def _inferred(
    rank: float,
    size: float,
    relevant_above: float,
    judged: float,
    pooled: float,
    hits: float,
    judged_here: float,
    pooled_here: float,
) -> float:
    """Return the expected sum of inferred precision at the relevant documents of a tie group from this rank on.

    ``relevant_above``, ``judged`` and ``pooled`` documents are relevant, judged and pooled above the group, and
    ``hits``, ``judged_here`` and ``pooled_here`` in it.
    """
    total = 0.0
    if not hits:
        return total
    others = int(judged_here) - 1
    # Of the other documents of the group, those ahead are a random sample; `chance` is by the number of judged ones.
    number, chance = np.arange(others + 1), np.zeros(others + 1)
    chance[0] = 1.0
    relevant_ahead = relevant_above + number * (hits - 1.0) / max(others, 1)
    share = (relevant_ahead + _SMOOTHING) / (judged + number + 2.0 * _SMOOTHING)
    unjudged = (pooled_here - judged_here) / max(size - judged_here, 1.0)
    for place in range(int(size)):
        pooled_ahead = pooled + number + np.maximum(place - number, 0) * unjudged
        total += float(hits / size * (1.0 + chance @ (pooled_ahead * share)) / (rank + place))
        left = max(size - 1 - place, 1)
        drawn = chance * (others - number) / left
        chance -= drawn
        chance[1:] += drawn[:-1]
    return total


@frozen
class IPrec(BinaryMeasure):
    """Interpolated precision at a level of recall: the best precision at any rank with at least that recall.

    A rank has that recall with ⌊recall · R + 0.9⌋ of R relevant documents, as in trec_eval. Without such a rank the
    value is 0. The mean over orders of tied documents is exact unless hundreds of documents tie. Undefined without a
    relevant document. Name: ``iprec@0.1``.

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
    averages_ties: ClassVar[bool] = True
    behind_at: ClassVar[str] = "recall"

    recall: float = field(validator=within(0.0, 1.0))

    def values(self, lists: RankedLists) -> Vector:
        return interpolated(self, lists, (self.recall,))[0]


@frozen
class ElevenPoint(BinaryMeasure):
    """Eleven-point average precision: the mean of `IPrec` at recall 0, 0.1, ..., 1."""

    name: ClassVar[str] = "11pt_avg"
    averages_ties: ClassVar[bool] = True

    def values(self, lists: RankedLists) -> Vector:
        return np.asarray(np.mean(interpolated(self, lists, LEVELS), axis=0))


def interpolated(measure: BinaryMeasure, lists: RankedLists, levels: tuple[float, ...]) -> list[Vector]:
    """Return interpolated precision at each level; NaN for queries without a relevant document."""
    relevant, n_relevant = measure.found(lists), measure.n_relevant(lists)
    hits, groups = lists.count_down(relevant), lists.groups
    decided = relevant
    if groups is not None:
        decided = relevant.copy()
        decided[groups.rows] = False
        tied = _tied(lists, relevant, hits)
    query, hits = lists.query[decided], hits[decided]
    precision = hits / lists.rank[decided]
    values = []
    for level in levels:
        needed = np.floor(level * n_relevant + 0.9)
        enough = hits >= needed[query]
        best = np.zeros(len(lists.ids))
        np.maximum.at(best, query[enough], precision[enough])
        if groups is not None:
            for number, of_query in tied.items():
                if not np.isnan(needed[number]):
                    best[number] = _expected_best(best[number], needed[number], of_query)
        values.append(measure.if_any(lists, best))
    return values


class _Tied(NamedTuple):
    """A tie group: the rank above it, relevant documents above it, its size, and relevant documents in it."""

    rank: int
    relevant_above: int
    size: int
    hits: int


def _tied(lists: RankedLists, relevant: BoolVector, above_each: IntVector) -> dict[int, list[_Tied]]:
    """Return the tie groups of each query that has some with relevant documents."""
    groups = lists.groups
    tied: dict[int, list[_Tied]] = {}
    if groups is not None:
        above, hits = (above_each - relevant)[groups.first], groups.total(relevant)
        for group in np.flatnonzero(hits):
            first = groups.first[group]
            of_group = _Tied(int(lists.rank[first]) - 1, int(above[group]), int(groups.size[group]), int(hits[group]))
            tied.setdefault(int(lists.query[first]), []).append(of_group)
    return tied


def _expected_best(best: float, needed: float, tied: list[_Tied]) -> float:
    """Return the expected maximum of ``best`` and the precision at relevant tied documents from the needed one on."""
    possible = [_precisions(group) for group in tied]
    for group, precision in zip(tied, possible, strict=True):
        precision[: max(int(needed) - group.relevant_above - 1, 0)] = 0.0
        # The last relevant document of a group has at least the precision of the whole group.
        best = max(best, precision[-1, -1])
    steps = np.unique(np.concatenate([[best], *(precision[precision > best] for precision in possible)]))
    most = max(_MOST_STEPS // max(group.size * group.hits for group in tied), 100)
    exact = len(steps) <= most
    if not exact:
        steps = np.quantile(steps, np.linspace(0.0, 1.0, most))
    above = np.ones(len(steps))
    for precision in possible:
        above *= _chance_below(precision, steps)
    above = 1.0 - above
    return float(best + np.diff(steps) @ (above[:-1] if exact else (above[:-1] + above[1:]) / 2.0))


def _precisions(group: _Tied) -> NDArray[np.float64]:
    """Return the precision at each place of each relevant document of a group, 0 if impossible, shape (hits, size)."""
    hit, place = np.arange(1, group.hits + 1)[:, None], np.arange(1, group.size + 1)
    possible = (place >= hit) & (place <= group.size - group.hits + hit)
    return np.where(possible, (group.relevant_above + hit) / (group.rank + place), 0.0)


def _chance_below(precision: NDArray[np.float64], limits: Vector) -> Vector:
    """Return the chance, over all orders of a group, that no relevant document has a precision above each limit."""
    hits, size = precision.shape
    # The chance that the relevant documents so far are below the limits and the last of them has this place.
    last = (precision[0] <= limits[:, None]) / size
    for k in range(1, hits):
        below = np.cumsum(last, axis=1)
        last[:, 0] = 0.0
        np.multiply(below[:, :-1], (k + 1) / (size - k), out=last[:, 1:])
        last *= precision[k] <= limits[:, None]
    return np.asarray(last.sum(axis=1))
