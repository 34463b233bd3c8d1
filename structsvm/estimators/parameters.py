"""Validate parameters of estimators before training."""

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar

import numpy as np
from attrs import evolve, fields_dict, has
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, compute_sample_weight

from structsvm.estimators.written_settings import require_object
from structsvm.exceptions import InputError, brief
from structsvm.foundation.arrays import numbers_alone
from structsvm.foundation.compute.threads import require_jobs
from structsvm.foundation.queries import row_weights
from structsvm.foundation.settings import is_number, place, require_integer, require_number, require_switch
from structsvm.foundation.types import IntVector, Vector
from structsvm.losses import Loss, ScoreLoss
from structsvm.metrics import Measure
from structsvm.problem.base import AbstractProblem
from structsvm.problem.coordinates import checked_bounds
from structsvm.registry import losses, measures, solvers
from structsvm.solvers import Solver

AnyProblem = TypeVar("AnyProblem", bound=AbstractProblem)
Init = TypeVar("Init", bound=Callable[..., None])

LIMITS = ("tol", "max_iter")
"""Parameters of estimators that replace settings of their solver; None keeps the solver's."""


def with_parameters_of(base: type) -> Callable[[Init], Init]:
    """Insert a base class's parameters into the signature of an ``__init__`` with ``**settings``, for scikit-learn."""
    inherited = list(signature(base).parameters.values())

    def extended(init: Init) -> Init:
        own = list(signature(init).parameters.values())
        more = [each for each in own[1:] if each.kind is Parameter.KEYWORD_ONLY]
        init.__signature__ = Signature([own[0], *inherited, *more])  # type: ignore[attr-defined]
        return init

    return extended


def require_settings(estimator: BaseEstimator) -> None:
    """Require valid parameters that estimators share, other than data and C."""
    require_object("loss", estimator.loss)
    require_object("solver", estimator.solver)
    for name in ("fit_intercept", "warm_start"):
        require_switch(place(estimator, name), getattr(estimator, name))
    require_number(place(estimator, "intercept_scaling"), estimator.intercept_scaling, above=0.0)
    require_jobs(place(estimator, "n_jobs"), estimator.n_jobs)


def solver_of(
    estimator: BaseEstimator,
    solver: Solver | None = None,
    *,
    limits: Sequence[str] = LIMITS,
    tol: float | None = None,
) -> Solver:
    """Return the ``solver`` of an estimator, or the given one, with the estimator's ``tol`` and ``max_iter``.

    If neither the estimator nor the solver sets ``tol``, the solver gets the default ``tol`` of these arguments.
    """
    require_object("solver", estimator.solver)
    require_number(place(estimator, "tol"), estimator.tol, above=0.0, optional=True)
    require_integer(place(estimator, "max_iter"), estimator.max_iter, 1, optional=True)
    chosen: Any = solvers.create(estimator.solver) if solver is None else solver
    kind = type(chosen)
    given = {name: getattr(estimator, name) for name in limits if getattr(estimator, name) is not None}
    if tol is not None and getattr(chosen, "tol", tol) is None:
        given.setdefault("tol", tol)
    for name in given:
        if not has(kind) or name not in fields_dict(kind):
            raise InputError(f"the solver {kind.__name__} has no setting {name}: leave {name}=None")
    limited: Solver = evolve(chosen, **given) if given else chosen
    return limited


def random_of(estimator: BaseEstimator) -> np.random.RandomState:
    """Return the random number generator of ``random_state``."""
    try:
        random: np.random.RandomState = check_random_state(estimator.random_state)
    except ValueError:
        raise InputError(
            f"{place(estimator, 'random_state')} must be a whole number from 0 to 4294967295, a "
            f"numpy.random.RandomState or None, got {brief(estimator.random_state)}"
        ) from None
    return random


def ranking_loss(estimator: BaseEstimator) -> ScoreLoss[Any]:
    """Return the loss of a ranker, which must give each row one score."""
    loss: ScoreLoss[Any] | Loss[Any, Any] = losses.create(estimator.loss)
    if isinstance(loss, Loss):
        raise InputError(
            f"{place(estimator, 'loss')} must be a ScoreLoss, which sees the scores of documents; "
            f"{type(loss).__name__} is a Loss with joint features: use StructuralSVM"
        )
    if not loss.scores_rows:
        raise not_one_score(estimator)
    return loss


def not_one_score(estimator: BaseEstimator) -> InputError:
    """Return the error for a ranker's loss that does not give each row one score."""
    return InputError(
        f"the loss {estimator.loss!r} does not give each row one score, but a ranker needs these scores: "
        "use StructuralSVM"
    )


def measure_of(estimator: BaseEstimator) -> Measure:
    """Return the measure that a ranker reports."""
    measure: Measure = measures.create("map" if estimator.measure is None else estimator.measure)
    return measure


def is_plain(estimator: BaseEstimator) -> bool:
    """Return True if the regularizer is ``½‖w‖²`` without bounds, so that a column without entries has weight 0."""
    names = ("center", "feature_penalty", "bounds", "monotonic_cst")
    return all(getattr(estimator, name, None) is None for name in names)


def regularized(estimator: BaseEstimator, problem: AnyProblem, *, intercept: bool) -> AnyProblem:
    """Return the problem with an estimator's ``center``, ``feature_penalty`` and bounds, none for an intercept."""
    given: dict[str, Any] = {}
    for name, argument, constant in (("center", "center", 0.0), ("feature_penalty", "penalty", 1.0)):
        value = getattr(estimator, name, None)
        if value is not None:
            _require_feature_order(estimator, name, value)
            vector = numbers_alone(value, place(estimator, name))
            given[argument] = np.append(vector, constant) if intercept and vector.ndim == 1 else vector
    bounds = bounds_of(estimator, problem.d - intercept)
    if bounds is not None:
        low, high = bounds
        given["bounds"] = (np.append(low, -np.inf), np.append(high, np.inf)) if intercept else bounds
    return problem.regularized(**given) if given else problem


