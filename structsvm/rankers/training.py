"""Check training data and group it by query."""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from structsvm.estimators.inputs import checked_features, checked_labels, count_queries, warn_of_one_query
from structsvm.estimators.ranking import RankingEstimator
from structsvm.exceptions import InputError
from structsvm.features.operators.matrix import Readable
from structsvm.foundation.arrays import contents
from structsvm.foundation.memory import require_columns
from structsvm.foundation.queries import Queries
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.rankers.preferences import Preferences

_NO_PAIRS = "each has a single grade, so no document is better than another. Check the labels and qid"


@frozen(eq=False)
class TrainingQueries:
    """Features, labels or preferences with the rows of each query together; ``weights`` are per query, shape (Q,)."""

    X: Readable
    y: Vector | Preferences
    queries: Queries
    weights: Vector

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

    def usable(self, learner: RankingEstimator, teaching: BoolVector, why: str = _NO_PAIRS) -> BoolVector:
        """Return the mask of the queries in ``teaching`` with a weight, shape (Q,); raise with ``why`` if empty."""
        name = type(learner).__name__
        if not teaching.any():
            raise InputError(f"{name} cannot learn from any of the {len(teaching)} queries: {why}")
        usable: BoolVector = teaching & (self.weights > 0.0)
        if not usable.any():
            raise InputError(
                f"sample_weight is zero for each of the {teaching.sum()} queries that {name} can learn from: some must "
                "have a weight above 0"
            )
        return usable


def with_grades(y: Vector, ptr: IntVector) -> BoolVector:
    """Return a mask of the queries with more than one grade, shape (Q,)."""
    return np.asarray(np.maximum.reduceat(y, ptr[:-1]) > np.minimum.reduceat(y, ptr[:-1]))


def checked_training(
    estimator: RankingEstimator,
    X: Any,
    y: Any,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
    *,
    missing: bool = False,
    takes_preferences: bool = False,
    names: Any = None,
    sort: bool = False,
) -> TrainingQueries:
    """Check the arguments of `fit` and group the rows by query; `checked_features` explains ``missing`` and ``names``.

    ``sort`` sorts queries by id and their rows by content, for learners that depend on the order of rows.
    """
    X = checked_features(estimator, X, min_rows=2, missing=missing, names=names, statistics=True)
    rows = X.shape[0]
    require_columns(X.shape[1])
    if takes_preferences:
        _require_no_pairs(estimator, y)
    labels = None if takes_preferences and isinstance(y, Preferences) else checked_labels(y, rows)
    if labels is not None:
        warn_of_one_query(qid, rows)
    queries = Queries.of(qid, rows)
    count_queries(estimator, queries)
    if sort:
        queries = queries.sorted_by(contents(X), *([] if labels is None else [labels]))
    weights = queries.weights(sample_weight)
    if labels is None:
        _require_within_queries(y, queries.number)
        place = queries.ungrouped(np.arange(rows))
        better, worse = place[y.better], place[y.worse]
        pairs = np.lexsort((y.magnitude, worse, better)) if sort else slice(None)
        grouped = Preferences(better[pairs], worse[pairs], y.magnitude[pairs])
    else:
        grouped = queries.grouped(labels)
    return TrainingQueries(queries.grouped(X), grouped, queries, weights)


def _require_no_pairs(estimator: RankingEstimator, y: Any) -> None:
    if not isinstance(y, list | tuple | np.ndarray) or getattr(y, "shape", None) == () or len(y) == 0:
        return
    if all(isinstance(each, list | tuple | np.ndarray) and np.size(each) in (2, 3) for each in y):
        raise InputError(
            f"y must have one label per row, or Preferences, got {len(y)} entries of 2 or 3 each: if they are pairs "
            f"(better, worse) or (better, worse, magnitude), {type(estimator).__name__} learns from "
            "y = Preferences.of(pairs), of structsvm.rankers"
        )


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
