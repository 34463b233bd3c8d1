"""Convert rows of features and labels to examples of a loss."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.features.operators import Operator, Rows, readable
from structsvm.features.operators.composed import WithIntercept
from structsvm.features.operators.matrix import Readable
from structsvm.foundation.queries import Queries, row_weights
from structsvm.foundation.types import BoolVector, Vector
from structsvm.losses import ScoreLoss
from structsvm.losses.base import Examples
from structsvm.problem.checks import is_usable, labels_of_loss


def ranking_examples(
    X: Readable | Operator,
    y: Vector,
    qid: ArrayLike | None,
    loss: ScoreLoss[Any],
    sample_weight: ArrayLike | None,
    intercept: float,
) -> Examples:
    """Return the examples that rows form for a bound loss; see `Problem.from_queries`."""
    rows: Operator
    ys: Any
    if isinstance(X, Operator):
        labels = labels_of_loss(loss, (int(X.ptr[-1]), X.d), np.asarray(y))
        queries = Queries.of_sizes(np.diff(X.ptr)) if qid is None else Queries.of(qid, len(labels))
        rows = _of_queries(X, queries, loss)
    else:
        X = readable(X)
        labels = labels_of_loss(loss, X.shape, np.asarray(y))
        queries = Queries.of(qid, len(labels))
        rows = Rows.one_row_per_example(X) if loss.per_row else Rows(queries.grouped(X), queries.ptr)
    weights = None if sample_weight is None else row_weights(sample_weight, len(labels))
    if loss.per_row:
        ys, usable = labels, None
    else:
        if weights is not None and loss.labels_are_weights:
            labels, weights = _weights_in_labels(labels, weights, queries)
        ys = queries.split(labels)
        usable = np.array([is_usable(loss, labels) for labels in ys], dtype=np.bool_)
        weights = _weights_of_queries(queries, weights, usable)
    if intercept:
        rows = WithIntercept(rows, intercept)
    return Examples(loss, loss.operator(rows), ys, weights, usable, of_queries=True)


def _weights_in_labels(labels: Vector, weights: Vector, queries: Queries) -> tuple[Vector, Vector]:
    """Return labels times the weights of documents, and the weight of each row's query, its largest one.

    The labels are divided by the weight of the query, so that equal weights within a query leave them as they are.
    """
    largest = np.zeros(len(queries))
    np.maximum.at(largest, queries.number, weights)
    of_row = largest[queries.number]
    return labels * np.divide(weights, of_row, out=np.ones_like(of_row), where=of_row > 0.0), of_row


def _weights_of_queries(queries: Queries, weights: Vector | None, usable: BoolVector) -> Vector:
    """Return the weight of each query; reject weights that differ within one, and name losses that take them."""
    try:
        return queries.weights(weights, usable)
    except InputError as error:
        raise InputError(f"{error}, or use zero_one or weighted_ranks, losses that take weights of documents") from None


def _of_queries(operator: Operator, queries: Queries, loss: ScoreLoss[Any]) -> Operator:
    """Return the operator if its examples are these queries (single rows for a loss of rows); reject others."""
    ptr = operator.ptr
    if loss.per_row and operator.n != int(ptr[-1]):
        raise InputError(
            f"{loss.title} needs one example per row, and the operator has {operator.n} examples with {int(ptr[-1])} "
            "rows in all: make it with ptr=np.arange(rows + 1)"
        )
    if not loss.per_row and not (queries.together and np.array_equal(queries.ptr, ptr)):
        raise InputError(
            f"the {operator.n} examples of the operator must be the {len(queries)} queries of qid in the same order: "
            "make it with the rows of each query together, and ptr with the first row of each query"
        )
    return operator