def bounds_of(estimator: BaseEstimator, d: int) -> tuple[Vector, Vector] | None:
    """Return the smallest and largest weights of d features by ``bounds`` and ``monotonic_cst``; None if unset."""
    monotonic = getattr(estimator, "monotonic_cst", None)
    if estimator.bounds is None and monotonic is None:
        return None
    given = (None, None) if estimator.bounds is None else estimator.bounds
    for name, settings in (("monotonic_cst", [monotonic]), ("bounds", given)):
        for setting in settings if isinstance(settings, tuple | list) else ():
            _require_feature_order(estimator, name, setting)
    names = getattr(estimator, "feature_names_in_", None)
    low, high = checked_bounds(given, d, place(estimator, "bounds"), names)
    if monotonic is None:
        return low, high
    signs = _signs(estimator, monotonic, d)
    low, high = np.where(signs > 0, np.maximum(low, 0.0), low), np.where(signs < 0, np.minimum(high, 0.0), high)
    if (low > high).any():
        first = int(np.argmax(low > high))
        whose = f"feature {first}" if names is None else repr(names[first])
        raise InputError(
            f"{place(estimator, 'bounds')} and monotonic_cst contradict each other: the weight of {whose} cannot be "
            f"between {low[first]:g} and {high[first]:g}"
        )
    return low, high


def _require_feature_order(estimator: BaseEstimator, name: str, value: Any) -> None:
    """Reject a pandas Series whose index has names of features in another order, because settings have positions."""
    names = getattr(estimator, "known_names", None)
    index: Any = getattr(value, "index", None)
    labels = index.tolist() if hasattr(index, "tolist") else []
    if names is not None and set(labels).intersection(names) and labels != list(names):
        raise InputError(
            f"{place(estimator, name)} is a Series whose index does not list the features of X in their order: it "
            f"begins with {labels[0]!r}, X with {names[0]!r}. Use series[list(X.columns)]"
        )


def _signs(estimator: BaseEstimator, given: Any, d: int) -> IntVector:
    """Return the sign of ``monotonic_cst`` for each of d features: 1, 0 or -1."""
    what = place(estimator, "monotonic_cst")
    if isinstance(given, dict):
        names = getattr(estimator, "known_names", None)
        if names is None:
            raise InputError(
                f"{what} has names of features, but X has no names: fit a data frame, or give 1, 0 or -1 for each "
                f"of the {d} features"
            )
        places = {name: k for k, name in enumerate(names)}
        strange = [name for name in given if name not in places]
        if strange:
            raise InputError(f"{what} has {strange[0]!r}, and no feature of X has that name")
        values = np.zeros(d)
        for name, sign in given.items():
            if not (is_number(sign) and sign in (-1, 0, 1)):
                raise InputError(f"{what}: the sign of {name!r} must be the number 1, -1 or 0, got {brief(sign)}")
            values[places[name]] = sign
    else:
        values = numbers_alone(given, what)
    if values.shape != (d,) or not np.isin(values, (-1.0, 0.0, 1.0)).all():
        raise InputError(
            f"{what} must be 1 (scores rise with the feature), -1 (they fall) or 0 (either) for each of the {d} "
            f"features, got {brief(given)}"
        )
    return values.astype(np.int64)


def weights_of_rows(
    estimator: BaseEstimator, loss: ScoreLoss[Any], y: Vector, sample_weight: ArrayLike | None
) -> ArrayLike | None:
    """Return the weights of rows, multiplied by the weights of their classes."""
    if estimator.class_weight is None:
        return sample_weight
    given = class_weights_of(estimator, loss, y)
    balanced = not isinstance(given, dict)
    weights: Vector = compute_sample_weight(given, np.where(y > 0, 1, -1) if balanced else y)
    return weights if sample_weight is None else weights * row_weights(sample_weight, len(y))


def class_weights_of(estimator: BaseEstimator, loss: ScoreLoss[Any], y: Vector) -> "dict[Any, float] | str":
    """Return the ``class_weight`` of a ranker, checked against its loss and labels."""
    given: dict[Any, float] | str = estimator.class_weight
    if not loss.per_row:
        raise InputError(
            f"class_weight is for losses whose examples are rows, and {estimator.loss!r} learns from queries: "
            "use sample_weight to weight queries"
        )
    _require_class_weight(place(estimator, "class_weight"), given, y)
    return given


def _require_class_weight(what: str, given: Any, y: Vector) -> None:
    if isinstance(given, str) and given == "balanced":
        return
    if not isinstance(given, dict):
        raise InputError(f"{what} must be {{label: weight}}, 'balanced' or None, got {brief(given)}")
    for label, weight in given.items():
        if not is_number(weight, at_least=0.0):
            raise InputError(
                f"{what} must have weights that are finite and not negative, got {brief(weight)} for {label!r}"
            )
    labels = np.unique(y).tolist()
    strange, bare = [label for label in given if label not in labels], [label for label in labels if label not in given]
    # Weights of absent labels are harmless if every label in y has a weight.
    if strange and bare:
        raise InputError(f"{what} has weights for {strange}, which do not occur in y, but not for {bare}, which do")
