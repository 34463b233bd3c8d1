"""Base of the estimators whose objective is not convex."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from structsvm.estimators.parameters import solver_of
from structsvm.estimators.trained import CertifiedEstimator
from structsvm.exceptions import InputError, stacklevel_of_user
from structsvm.foundation.storage.archives import finite_numbers
from structsvm.foundation.types import Vector
from structsvm.problem import Problem
from structsvm.problem.concave import Subtracted
from structsvm.result import Result
from structsvm.solvers.convex_concave import Descent, Round, descend
from structsvm.solvers.state import Callback


class DescentEstimator(CertifiedEstimator):
    """An estimator whose fit is a `Descent`; subclasses keep `KEPT` in ``_kept``, and save `_remember` as "rounds"."""

    objective_: float
    rounds_: tuple[Round, ...]
    stationary_: bool

    def _remember(self, descent: Descent) -> Vector:
        """Set the attributes of the descent; return its rounds as an array, shape (rounds, 3)."""
        self.objective_, self.rounds_, self.stationary_ = descent.objective, descent.rounds, descent.stationary
        rounds = [(one.objective, one.lower, one.primal) for one in descent.rounds]
        return np.array(rounds, dtype=np.float64).reshape(-1, 3)

    def _restore(self) -> None:
        super()._restore()
        rounds = finite_numbers(self.model_.training.arrays, "rounds", (None, 3))
        self.rounds_ = tuple(Round(*map(float, one)) for one in rounds)


KEPT: Mapping[str, Any] = {"objective_": float, "stationary_": bool}
"""Attributes of a descent that files store beside its rounds."""


def descended(
    estimator: BaseEstimator,
    problem: Problem,
    subtracted: Subtracted,
    start: Result | None,
    callback: Callback | None,
) -> Descent:
    """Descend with the ``solver``, ``tol`` and ``max_iter`` of an estimator; warn if the end is not stationary."""
    solver: Any = solver_of(estimator, limits=["tol"])
    if not hasattr(solver, "tol"):
        raise InputError(f"the solver {type(solver).__name__} has no setting tol, so a descent with it would not end")
    limit = 100 if estimator.max_iter is None else estimator.max_iter
    found = descend(problem, subtracted, solver, start, callback, limit)
    if not found.stationary:
        gap = f", whose gap is {found.rounds[-1].gap / problem.C:.2g} * C" if found.rounds else ""
        warnings.warn(
            f"the descent stopped after {len(found.rounds)} rounds{gap}. Its weights are not proved stationary within "
            f"{2 * found.result.tol:.2g} * C; a larger max_iter or a larger tol may help. The last round: "
            f"{found.result.message}",
            ConvergenceWarning,
            stacklevel=stacklevel_of_user(),
        )
    return found
