"""Parameters of the estimators, looked at before anything is trained."""

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, compute_sample_weight

from structsvm.estimators.unregistered import require_object
from structsvm.exceptions import InputError
from structsvm.losses import Loss, ScoreLoss
from structsvm.metrics import Measure, measure_names, parse_measure
from structsvm.queries import row_weights
from structsvm.registry import losses, solvers
from structsvm.types import Vector


def require_settings(estimator: BaseEstimator) -> None:
    """Refuse what both estimators cannot work with, other than data and C.

    Raises
    ------
    InputError : when there is no such solver, the loss or solver is the text of one, a switch is neither True nor
        False, or ``intercept_scaling`` or ``tol`` is not a positive finite number; it names the parameter.
    """
    require_object("loss", estimator.loss)
    require_solver(estimator)
    for name in ("fit_intercept", "warm_start"):
        require_switch(estimator, name)
    scaling = estimator.intercept_scaling
    if isinstance(scaling, bool) or not isinstance(scaling, Real) or not 0.0 < float(scaling) < math.inf:
        raise InputError(
            f"{_parameter(estimator, 'intercept_scaling')} must be a positive finite number, got {scaling!r}"
        )


def require_solver(estimator: BaseEstimator) -> None:
    """Refuse a ``solver`` that is none, and a ``tol`` that is neither a positive finite number nor None."""
    require_object("solver", estimator.solver)
    solvers.create(estimator.solver)
    tol = estimator.tol
    if tol is not None and (isinstance(tol, bool) or not isinstance(tol, Real) or not 0.0 < float(tol) < math.inf):
        raise InputError(f"{_parameter(estimator, 'tol')} must be a positive finite number or None, got {tol!r}")


def require_integer(estimator: BaseEstimator, name: str, smallest: int) -> None:
    """Refuse a parameter that is not an integer of at least ``smallest``."""
    value = getattr(estimator, name)
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < smallest:
        raise InputError(f"{_parameter(estimator, name)} must be an integer of at least {smallest}, got {value!r}")


def require_number(
    estimator: BaseEstimator, name: str, *, above: float = -math.inf, at_least: float = -math.inf
) -> None:
    """Refuse a parameter that is not a finite number above, or of at least, another one."""
    value = getattr(estimator, name)
    number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not number or not math.isfinite(float(value)) or float(value) <= above or float(value) < at_least:
        kind = f"above {above:g}" if above > -math.inf else f"of at least {at_least:g}" if at_least > -math.inf else ""
        raise InputError(f"{_parameter(estimator, name)} must be a finite number {kind}".rstrip() + f", got {value!r}")


def require_choice(estimator: BaseEstimator, name: str, choices: Iterable[str | None]) -> None:
    """Refuse a parameter that is none of these."""
    value, known = getattr(estimator, name), list(choices)
    if not isinstance(value, str | None) or value not in known:
        raise InputError(f"{_parameter(estimator, name)} must be {' or '.join(map(repr, known))}, got {value!r}")


def require_switch(estimator: BaseEstimator, name: str) -> None:
    """Refuse a parameter that is neither True nor False."""
    value = getattr(estimator, name)
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{_parameter(estimator, name)} must be True or False, got {value!r}")


def random_of(estimator: BaseEstimator) -> np.random.RandomState:
    """Return the random numbers that ``random_state`` stands for.

    Raises
    ------
    InputError : when it is neither a seed nor a ``RandomState``, nor None.
    """
    try:
        random: np.random.RandomState = check_random_state(estimator.random_state)
    except ValueError:
        raise InputError(
            f"{_parameter(estimator, 'random_state')} must be a whole number from 0 to 4294967295, a "
            f"numpy.random.RandomState or None, got {estimator.random_state!r}"
        ) from None
    return random


def ranking_loss(estimator: BaseEstimator) -> ScoreLoss[Any]:
    """Return the loss of a ranker.

    Raises
    ------
    InputError : when it makes its own joint features, or says that it does not give each row one score.
    """
    loss: ScoreLoss[Any] | Loss[Any, Any] = losses.create(estimator.loss)
    if isinstance(loss, Loss):
        raise InputError(
            f"{_parameter(estimator, 'loss')} must be a ScoreLoss, which sees the scores of documents; "
            f"{type(loss).__name__} is a Loss with joint features of its own: use StructuralSVM"
        )
    if not loss.scores_rows:
        raise not_one_score(estimator)
    return loss


def not_one_score(estimator: BaseEstimator) -> InputError:
    """Return the error for the loss of a ranker that does not give each row one score."""
    return InputError(
        f"the loss {estimator.loss!r} does not give each row one score, which is what a ranker ranks by: "
        "use StructuralSVM"
    )


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


def checked_Cs(Cs: ArrayLike) -> list[float]:
    """Return the values of C of a path.

    Raises
    ------
    InputError : when they are not a vector of positive finite numbers, or there are none.
    """
    try:
        values = np.asarray(Cs, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.ndim != 1 or len(values) == 0 or not ((values > 0.0) & np.isfinite(values)).all():
        raise InputError(f"Cs must be a vector of positive numbers, got {Cs!r}")
    checked: list[float] = values.tolist()
    return checked


def weights_of_rows(
    estimator: BaseEstimator, loss: ScoreLoss[Any], y: Vector, sample_weight: ArrayLike | None
) -> ArrayLike | None:
    """Return the weights of rows, those of their classes included.

    Raises
    ------
    InputError : when the loss learns from queries, or ``class_weight`` does not fit the labels.
    """
    given = estimator.class_weight
    if given is None:
        return sample_weight
    if not loss.per_row:
        raise InputError(
            f"class_weight is for losses whose examples are rows, and {estimator.loss!r} learns from queries: "
            "use sample_weight to weight queries"
        )
    _require_class_weight(_parameter(estimator, "class_weight"), given, y)
    balanced = not isinstance(given, dict)
    weights: Vector = compute_sample_weight(given, np.where(y > 0, 1, -1) if balanced else y)
    return weights if sample_weight is None else weights * row_weights(sample_weight, len(y))


def _require_class_weight(name: str, given: Any, y: Vector) -> None:
    if isinstance(given, str) and given == "balanced":
        return
    if not isinstance(given, dict):
        raise InputError(f"{name} must be {{label: weight}}, 'balanced' or None, got {given!r}")
    for label, weight in given.items():
        if not isinstance(weight, Real) or not 0.0 <= float(weight) < math.inf:
            raise InputError(f"{name} must have weights that are finite and not negative, got {weight!r} for {label!r}")
    labels = np.unique(y).tolist()
    strange, bare = [label for label in given if label not in labels], [label for label in labels if label not in given]
    if strange and bare:  # labels that do not occur are harmless where all that do have a weight
        raise InputError(f"{name} has weights for {strange}, which do not occur in y, and none for {bare}, which do")


def _parameter(estimator: BaseEstimator, name: str) -> str:
    return f"{type(estimator).__name__}({name}=...)"
