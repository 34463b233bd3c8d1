"""Fits of objectives that are not convex, by the convex-concave procedure."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from structsvm.exceptions import InputError
from structsvm.foundation.storage.archives import finite_numbers
from structsvm.problem.concave import Subtracted
from structsvm.result import Result
from structsvm.solvers.convex_concave import Round, descend
from structsvm.solvers.state import Callback
from structsvm.training.objective import Fit, Objective, warn_of_convergence

DESCENT_FACTS: Mapping[str, Any] = {"objective_": float, "stationary_": bool}
"""Facts of a descent that files store beside its rounds."""


def fit_descent(
    objective: Objective,
    subtracted: Subtracted,
    *,
    start: Result | None,
    callback: Callback | None,
    max_iter: int | None,
) -> Fit:
    """Descend from a convex objective minus ``subtracted``; warn if the end is not proved stationary."""
    solver: Any = objective.solver
    if not hasattr(solver, "tol"):
        raise InputError(f"the solver {type(solver).__name__} has no setting tol, so a descent with it would not end")
    problem: Any = objective.problem
    descent = descend(problem, subtracted, solver, start, callback, 100 if max_iter is None else max_iter)
    if not descent.stationary:
        gap = f", whose gap is {descent.rounds[-1].gap / problem.C:.2g} * C" if descent.rounds else ""
        warn_of_convergence(
            f"the descent stopped after {len(descent.rounds)} rounds{gap}. Its weights are not proved stationary "
            f"within {2 * descent.result.tol:.2g} * C; a larger max_iter or a larger tol may help. The last round: "
            f"{descent.result.message}"
        )
    facts = {**objective.facts, "objective_": descent.objective, "stationary_": descent.stationary}
    rounds = [(one.objective, one.lower, one.primal) for one in descent.rounds]
    arrays = {"rounds": np.array(rounds, dtype=np.float64).reshape(-1, 3)}
    return Fit(objective, descent.result, facts, arrays)


def rounds_of(arrays: Mapping[str, Any]) -> tuple[Round, ...]:
    """Return the rounds of a descent from the arrays of its training."""
    return tuple(Round(*map(float, one)) for one in finite_numbers(arrays, "rounds", (None, 3)))
