"""Minimise the objective of an estimator, and say when that did not converge, or taught nothing."""

import inspect
import warnings
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, fields_dict, frozen, has
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from structsvm.arrays import require_real
from structsvm.exceptions import InputError, ZeroWeightsWarning, stacklevel_of_user
from structsvm.losses import AveragePrecision, Loss, ScoreLoss
from structsvm.problem import AbstractProblem
from structsvm.registry import losses, solvers
from structsvm.result import Result, Status
from structsvm.solvers import Checkpoint, CheckpointPath, Solver
from structsvm.solvers.state import Callback
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

    problem: AbstractProblem
    solver: str | Solver
    tol: float | None
    loss: str | AnyLoss
    ranks: bool = False
    other_losses: bool = True
    n_features: int | None = None
    columns: IntVector | None = None

    def minimise(
        self,
        start: Result | None,
        callback: Callback | None,
        checkpoint: CheckpointPath | None = None,
    ) -> Result:
        """Solve the problem, and warn where the gap that was asked for is not reached, or all weights are 0.

        Parameters
        ----------
        start : an earlier result to go on from.
        callback : is shown every step.
        checkpoint : keeps the fit, or is what it goes on from; see `Solver.solve`.
        """
        solver = solvers.create(self.solver)
        if self.tol is not None:
            if not has(type(solver)) or "tol" not in fields_dict(type(solver)):
                raise InputError(f"the solver {type(solver).__name__} has no setting tol: leave tol=None")
            solver = evolve(solver, tol=self.tol)
        if start is not None and not start.is_of(self.columns):
            start = None if self.n_features is None else start.of_columns(self.columns, self.n_features)
        kept = {} if checkpoint is None else {"checkpoint": checkpoint}
        if kept and "checkpoint" not in inspect.signature(solver.solve).parameters:
            raise InputError(
                f"the solver {type(solver).__name__} keeps no checkpoints, as its solve has no argument of that name: "
                "leave the checkpoint out, or choose another solver"
            )
        result: Result = solver.solve(self.problem, start=start, callback=callback, **kept)
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
                stacklevel=stacklevel_of_user(),
            )
        elif not result.w.any():
            said = zero_weights(
                result,
                self.loss,
                self.problem.loss,
                ranks=self.ranks,
                other_losses=self.other_losses,
                bounded=self.problem.box is not None,
            )
            warnings.warn(said, ZeroWeightsWarning, stacklevel=stacklevel_of_user())
        return result

    def path(
        self, Cs: Iterable[float], callback: Callback | None, checkpoint: CheckpointPath | None = None
    ) -> dict[float, Result]:
        """Solve the problem at several values of C in ascending order, each from the result of the one before.

        Parameters
        ----------
        Cs : the values, in any order.
        callback : is shown every step.
        checkpoint : keeps the fit at each C in a file of its own (`Checkpoint.at`).

        Returns
        -------
        The result of each value; after Ctrl-C, or when the callback stops, of those that were reached.
        """
        results: dict[float, Result] = {}
        problem: Any = self.problem
        result = None
        try:
            for C in sorted(set(Cs)):
                kept = None if checkpoint is None else Checkpoint.of(checkpoint).at(C)
                result = evolve(self, problem=problem.with_C(C)).minimise(result, callback, kept)
                results[C] = result
                if result.status in (Status.INTERRUPTED, Status.STOPPED):
                    break
                problem = problem.knowing(result.fingerprint)  # of the same data for the next C
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


def zero_weights(
    result: Result,
    loss: str | AnyLoss,
    trained: str | AnyLoss,
    *,
    ranks: bool,
    other_losses: bool = True,
    bounded: bool = False,
) -> str:
    """Say what it means that the optimum is w = 0, and what helps.

    The hinge part of the objective is a convex H(w), so that w = 0 minimises ``½‖w‖² + C H(w)`` for one C only if 0 is
    a subgradient of H there, and then for all C: where the optimum is w = 0 to rounding, no C is of any use. Where that
    is known within a tolerance alone, a smaller one shows whether other weights are better; only then may a larger C
    help. Where a loss looks at the first k documents
    only, they do not, by all that was measured, and full depth and average precision do. Where P(0) is 0, the argmax
    found no loss anywhere, and is to be looked at.

    Parameters
    ----------
    result : its gap says whether w = 0 is the optimum to rounding, or near it.
    loss : the loss as it was given, by name or as an object.
    trained : the loss that was optimised, by name or as an object: what ``loss`` became by the training data.
    ranks : whether outputs are rankings.
    other_losses : whether the user may choose another loss.
    bounded : whether weights have bounds, of which all this is then said.
    """
    name = loss if isinstance(loss, str) else type(loss).__name__
    made: AnyLoss = losses.create(trained)
    if result.primal == 0.0:
        return (
            f"the optimum found is w = 0: for no example did the argmax of {name} find an output with a loss. "
            "If any has one, it is wrong: run structsvm.testing.check_loss on the loss"
        )
    ways, cut_off = [], getattr(made, "k", None) is not None
    if cut_off:
        full = "full depth, without truncated=true"
        ways.append(full if getattr(made, "truncated", False) else "a loss without cut-off")
    if ranks and other_losses and not isinstance(made, AveragePrecision):
        ways.append("the loss 'map'")
    which = "No weights within their bounds" if bounded else "No weights"
    if result.gap <= _EXACT * result.C:
        found = f"{which} have a smaller hinge of {name} on these data, whatever C is"
    else:
        found = (
            f"{which} lower the objective of {name} on these data by more than {result.gap / result.C:.2g} * C, less "
            "than tol * C. The features may separate little, or few examples may count"
        )
        ways += [] if cut_off else ["a smaller tol, which shows whether other weights are better at all"]
    ways += ["other bounds"] if bounded else []
    if made.of_one_sample:
        found += "; it is meant for rows that features tell apart well, all of them in one sample"
    equal = "all scores are equal" if ranks else "all outputs have the same score"
    advice = f"try {' or '.join(filter(None, [', '.join(ways[:-1]), ways[-1]]))}" if ways else "look at the features"
    return f"the optimum found is w = 0: {equal}. {found}: {advice}"
