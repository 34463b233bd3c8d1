"""Rows grouped by query: what a ranking problem is made of."""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.losses import ScoreLoss
from structsvm.operators import Readable, Rows
from structsvm.problem.checks import is_usable
from structsvm.queries import Queries, row_weights
from structsvm.types import BoolVector, Vector


@frozen(eq=False)
class RankingExamples:
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
    loss: ScoreLoss[Any], X: Readable, y: Vector, qid: ArrayLike | None, sample_weight: ArrayLike | None
) -> RankingExamples:
    """Group rows by query, and find the queries that the loss cannot learn from.

    Rows that are grouped already stay where they are, without a copy; others are copied once.
    Queries are numbered in order of first appearance.

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
    if X.ndim != 2:
        raise InputError(f"X must be a matrix with one document a row; its shape is {X.shape}")
    n, y = X.shape[0], _readable_labels(loss, y)
    if len(y) != n:
        raise InputError(f"X has {n} rows but y has {len(y)} labels: one label a row is needed")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise InputError(f"y contains NaN or infinity: the first is label {int(np.argmin(np.isfinite(y)))}")
    queries = Queries.of(qid, n)
    if loss.per_row:
        weights = None if sample_weight is None else row_weights(sample_weight, n)
        return RankingExamples(Rows.one_each(X), y, weights, None, 0)

    ptr, labels = queries.ptr, queries.grouped(y)
    ys = [labels[ptr[i] : ptr[i + 1]] for i in range(len(queries))]
    usable = np.array([is_usable(loss, each) for each in ys], dtype=bool)
    if not usable.any():
        why = loss.why_none_usable(ys)
        raise InputError(f"{loss.title} can learn from none of the {len(usable)} queries: {why}")
    left_out = int((~usable).sum())
    kept: BoolVector | None = usable if left_out else None
    weights = None if sample_weight is None else queries.weights(sample_weight, usable)
    return RankingExamples(Rows(queries.grouped(X), ptr), ys, weights, kept, left_out)


def _readable_labels(loss: ScoreLoss[Any], y: Vector) -> Vector:
    """Return labels that can be told apart by row, as numbers where the loss compares them with one."""
    if y.ndim == 0 or (loss.numeric_labels and y.ndim != 1):
        raise InputError(f"y must be a vector with one label a row; its shape is {y.shape}")
    if not loss.numeric_labels or y.dtype.kind in "biuf":
        return y
    try:
        if y.dtype.kind not in "OUS":
            raise TypeError(f"they are {y.dtype}")
        return y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the labels y must be numbers for {loss.title}: {error}") from None
