"""What estimators of objectives that are not convex share."""

import warnings
from typing import Any

from attrs import evolve, fields_dict, has
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from structsvm.exceptions import InputError, stacklevel_of_user
from structsvm.problem import Problem
from structsvm.problem.concave import Subtracted
from structsvm.registry import solvers
from structsvm.result import Result
from structsvm.settings import place, require_integer
from structsvm.solvers.convex_concave import Descent, descend
from structsvm.solvers.run import Callback


def descended(
    estimator: BaseEstimator,
    problem: Problem,
    subtracted: Subtracted,
    start: Result | None,
    callback: Callback | None,
) -> Descent:
    """Descend with the ``solver``, ``tol`` and ``max_rounds`` of an estimator; warn where the end is not stationary.

    Raises
    ------
    InputError : when a parameter cannot be used, or the solver has no tol.
    """
    require_integer(place(estimator, "max_rounds"), estimator.max_rounds, 1)
    solver: Any = solvers.create(estimator.solver)
    if not has(type(solver)) or "tol" not in fields_dict(type(solver)):
        raise InputError(f"the solver {type(solver).__name__} has no setting tol, which says when a descent ends")
    if estimator.tol is not None:
        solver = evolve(solver, tol=estimator.tol)
    found = descend(problem, subtracted, solver, start, callback, estimator.max_rounds)
    if not found.stationary:
        gap = f", whose gap is {found.rounds[-1].gap / problem.C:.2g} * C" if found.rounds else ""
        warnings.warn(
            f"the descent ended after {len(found.rounds)} rounds{gap}, before its weights were proved stationary "
            f"within {2 * solver.tol:.2g} * C: a larger max_rounds, or a larger tol, may help. The last one: "
            f"{found.result.message}",
            ConvergenceWarning,
            stacklevel=stacklevel_of_user(),
        )
    return found
