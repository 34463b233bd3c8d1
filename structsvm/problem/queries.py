"""Rows grouped by query: what a ranking problem is made of."""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.losses import PairwiseLoss, ScoreLoss
from structsvm.metrics.ranking import number_queries
from structsvm.operators import Rows
from structsvm.types import BoolVector, Features, IntVector, Vector


@frozen(eq=False)
class Queries:
    """The queries of a data set, each with its rows together.

    Parameters
    ----------
    rows : features; example i is the i-th query.
    ys : labels of each query; of each row for a loss whose examples are rows.
    weights : weight of each example; None: all 1.
    usable : which of these queries the loss can learn from; None: all.
    left_out : number of queries that the loss cannot learn from.
    """

    rows: Rows
    ys: Any
    weights: Vector | None
    usable: BoolVector | None
    left_out: int


def group_queries(
    loss: ScoreLoss[Any], X: Features, y: Vector, qid: ArrayLike | None, sample_weight: ArrayLike | None
) -> Queries:
    """Group rows by query, and find the queries that the loss cannot learn from.

    Rows that are grouped already stay where they are, without a copy. Others are copied once,
    and queries that cannot be learned from are not copied.

    Parameters
    ----------
    loss : says which queries are usable, or that every row is an example.
    X : features, shape (rows, d).
    y : labels, shape (rows,).
    qid : query of each row; rows of a query need not be together. None: one query.
    sample_weight : weight of each row, the same for all rows of a query; None: all 1.

    Raises
    ------
    InputError : when y, qid or sample_weight do not fit X, or no query is usable.
    """
    n = X.shape[0]
    if len(y) != n:
        raise InputError(f"X has {n} rows but y has {len(y)} labels: one label a row is needed")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise InputError(f"y contains NaN or infinity: the first is label {int(np.argmin(np.isfinite(y)))}")
    weights = None if sample_weight is None else _checked_weights(sample_weight, n)
    number = number_queries(qid, n).number
    if loss.per_row:
        return Queries(Rows.one_each(X), y, weights, None, 0)

    order = np.argsort(number, kind="stable")
    ptr = np.concatenate([[0], np.cumsum(np.bincount(number))]).astype(np.int64)
    labels = y[order]
    usable = np.array([loss.usable(labels[ptr[i] : ptr[i + 1]]) for i in range(len(ptr) - 1)], dtype=bool)
    if not usable.any():
        raise InputError(f"{loss.title} can learn from none of the {len(usable)} queries: {_why_unusable(loss)}")
    left_out = int((~usable).sum())
    kept: BoolVector | None = usable if left_out else None
    if not bool((np.diff(order) == 1).all()):
        order = order[np.repeat(usable, np.diff(ptr))]
        ptr = np.concatenate([[0], np.cumsum(np.diff(ptr)[usable])]).astype(np.int64)
        X, y, kept = X[order], y[order], None
    ys = [y[ptr[i] : ptr[i + 1]] for i in range(len(ptr) - 1)]
    if weights is not None:
        weights = _one_per_query(weights[order], ptr, np.ones(len(ys), dtype=bool) if kept is None else kept)
    return Queries(Rows(X, ptr), ys, weights, kept, left_out)


def _one_per_query(weights: Vector, ptr: IntVector, usable: BoolVector) -> Vector:
    first, length = weights[ptr[:-1]], np.diff(ptr)
    if (np.repeat(usable, length) & (np.repeat(first, length) != weights)).any():
        raise InputError(
            "sample_weight differs within a query. A query is one example and has one weight: "
            "give all its rows the same"
        )
    return first


def _checked_weights(sample_weight: ArrayLike, n: int) -> Vector:
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight must be numbers: {error}") from None
    if weights.shape != (n,):
        raise InputError(f"sample_weight must hold one weight per row, shape ({n},), got shape {weights.shape}")
    wrong = ~(np.isfinite(weights) & (weights >= 0.0))
    if wrong.any():
        first = int(wrong.argmax())
        raise InputError(
            f"sample_weight must be finite and not negative: {wrong.sum()} of {n} are not, "
            f"the first is {weights[first]:g} at row {first}"
        )
    if not weights.any():
        raise InputError("sample_weight is zero at every row: some must have a weight above 0")
    return weights


def _why_unusable(loss: ScoreLoss[Any]) -> str:
    if type(loss).usable is PairwiseLoss.usable:
        return (
            "each has documents of one kind only. A query needs relevant documents (label > 0, or "
            "relevant_from) and others; check the labels and qid"
        )
    return f"{loss.title}.usable(y) is false for the labels y of each; check it, the labels and qid"
