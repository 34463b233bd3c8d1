"""Hinges as an objective of LightGBM, and measures as its metric."""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from structsvm.arrays import numbers
from structsvm.exceptions import InputError
from structsvm.objectives.boosting import BoostedHinge, BoostedMeasure
from structsvm.queries import Queries
from structsvm.types import IntVector, Vector


@frozen
class LightGBMHinge(BoostedHinge):
    """The hinges of a loss as ``objective`` of ``lightgbm.LGBMRanker``: ``LGBMRanker(objective=LightGBMHinge("map"))``.

    LightGBM counts the arguments of an objective, hence these four. It wants a second derivative too, and the hinge,
    piecewise linear, has none: with a constant in its place a leaf's value is minus the mean of its documents'
    gradients over that constant, as in gradient boosting (Friedman, Annals of Statistics 2001, algorithm 1).

    Parameters
    ----------
    loss : name or object; see `Hinge`.
    hessian : what stands for the second derivative of each document; above 0. LightGBM's ``min_child_weight`` and
        ``reg_lambda`` are sums of these: with 1, numbers of documents.

    Examples
    --------
    >>> objective = LightGBMHinge("roc_area")
    >>> objective([1.0, 0.0, 0.0], [0.0, 0.0, 0.0], None, [3])
    (array([-2.,  1.,  1.]), array([1., 1., 1.]))
    """

    def __call__(
        self, y_true: ArrayLike, y_pred: ArrayLike, weight: ArrayLike | None, group: ArrayLike | None
    ) -> tuple[Vector, Vector]:
        """Return gradient and Hessian of each document.

        Parameters
        ----------
        y_true, y_pred : labels and scores, shape (n,), the rows of each query together.
        weight : weight of each row, the same within a query, shape (n,). None: all 1.
        group : number of rows of each query, as ``LGBMRanker`` has it. None, as ``LGBMRegressor`` has it, is for losses
            of single documents, such as "zero_one", and of one whole sample.

        Raises
        ------
        InputError : when they do not fit each other, no query can be learned from, or there is no group.
        """
        n = _length(y_true)
        loss = self._recent.score_loss
        qid = None if group is None and (loss.per_row or loss.of_one_sample) else _ids(group, n)
        weights = None
        if weight is not None:
            queries = Queries.of(qid, n)
            weights = queries.weights(weight)[queries.number]
        return self.steps(y_true, y_pred, qid, weights)


@frozen
class LightGBMMeasure(BoostedMeasure):
    """A measure as ``eval_metric`` of ``lightgbm.LGBMRanker.fit``.

    Parameters
    ----------
    measure : name, as `structsvm.metrics.parse_measure` reads it, or object.

    Examples
    --------
    >>> LightGBMMeasure("map")([1.0, 0.0], [0.5, 2.0], None, [2])
    ('map', 0.5, True)
    """

    def __call__(
        self, y_true: ArrayLike, y_pred: ArrayLike, weight: ArrayLike | None, group: ArrayLike | None
    ) -> tuple[str, float, bool]:
        """Return name and value of the measure, and True: larger is better.

        Parameters
        ----------
        y_true, y_pred : as in a call of `LightGBMHinge`.
        group : number of rows of each query.
        weight : not looked at: the value is the mean over queries.
        """
        return str(self.measure), self.measure.mean(y_pred, y_true, _ids(group, _length(y_true))), True


def _length(y: ArrayLike) -> int:
    return int(np.size(numbers(y, "y_true")))


def _ids(group: Any, n: int) -> IntVector:
    """Return query ids of n rows from the number of rows of each query."""
    if group is None:
        raise InputError(
            "LightGBM says no queries, by which documents are ranked: use LGBMRanker, and give fit the number of rows "
            f"of each query, in their order, as group=; if all {n} rows are one query, group=[{n}]"
        )
    sizes = numbers(group, "group")
    whole = np.isfinite(sizes) & (sizes >= 0.0) & (sizes == np.floor(sizes))
    if sizes.ndim != 1 or not whole.all() or sizes.sum() != n:
        raise InputError(f"group must be a vector with the number of rows of each query, {n} in all, got {group!r}")
    return np.repeat(np.arange(len(sizes)), sizes.astype(np.int64))
