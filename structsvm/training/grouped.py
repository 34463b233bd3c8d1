"""Training data with the rows of each query together, for rankers that learn query by query."""

from typing import Self

import numpy as np
from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.features.operators.matrix import Readable
from structsvm.foundation.arrays import contents
from structsvm.foundation.memory import require_columns
from structsvm.foundation.queries import Queries
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.training.data import TrainingData
from structsvm.training.preferences import Preferences

_NO_PAIRS = "each has a single grade, so no document is better than another. Check the labels and qid"


@frozen(eq=False)
class GroupedData:
    """Features, labels or preferences with the rows of each query together; ``weights`` are per query, shape (Q,)."""

    owner: str
    X: Readable
    y: Vector | Preferences
    queries: Queries
    weights: Vector

    @classmethod
    def of(cls, data: TrainingData, *, sort: bool = False) -> Self:
        """Group the rows by query.

        ``sort`` sorts queries by id and their rows by content, for learners that depend on the order of rows.
        """
        require_columns(data.n_features)
        labels = None if isinstance(data.y, Preferences) else data.y
        if labels is not None:
            data.warn_of_one_query()
        queries = data.queries
        if sort:
            queries = queries.sorted_by(contents(data.X), *([] if labels is None else [labels]))
        weights = queries.weights(data.weight)
        if labels is not None:
            y = queries.grouped(labels)
        else:
            _require_within_queries(data.y, queries.number)
            position = queries.ungrouped(np.arange(data.rows))
            better, worse = position[data.y.better], position[data.y.worse]
            pairs = np.lexsort((data.y.magnitude, worse, better)) if sort else slice(None)
            y = Preferences(better[pairs], worse[pairs], data.y.magnitude[pairs])
        return cls(data.owner, queries.grouped(data.X), y, queries, weights)

    @property
    def shares(self) -> Vector:
        """The weights over the largest, so that no sum of them overflows; for learners that only need ratios."""
        shares: Vector = self.weights / self.weights.max()
        return shares

    @property
    def row_weights(self) -> Vector:
        """The weight of the query of each row, shape (rows,)."""
        return np.repeat(self.weights, self.queries.sizes)

    def with_pairs(self) -> BoolVector:
        """Return a mask of the queries in which some document is better than another, shape (Q,)."""
        if isinstance(self.y, Preferences):
            return np.bincount(self.y.queries(self.queries.ptr), minlength=len(self.queries)) > 0
        return with_grades(self.y, self.queries.ptr)

    def usable(self, teaching: BoolVector, why: str = _NO_PAIRS) -> BoolVector:
        """Return the mask of the queries in ``teaching`` with a weight, shape (Q,); raise with ``why`` if empty."""
        if not teaching.any():
            raise InputError(f"{self.owner} cannot learn from any of the {len(teaching)} queries: {why}")
        usable: BoolVector = teaching & (self.weights > 0.0)
        if not usable.any():
            raise InputError(
                f"sample_weight is zero for each of the {teaching.sum()} queries that {self.owner} can learn from: "
                "some must have a weight above 0"
            )
        return usable


def with_grades(y: Vector, ptr: IntVector) -> BoolVector:
    """Return a mask of the queries with more than one grade, shape (Q,)."""
    return np.asarray(np.maximum.reduceat(y, ptr[:-1]) > np.minimum.reduceat(y, ptr[:-1]))


def _require_within_queries(preferences: Preferences, number: IntVector) -> None:
    rows = len(number)
    if len(preferences) == 0:
        raise InputError("there are no preferences to learn from: y has 0 pairs")
    largest = int(max(preferences.better.max(), preferences.worse.max()))
    if largest >= rows:
        raise InputError(f"X has rows 0 to {rows - 1}, but y has a preference for or against row {largest}")
    apart = number[preferences.better] != number[preferences.worse]
    if apart.any():
        pair = int(apart.argmax())
        raise InputError(
            f"a preference is between documents of one query, but pair {pair} joins rows {preferences.better[pair]} "
            f"and {preferences.worse[pair]} of two queries: remove such pairs ({apart.sum()} in all)"
        )
