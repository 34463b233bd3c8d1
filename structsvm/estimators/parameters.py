"""Validate parameters of estimators before training."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import evolve, fields_dict, has
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from structsvm.estimators.written_settings import require_object
from structsvm.exceptions import InputError, brief
from structsvm.foundation.compute.threads import require_jobs
from structsvm.foundation.settings import RANKING_TOL, place, require_integer, require_number, require_switch
from structsvm.metrics import Measure
from structsvm.registry import measures, solvers
from structsvm.solvers import Solver
from structsvm.training.ranking import RankingSpec, ranking_loss
from structsvm.training.regularizer import Regularizer

LIMITS = ("tol", "max_iter")
"""Parameters of estimators that replace settings of their solver; None keeps the solver's."""


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
    created: Any = solvers.create(estimator.solver) if solver is None else solver
    kind = type(created)
    settings = {name: getattr(estimator, name) for name in limits if getattr(estimator, name) is not None}
    if tol is not None and getattr(created, "tol", tol) is None:
        settings.setdefault("tol", tol)
    for name in settings:
        if not has(kind) or name not in fields_dict(kind):
            raise InputError(f"the solver {kind.__name__} has no setting {name}: leave {name}=None")
    limited: Solver = evolve(created, **settings) if settings else created
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


def measure_of(estimator: BaseEstimator) -> Measure:
    """Return the measure that a ranker reports."""
    measure: Measure = measures.create("map" if estimator.measure is None else estimator.measure)
    return measure


def intercept_of(estimator: BaseEstimator) -> float:
    """Return the value of the constant feature of an estimator; 0 without an intercept."""
    return float(estimator.intercept_scaling) if estimator.fit_intercept else 0.0


def ranking_spec(
    estimator: BaseEstimator, *, limits: Sequence[str] = LIMITS, tol: float | None = RANKING_TOL
) -> RankingSpec:
    """Return the checked settings of `Ranker` and `RampRanker`; ``limits`` and ``tol`` are as in `solver_of`."""
    require_settings(estimator)
    measure_of(estimator)
    owner = type(estimator).__name__
    return RankingSpec(
        owner=owner,
        named_loss=estimator.loss,
        loss=ranking_loss(owner, estimator.loss),
        C=estimator.C,
        solver=solver_of(estimator, limits=limits, tol=tol),
        regularizer=Regularizer.of(estimator),
        normalize=estimator.normalize,
        missing=estimator.missing,
        intercept=intercept_of(estimator),
        class_weight=estimator.class_weight,
        n_jobs=estimator.n_jobs,
    )
