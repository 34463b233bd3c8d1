"""Training data, checked and grouped by query."""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from structsvm.estimators.inputs import checked_features, checked_labels, warn_of_one_query
from structsvm.estimators.ranking import RankingEstimator
from structsvm.exceptions import InputError
from structsvm.operators import Readable
from structsvm.queries import Queries
from structsvm.rankers.preferences import Preferences
from structsvm.types import BoolVector, IntVector, Vector

_NO_PAIRS = "each has a single grade, so no document is better than another. Check the labels and qid"


@frozen(eq=False)
class Training:
    """Rows of features, query after query.

    Parameters
    ----------
    X : features, shape (rows, d); those that were passed in where the rows of each query were together already.
    y : labels, shape (rows,), or preferences between these rows.
    queries : the queries, by the rows as they were passed in.
    weights : weight of each query, shape (Q,).
    """

    X: Readable
    y: Vector | Preferences
    queries: Queries
    weights: Vector

    @property
    def shares(self) -> Vector:
        """The weights over the largest, for learners to which only their ratios matter; no sum of them overflows."""
        shares: Vector = self.weights / self.weights.max()
        return shares

    def with_pairs(self) -> BoolVector:
        """Say which queries have documents of which one is better, shape (Q,)."""
        if isinstance(self.y, Preferences):
            return np.bincount(self.y.queries(self.queries.ptr), minlength=len(self.queries)) > 0
        return with_grades(self.y, self.queries.ptr)

    def usable(self, learner: RankingEstimator, teaching: BoolVector, why: str = _NO_PAIRS) -> BoolVector:
        """Return which queries are learned from, shape (Q,): those of weight 0 are not.

        Parameters
        ----------
        learner : what is to be fitted; errors name it.
        teaching : which queries have something to learn from, shape (Q,).
        why : why others have not, as the error says it.

        Raises
        ------
        InputError : when none has, or none of these has a weight above 0.
        """
        name = type(learner).__name__
        if not teaching.any():
            raise InputError(f"{name} can learn from none of the {len(teaching)} queries: {why}")
        usable: BoolVector = teaching & (self.weights > 0.0)
        if not usable.any():
            raise InputError(
                f"sample_weight is zero for each of the {teaching.sum()} queries that {name} can learn from: some must "
                "have a weight above 0"
            )
        return usable


def require_dense(estimator: RankingEstimator, X: Any) -> None:
    """Refuse sparse features, before or after they were checked."""
    if hasattr(X, "toarray"):
        raise InputError(
            f"{type(estimator).__name__} takes dense features: sparse input ({type(X).__name__}) is not supported. "
            "Pass X.toarray(), or leave out features that are seldom present"
        )


def with_grades(y: Vector, ptr: IntVector) -> BoolVector:
    """Say which queries have more than one grade, shape (Q,)."""
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
) -> Training:
    """Check what `fit` was given and group it by query.

    Parameters
    ----------
    estimator : what is to be fitted; scikit-learn's checks keep the number of features there, and their names.
    X : features, one document a row.
    y : labels, shape (rows,), or `Preferences`.
    qid : query id of each row; rows of a query need not be together. None: all rows are one query.
    sample_weight : weight of each row, the same for all rows of a query, also where all are one query; None: all 1.
    missing : whether X may have NaN, for features that are missing.
    takes_preferences : whether the estimator learns from `Preferences` too.

    Raises
    ------
    InputError : when they are not what they should be, or do not fit each other.

    Warns
    -----
    OneQueryWarning : when there is no qid, and more rows with labels than one query plausibly has.
    """
    X = checked_features(estimator, X, min_rows=2, missing=missing)
    rows = X.shape[0]
    if takes_preferences:
        _require_no_pairs(estimator, y)
    labels = None if isinstance(y, Preferences) else checked_labels(y, rows)
    if labels is not None:
        warn_of_one_query(qid, rows)
    queries = Queries.of(qid, rows)
    weights = queries.weights(sample_weight)
    if labels is None:
        _require_within_queries(y, queries.number)
        place = queries.ungrouped(np.arange(rows))
        grouped = Preferences(place[y.better], place[y.worse], y.magnitude)
    else:
        grouped = queries.grouped(labels)
    return Training(queries.grouped(X), grouped, queries, weights)


def _require_no_pairs(estimator: RankingEstimator, y: Any) -> None:
    if not isinstance(y, list | tuple | np.ndarray) or getattr(y, "shape", None) == () or len(y) == 0:
        return
    if all(isinstance(each, list | tuple | np.ndarray) and np.size(each) in (2, 3) for each in y):
        raise InputError(
            f"y must hold one label per row, or Preferences, got {len(y)} entries of 2 or 3 each: if they are pairs "
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
            f"a preference is between documents of one query, but pair {pair} is of rows {preferences.better[pair]} "
            f"and {preferences.worse[pair]}, which are of two ({apart.sum()} pairs are): leave such pairs out"
        )
