"""Hinges as objectives of LightGBM and XGBoost, and measures as their metrics."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError, brief
from structsvm.foundation.arrays import numbers
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import positive
from structsvm.foundation.types import IntVector, Vector
from structsvm.losses import ScoreLoss
from structsvm.metrics import AP, Measure
from structsvm.objectives.hinges import Recent
from structsvm.registry import measures


@frozen
class _BoostedHinge:
    """The hinge's subgradient for boosted trees; a constant replaces the Hessian, which is zero."""

    loss: str | ScoreLoss[Any] = "map"
    hessian: float = field(default=1.0, validator=positive)
    _recent: Recent = field(init=False, eq=False, repr=False)

    @_recent.default
    def _of_loss(self) -> Recent:
        return Recent(self.loss)

    def _steps(
        self, y: ArrayLike, scores: ArrayLike, qid: IntVector | None, weights: Vector | None
    ) -> tuple[Vector, Vector]:
        """Return gradient and Hessian of each document, shape (n,); weights must be equal within a query."""
        gradient = self._recent.of(y, qid)(scores).gradient
        hessian = np.full(len(gradient), float(self.hessian))
        return (gradient, hessian) if weights is None else (gradient * weights, hessian * weights)


def _measure(wanted: Any) -> Measure:
    measure: Measure = measures.create(wanted)
    return measure


@frozen
class _BoostedMeasure:
    """A measure as a metric of boosted trees."""

    measure: Measure = field(default=AP(), converter=_measure)


@frozen
class LightGBMHinge(_BoostedHinge):
    """The hinges of a loss as objective of LightGBM: ``LGBMRanker(objective=LightGBMHinge("map"))``.

    The hinge is piecewise linear, so a constant replaces the second derivative that LightGBM requires. The value of a
    leaf is then minus the mean gradient of its documents, divided by the constant, as in gradient boosting (Friedman,
    Annals of Statistics 2001, algorithm 1).

    Parameters
    ----------
    loss : name or object; see `Hinge`.
    hessian : constant second derivative of each document; above 0. LightGBM adds it up over documents, so with 1 its
        ``min_child_weight`` and ``reg_lambda`` count documents.

    Examples
    --------
    >>> objective = LightGBMHinge("roc_area")
    >>> objective([1.0, 0.0, 0.0], [0.0, 0.0, 0.0], None, [3])
    (array([-2.,  1.,  1.]), array([1., 1., 1.]))
    """

    # LightGBM counts the arguments of an objective, so all four are required.
    def __call__(
        self, y_true: ArrayLike, y_pred: ArrayLike, weight: ArrayLike | None, group: ArrayLike | None
    ) -> tuple[Vector, Vector]:
        """Return gradient and Hessian of each document.

        Parameters
        ----------
        y_true, y_pred : labels and scores, shape (n,); the rows of each query are contiguous.
        weight : weight of each row, constant within a query, shape (n,). None: all 1.
        group : number of rows of each query. None, which ``LGBMRegressor`` passes, works for losses of single
            documents, such as "zero_one", and for losses of one whole sample.
        """
        n = _length(y_true)
        loss = self._recent.score_loss
        qid = None if group is None and (loss.per_row or loss.of_one_sample) else _grouped_ids(group, n)
        weights = None
        if weight is not None:
            queries = Queries.of(qid, n)
            weights = queries.weights(weight)[queries.number]
        return self._steps(y_true, y_pred, qid, weights)


@frozen
class LightGBMMeasure(_BoostedMeasure):
    """A measure as ``eval_metric`` of ``lightgbm.LGBMRanker.fit``: the unweighted mean over queries.

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
        """Return name and value of the measure, and True: larger is better. Arguments are as in `LightGBMHinge`."""
        return str(self.measure), self.measure.mean(y_pred, y_true, _grouped_ids(group, _length(y_true))), True


@frozen
class XGBoostHinge(_BoostedHinge):
    """The hinges of a loss as ``obj`` of ``xgboost.train``; queries come from the ``DMatrix``.

    Call ``xgboost.train(params, xgboost.DMatrix(X, y, qid=qid), obj=XGBoostHinge("map"))``. A DMatrix requires
    contiguous rows per query. ``XGBRanker`` does not accept functions as objectives. A constant replaces the second
    derivative, as in `LightGBMHinge`.

    Parameters
    ----------
    loss : name or object; see `Hinge`.
    hessian : constant second derivative of each document; above 0. XGBoost adds it up over documents, so with 1 its
        ``min_child_weight`` and ``lambda`` (default 1) count documents.

    Examples
    --------
    >>> import xgboost
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
        dtrain : ``xgboost.DMatrix`` with labels and queries; its weights, if any, are one per query.
        """
        labels = dtrain.get_label()
        sizes = _sizes(dtrain)
        weight = np.asarray(dtrain.get_weight(), dtype=np.float64)
        weights = np.repeat(weight, sizes) if len(weight) else None
        return self._steps(labels, predt, _ids(sizes), weights)


@frozen
class XGBoostMeasure(_BoostedMeasure):
    """A measure as ``custom_metric`` of ``xgboost.train``; pass ``maximize=True`` if training stops early by it.

    Parameters
    ----------
    measure : name, as `structsvm.metrics.parse_measure` reads it, or object.

    Examples
    --------
    >>> import xgboost
    >>> data = xgboost.DMatrix(np.array([[1.0], [2.0]]), np.array([0, 1]), qid=np.array([1, 1]))
    >>> XGBoostMeasure("map")(np.array([0.5, 2.0]), data)
    ('map', 1.0)
    """

    def __call__(self, predt: ArrayLike, dtrain: Any) -> tuple[str, float]:
        """Return name and value of the measure, the mean over queries. Arguments are as in `XGBoostHinge`."""
        return str(self.measure), self.measure.mean(predt, dtrain.get_label(), _ids(_sizes(dtrain)))


def _length(y: ArrayLike) -> int:
    return int(np.size(numbers(y, "y_true")))


def _ids(sizes: IntVector) -> IntVector:
    return np.repeat(np.arange(len(sizes)), sizes)


def _grouped_ids(group: Any, n: int) -> IntVector:
    """Return query ids of n rows from LightGBM's number of rows of each query."""
    if group is None:
        raise InputError(
            "LightGBM passed no queries, by which documents are ranked: use LGBMRanker, and give fit the number of "
            f"rows of each query, in their order, as group=; if all {n} rows are one query, group=[{n}]"
        )
    sizes = numbers(group, "group")
    whole = np.isfinite(sizes) & (sizes >= 0.0) & (sizes == np.floor(sizes))
    if sizes.ndim != 1 or not whole.all() or sizes.sum() != n:
        raise InputError(
            f"group must be a vector with the number of rows of each query, {n} in all, got {brief(group)}"
        )
    return _ids(sizes.astype(np.int64))


def _sizes(data: Any) -> IntVector:
    """Return the number of rows of each query of a DMatrix."""
    ptr = np.asarray(data.get_uint_info("group_ptr"), dtype=np.int64)
    if len(ptr) < 2:
        raise InputError("the DMatrix has no queries: make it with qid, as in xgboost.DMatrix(X, y, qid=qid)")
    return np.diff(ptr)
