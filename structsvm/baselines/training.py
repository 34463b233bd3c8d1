"""Training data, checked and grouped by query."""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.baselines.preferences import Preferences
from structsvm.estimators.fitting import checked_features, checked_labels
from structsvm.estimators.ranking import RankingEstimator
from structsvm.exceptions import InputError
from structsvm.metrics.ranking import number_queries
from structsvm.operators import Readable
from structsvm.types import IntVector, Vector


@frozen(eq=False)
class Training:
    """Rows of features, query after query.

    Parameters
    ----------
    X : features, shape (rows, d); those that were passed in where the rows of each query were together already.
    y : labels, shape (rows,), or preferences between these rows.
    ptr : where the rows of each query begin, shape (Q + 1,); queries in order of first appearance.
    ids : query ids, shape (Q,).
    """

    X: Readable
    y: Vector | Preferences
    ptr: IntVector
    ids: NDArray[Any]


def checked_training(
    estimator: RankingEstimator, X: Any, y: Any, qid: ArrayLike | None, *, missing: bool = False
) -> Training:
    """Check what `fit` was given, remember the number of features and whether there was qid, and group by query.

    Parameters
    ----------
    estimator : what is to be fitted.
    X : features, one document a row.
    y : labels, shape (rows,), or `Preferences`.
    qid : query id of each row; rows of a query need not be together. None: all rows are one query.
    missing : whether X may have NaN, for features that are missing.

    Raises
    ------
    InputError : when they are not what they should be, or do not fit each other.
    """
    X = checked_features(estimator, X, reset=True, min_rows=2, missing=missing)
    rows = X.shape[0]
    labels = None if isinstance(y, Preferences) else checked_labels(y, rows)
    queries = number_queries(qid, rows)
    estimator._fitted_with_qid = qid is not None
    order = np.argsort(queries.number, kind="stable")
    ptr = np.concatenate([[0], np.cumsum(np.bincount(queries.number))]).astype(np.int64)
    if labels is None:
        _require_within_queries(y, queries.number)
        position = np.empty(rows, dtype=np.int64)
        position[order] = np.arange(rows)
        grouped = Preferences(position[y.better], position[y.worse], y.magnitude)
    together = bool((np.diff(order) == 1).all())
    return Training(
        X=X if together else X[order],
        y=grouped if labels is None else labels[order],
        ptr=ptr,
        ids=queries.ids,
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
