"""Hinges as an objective of XGBoost, and measures as its metric."""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.objectives.boosting import BoostedHinge, BoostedMeasure
from structsvm.types import IntVector, Vector


@frozen
class XGBoostHinge(BoostedHinge):
    """The hinges of a loss as ``obj`` of ``xgboost.train``, with the queries of the ``DMatrix``.

    ``xgboost.train(params, xgboost.DMatrix(X, y, qid=qid), obj=XGBoostHinge("map"))``; the DMatrix wants the rows of
    each query together. ``XGBRanker`` refuses objectives that are functions. The hinge, piecewise linear, has no second
    derivative: with a constant in its place a leaf's value is minus the mean of its documents' gradients over that
    constant, as in gradient boosting (Friedman, Annals of Statistics 2001, algorithm 1).

    Parameters
    ----------
    loss : name or object; see `Hinge`.
    hessian : what stands for the second derivative of each document; above 0. XGBoost's ``min_child_weight`` and
        ``lambda`` (1 unless set) are sums of these: with 1, numbers of documents.

    Examples
    --------
    >>> import numpy as np
    >>> import xgboost
    >>> from structsvm.objectives import XGBoostHinge
    >>> X, y, qid = np.array([[1.0], [2.0], [3.0], [1.0]]), np.array([0, 1, 1, 0]), np.array([1, 1, 2, 2])
    >>> data, settings = xgboost.DMatrix(X, y, qid=qid), {"nthread": 1, "min_child_weight": 0.0}
    >>> trees = xgboost.train(settings, data, num_boost_round=5, obj=XGBoostHinge("map"))
    >>> trees.predict(data).argsort()[-2:].tolist()  # the relevant documents
    [1, 2]
    """

    def __call__(self, predt: ArrayLike, dtrain: Any) -> tuple[Vector, Vector]:
        """Return gradient and Hessian of each document.

        Parameters
        ----------
        predt : scores, shape (n,).
        dtrain : ``xgboost.DMatrix`` with labels and queries; weights are those of queries.

        Raises
        ------
        InputError : it has no labels or no queries, or no query can be learned from.
        """
        labels = dtrain.get_label()
        sizes = _sizes(dtrain)
        weight = np.asarray(dtrain.get_weight(), dtype=np.float64)
        weights = np.repeat(weight, sizes) if len(weight) else None
        return self.steps(labels, predt, _ids(sizes), weights)


@frozen
class XGBoostMeasure(BoostedMeasure):
    """A measure as ``custom_metric`` of ``xgboost.train``; with ``maximize=True``, where training stops early by it.

    Parameters
    ----------
    measure : name, as `structsvm.metrics.parse_measure` reads it, or object.

    Examples
    --------
    >>> import numpy as np
    >>> import xgboost
    >>> from structsvm.objectives import XGBoostHinge, XGBoostMeasure
    >>> X, y, qid = np.array([[1.0], [2.0], [3.0], [1.0]]), np.array([0, 1, 1, 0]), np.array([1, 1, 2, 2])
    >>> data, met = xgboost.DMatrix(X, y, qid=qid), {}
    >>> settings = {"nthread": 1, "min_child_weight": 0.0, "disable_default_eval_metric": 1}
    >>> shown = {"evals": [(data, "train")], "evals_result": met, "verbose_eval": False}
    >>> hinge, measure = XGBoostHinge("map"), XGBoostMeasure("map")
    >>> trees = xgboost.train(settings, data, 2, obj=hinge, custom_metric=measure, **shown)
    >>> met["train"]["map"]
    [1.0, 1.0]
    """

    def __call__(self, predt: ArrayLike, dtrain: Any) -> tuple[str, float]:
        """Return name and value of the measure, the mean over queries.

        Parameters
        ----------
        predt, dtrain : as in a call of `XGBoostHinge`.
        """
        return str(self.measure), self.measure.mean(predt, dtrain.get_label(), _ids(_sizes(dtrain)))


def _sizes(data: Any) -> IntVector:
    """Return the number of rows of each query of a DMatrix."""
    ptr = np.asarray(data.get_uint_info("group_ptr"), dtype=np.int64)
    if len(ptr) < 2:
        raise InputError("the DMatrix has no queries: make it with qid, as in xgboost.DMatrix(X, y, qid=qid)")
    return np.diff(ptr)


def _ids(sizes: IntVector) -> IntVector:
    return np.repeat(np.arange(len(sizes)), sizes)
