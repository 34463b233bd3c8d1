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
from structsvm.losses.shared.weighted_labels import WeightedLabels
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
    weights: Vector | None
    if loss.per_row:
        ys, usable = labels, None
        weights = None if sample_weight is None else row_weights(sample_weight, len(labels))
    else:
        ys, usable, weights = weighted_queries(labels, queries, loss, sample_weight)
    if intercept:
        rows = WithIntercept(rows, intercept)
    return Examples(loss, loss.operator(rows), ys, weights, usable, of_queries=True)


def weighted_queries(
    labels: Vector, queries: Queries, loss: ScoreLoss[Any], sample_weight: ArrayLike | None
) -> tuple[list[Any], BoolVector, Vector]:
    """Return the true output, the usability and the weight of each query.

    If weights differ within a query, the largest weighs the query, and the others weigh documents relative to it.
    """
    ys = queries.split(labels)
    weights = None if sample_weight is None else row_weights(sample_weight, len(labels))
    if weights is not None and loss.takes_document_weights:
        largest = np.array([of_query.max() for of_query in queries.split(weights)])
        for k, of_query in enumerate(queries.split(weights)):
            if of_query.min() < largest[k]:
                ys[k] = WeightedLabels(ys[k], of_query / largest[k])
        weights = largest[queries.number]
    usable = np.array([is_usable(loss, y) for y in ys], dtype=np.bool_)
    try:
        return ys, usable, queries.weights(weights, usable)
    except InputError as error:
        losses = "zero_one, weighted_ranks, roc_area or swapped_pairs"
        raise InputError(f"{error}, or use a loss that takes weights of documents: {losses}") from None


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
