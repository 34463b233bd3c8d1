"""Minimise the objective of an estimator, and say when that did not converge, or taught nothing."""

import warnings
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, fields_dict, frozen, has
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from structsvm.arrays import require_real
from structsvm.exceptions import InputError, ZeroWeightsWarning
from structsvm.losses import AveragePrecision, Loss, ScoreLoss
from structsvm.problem import Problem
from structsvm.registry import losses, solvers
from structsvm.result import Result, Status
from structsvm.solvers import Solver
from structsvm.solvers.run import Callback
from structsvm.types import IntVector

_EXACT = 1e-9
AnyLoss: TypeAlias = ScoreLoss[Any] | Loss[Any, Any]


@frozen(eq=False)
class Objective:
    """A problem, how it is solved, and what warnings say of it.

    Parameters
    ----------
    problem : the problem.
    solver : name or object.
    tol : replaces that of the solver; None leaves it.
    loss : the loss of the problem as it was given, by name or as an object.
    ranks : whether outputs are rankings.
    other_losses : whether the user may choose another loss, which a warning then suggests.
    n_features : number of features, where there is a weight for each; None: weights are of something else.
    columns : the columns of the features that the problem is of; None: all.
    """

    problem: Problem
    solver: str | Solver
    tol: float | None
    loss: str | AnyLoss
    ranks: bool = False
    other_losses: bool = True
    n_features: int | None = None
    columns: IntVector | None = None

    def minimise(self, start: Result | None, callback: Callback | None, *, stacklevel: int = 3) -> Result:
        """Solve the problem, and warn where the gap that was asked for is not reached, or all weights are 0.

        Parameters
        ----------
        start : an earlier result to go on from.
        callback : is shown every step.
        stacklevel : of the warnings; 3 is the caller of the caller.
        """
        solver = solvers.create(self.solver)
        if self.tol is not None:
            if not has(type(solver)) or "tol" not in fields_dict(type(solver)):
                raise InputError(f"the solver {type(solver).__name__} has no setting tol: leave tol=None")
            solver = evolve(solver, tol=self.tol)
        if start is not None and not start.is_of(self.columns):
            start = None if self.n_features is None else start.of_columns(self.columns, self.n_features)
        result: Result = solver.solve(self.problem, start=start, callback=callback)
        if self.columns is not None:
            result = evolve(result, columns=self.columns)
        if result.solver.partition("(")[0] == type(solver).__name__:
            result = evolve(result, solver_name=solver.name)  # some solvers return their settings alone
        if not result.converged:
            within = "is within" if result.exact else "is estimated to be within"
            warnings.warn(
                f"{result.message}; P(w) {within} {result.gap / result.C:.2g} * C of the optimum, "
                f"and {result.tol:.2g} * C was asked for",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )
        elif not result.w.any():
            said = zero_weights(result, self.loss, ranks=self.ranks, other_losses=self.other_losses)
            warnings.warn(said, ZeroWeightsWarning, stacklevel=stacklevel)
        return result

    def path(self, Cs: Iterable[float], callback: Callback | None) -> dict[float, Result]:
        """Solve the problem at several values of C in ascending order, each from the result of the one before.

        Parameters
        ----------
        Cs : the values, in any order.
        callback : is shown every step.

        Returns
        -------
        The result of each value; after Ctrl-C, or when the callback stops, of those that were reached.
        """
        results: dict[float, Result] = {}
        problem, result = self.problem, None
        try:
            for C in sorted(set(Cs)):
                result = evolve(self, problem=problem.with_C(C)).minimise(result, callback, stacklevel=4)
                results[C] = result
                if result.status in (Status.INTERRUPTED, Status.STOPPED):
                    break
                problem = evolve(problem, known_fingerprint=result.fingerprint)  # of the same data for the next C
        except KeyboardInterrupt:  # in a first iteration, or between two values: there is nothing of the next C
            if not results:
                raise
        return results


def checked_Cs(Cs: ArrayLike) -> list[float]:
    """Return the values of C of a path.

    Raises
    ------
    InputError : when they are not a vector of positive finite numbers, at least one.
    """
    require_real(Cs, "Cs")
    try:
        values = np.asarray(Cs, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        values = np.zeros(0)
    if values.ndim != 1 or len(values) == 0 or not ((values > 0.0) & np.isfinite(values)).all():
        raise InputError(f"Cs must be a vector of positive numbers, got {Cs!r}")
    checked: list[float] = values.tolist()
    return checked


def zero_weights(result: Result, loss: str | AnyLoss, *, ranks: bool, other_losses: bool = True) -> str:
    """Say what it means that the optimum is w = 0, and what may help.

    Parameters
    ----------
    result : its gap says whether w = 0 is the optimum to rounding, or near it.
    loss : the loss that was optimised, by name or as an object.
    ranks : whether outputs are rankings.
    other_losses : whether the user may choose another loss.
    """
    made, ways = losses.create(loss), ["a larger C"]
    name = loss if isinstance(loss, str) else type(loss).__name__
    found = f"The hinge of {name} cannot be lowered on these data at this C"
    if result.gap > _EXACT * result.C:
        ways.append("a smaller tol")
        found = f"No weights lower the objective of {name} on these data by more than {result.gap / result.C:.2g} * C"
    if getattr(made, "k", None) is not None:
        ways.append("a loss without cut-off or with a larger one")
    if ranks and other_losses and not isinstance(made, AveragePrecision):
        ways.append("the loss 'map'")
    equal = "all scores are equal" if ranks else "all outputs have the same score"
    return (
        f"the optimum found is w = 0: {equal}. {found}: "
        f"try {' or '.join(filter(None, [', '.join(ways[:-1]), ways[-1]]))}"
    )
