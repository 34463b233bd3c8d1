"""Parameters of the estimators, looked at before anything is trained."""

import math
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from structsvm.exceptions import InputError
from structsvm.losses import Loss, ScoreLoss
from structsvm.metrics import Measure, measure_names, parse_measure
from structsvm.operators import Rows
from structsvm.registry import losses, solvers


def require_settings(estimator: BaseEstimator) -> None:
    """Refuse what both estimators cannot work with, other than data, C and tol.

    Raises
    ------
    InputError : when there is no such solver, a switch is neither True nor False, or
        ``intercept_scaling`` is not a positive finite number; it names the parameter.
    """
    solvers.create(estimator.solver)
    for name in ("fit_intercept", "warm_start"):
        value = getattr(estimator, name)
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"{_parameter(estimator, name)} must be True or False, got {value!r}")
    scaling = estimator.intercept_scaling
    if isinstance(scaling, bool) or not isinstance(scaling, Real) or not 0.0 < float(scaling) < math.inf:
        raise InputError(
            f"{_parameter(estimator, 'intercept_scaling')} must be a positive finite number, got {scaling!r}"
        )


def ranking_loss(estimator: BaseEstimator) -> ScoreLoss[Any]:
    """Return the loss of a ranker.

    Raises
    ------
    InputError : when it makes its own joint features.
    """
    loss: ScoreLoss[Any] | Loss[Any, Any] = losses.create(estimator.loss)
    if isinstance(loss, Loss):
        raise InputError(
            f"{_parameter(estimator, 'loss')} must be a ScoreLoss, which sees the scores of documents; "
            f"{type(loss).__name__} is a Loss with joint features of its own: use StructuralSVM"
        )
    return loss


def scores_rows(loss: ScoreLoss[Any], y: Any) -> bool:
    """Say whether a loss gives each row one score, which is what a ranker ranks by.

    Parameters
    ----------
    loss : the loss.
    y : labels that it is to learn.
    """
    features = 2
    return loss.bind(y).operator(Rows.one_each(np.ones((1, features)))).d == features


def measure_of(estimator: BaseEstimator) -> Measure:
    """Return the measure that a ranker reports.

    Raises
    ------
    InputError : when it is neither a name nor a measure.
    """
    measure = "map" if estimator.measure is None else estimator.measure
    if isinstance(measure, str):
        return parse_measure(measure)
    if not isinstance(measure, Measure):
        what = f"the class {measure.__name__}" if isinstance(measure, type) else repr(measure)
        raise InputError(
            f"{_parameter(estimator, 'measure')} must be a name ({', '.join(measure_names())}) "
            f"or a measure with its settings, as in NDCG(k=10), got {what}"
        )
    return measure


def _parameter(estimator: BaseEstimator, name: str) -> str:
    return f"{type(estimator).__name__}({name}=...)"
