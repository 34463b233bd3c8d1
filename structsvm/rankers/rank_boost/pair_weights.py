"""The pairs that boosting learns from, and the weight that scores leave each."""

from abc import ABC, abstractmethod

import numpy as np
from attrs import frozen

from structsvm.rankers.preferences import Preferences
from structsvm.rankers.rank_boost.potentials import write_graded_potentials, write_listed_potentials
from structsvm.rankers.training import with_grades
from structsvm.types import IntVector, Vector


@frozen(eq=False)
class Pairs(ABC):
    """Pairs of a better and a worse document, each with a weight.

    Parameters
    ----------
    rows : rows of the training data that are in pairs, shape (n,). Potentials are theirs, in this order.
    """

    rows: IntVector

    @abstractmethod
    def write_potentials(self, scores: Vector, potentials: Vector) -> float:
        """Write what `write_graded_potentials` says, from scores of `rows`, and return the log of all weight."""


@frozen(eq=False)
class GradedPairs(Pairs):
    """All pairs of different grades within queries, never listed. See `write_graded_potentials`."""

    groups: IntVector
    queries: IntVector
    log_weights: Vector

    def write_potentials(self, scores: Vector, potentials: Vector) -> float:
        return float(write_graded_potentials(scores, self.groups, self.queries, self.log_weights, potentials))


@frozen(eq=False)
class ListedPairs(Pairs):
    """Pairs one by one. See `write_listed_potentials`."""

    better: IntVector
    worse: IntVector
    log_weights: Vector

    def write_potentials(self, scores: Vector, potentials: Vector) -> float:
        return float(write_listed_potentials(scores, self.better, self.worse, self.log_weights, potentials))


def pairs_of_labels(y: Vector, ptr: IntVector, weights: Vector) -> GradedPairs:
    """Take all pairs of different labels within each query, with the weight of the query.

    Parameters
    ----------
    y : labels, shape (rows,); larger is better.
    ptr : where the rows of each query begin, shape (Q + 1,).
    weights : weight of a pair of each query, shape (Q,); of no use is a query of weight 0.
    """
    first = ptr[:-1]
    usable = with_grades(y, ptr) & (weights > 0.0)
    query = np.repeat(np.arange(len(first)), np.diff(ptr))
    rows = np.flatnonzero(usable[query])
    rows = rows[np.lexsort((y[rows], query[rows]))]
    new_query, new_grade = np.ones(len(rows), dtype=bool), np.ones(len(rows), dtype=bool)
    new_query[1:] = query[rows][1:] != query[rows][:-1]
    new_grade[1:] = y[rows][1:] != y[rows][:-1]
    groups = np.flatnonzero(new_query | new_grade)
    return GradedPairs(
        rows=rows,
        groups=np.append(groups, len(rows)),
        queries=np.append(np.flatnonzero(new_query[groups]), len(groups)),
        log_weights=np.log(weights[usable]),
    )


def pairs_of_preferences(preferences: Preferences, ptr: IntVector, weights: Vector) -> ListedPairs:
    """Take listed pairs, each with its magnitude times the weight of its query.

    Parameters
    ----------
    preferences : pairs of rows.
    ptr : where the rows of each query begin, shape (Q + 1,).
    weights : weight of each query, shape (Q,); of no use are the pairs of one of weight 0.
    """
    query = preferences.queries(ptr)
    usable = weights[query] > 0.0
    better, worse, query = preferences.better[usable], preferences.worse[usable], query[usable]
    rows, place = np.unique(np.concatenate([better, worse]), return_inverse=True)
    return ListedPairs(
        rows=rows,
        better=place[: len(better)],
        worse=place[len(better) :],
        log_weights=np.log(preferences.magnitude[usable]) + np.log(weights[query]),
    )
