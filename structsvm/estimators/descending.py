"""What estimators of objectives that are not convex share."""

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from attrs import evolve, fields_dict, has
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from structsvm.estimators.model_file import SavedEstimator
from structsvm.exceptions import InputError, stacklevel_of_user
from structsvm.problem import Problem
from structsvm.problem.concave import Subtracted
from structsvm.registry import solvers
from structsvm.result import Result
from structsvm.settings import place, require_integer
from structsvm.solvers.convex_concave import Descent, Round, descend
from structsvm.solvers.state import Callback
from structsvm.storage.archives import finite_numbers, require_names, require_numbers, shape


class SavedDescent(SavedEstimator):
    """An estimator whose fit is a `Descent`, with its certificate in its file.

    Derive from it and name ``objective_`` and ``stationary_`` in ``_kept``.

    Attributes
    ----------
    objective_, rounds_, stationary_ : those of the descent; none where the file is older than that.
    """

    _more_settings = ("max_rounds",)

    objective_: float
    rounds_: tuple[Round, ...]
    stationary_: bool

    def arrays(self) -> dict[str, Any]:
        if not hasattr(self, "rounds_"):
            return super().arrays()
        rounds = [(one.objective, one.lower, one.primal) for one in self.rounds_]
        return super().arrays() | {"rounds": np.array(rounds, dtype=np.float64).reshape(-1, 3)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        estimator = super().from_arrays(arrays)
        known = [name for name in ("objective_", "stationary_") if hasattr(estimator, name)]
        if known or "rounds" in arrays:
            require_names("what was fitted", known, known, ("objective_", "stationary_"))
            require_numbers(arrays, "rounds", (shape(arrays, "rounds")[0], 3))
            estimator.rounds_ = tuple(Round(*map(float, one)) for one in finite_numbers(arrays, "rounds"))
        return estimator

    def _take_descent(self, descent: Descent) -> None:
        self._take(descent.result)
        self.objective_, self.rounds_, self.stationary_ = descent.objective, descent.rounds, descent.stationary


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
