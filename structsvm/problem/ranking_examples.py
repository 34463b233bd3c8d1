"""What rows of features and labels are to a loss."""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.losses import ScoreLoss
from structsvm.operators import Operator, Readable, Rows, WithIntercept, readable
from structsvm.problem.checks import checked_labels, is_usable
from structsvm.queries import Queries, row_weights
from structsvm.types import BoolVector, Vector


@frozen(eq=False)
class RankingExamples:
    """What rows of features and labels are to a loss.

    Parameters
    ----------
    loss, operator, ys : as in `Problem.make`.
    weights : example weights κ; None: all 1.
    usable : which examples the loss can learn from; None: all.
    """

    loss: ScoreLoss[Any]
    operator: Operator
    ys: Any
    weights: Vector | None
    usable: BoolVector | None


def ranking_examples(
    X: Readable | Operator,
    y: Vector,
    qid: ArrayLike | None,
    loss: ScoreLoss[Any],
    sample_weight: ArrayLike | None,
    intercept: float,
) -> RankingExamples:
    """Return the examples that rows make up; see `Problem.from_queries`.

    Parameters
    ----------
    X, y, qid, sample_weight, intercept : as there.
    loss : a loss that knows what it must of the data (`bind`).
    """
    rows: Operator
    ys: Any
    if isinstance(X, Operator):
        labels = checked_labels(loss, (int(X.ptr[-1]), X.d), np.asarray(y))
        queries = Queries.of_sizes(np.diff(X.ptr)) if qid is None else Queries.of(qid, len(labels))
        rows = _of_queries(X, queries, loss)
    else:
        X = readable(X)
        labels = checked_labels(loss, X.shape, np.asarray(y))
        queries = Queries.of(qid, len(labels))
        rows = Rows.one_each(X) if loss.per_row else Rows(queries.grouped(X), queries.ptr)
    if loss.per_row:
        ys, usable = labels, None
        weights = None if sample_weight is None else row_weights(sample_weight, len(labels))
    else:
        ys = queries.split(labels)
        usable = np.array([is_usable(loss, each) for each in ys], dtype=np.bool_)
        weights = queries.weights(sample_weight, usable)
    if intercept:
        rows = WithIntercept(rows, intercept)
    return RankingExamples(loss, loss.operator(rows), ys, weights, usable)


def _of_queries(operator: Operator, queries: Queries, loss: ScoreLoss[Any]) -> Operator:
    """Return an operator whose examples are these queries, or single rows where the loss is of rows.

    Raises
    ------
    InputError : when they are others.
    """
    ptr = operator.ptr
    if loss.per_row and operator.n != int(ptr[-1]):
        raise InputError(
            f"an example of {loss.title} is one row, and the operator has {operator.n} examples with {int(ptr[-1])} "
            "rows in all: make it with ptr=np.arange(rows + 1)"
        )
    if not loss.per_row and not (queries.together and np.array_equal(queries.ptr, ptr)):
        raise InputError(
            f"the operator has {operator.n} examples, and they are not the {len(queries)} queries of qid in their "
            "order: make it with the rows of each query together, and ptr where each begins"
        )
    return operator
