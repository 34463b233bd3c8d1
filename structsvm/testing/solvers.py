"""Check a solver."""

from collections.abc import Iterator
from contextlib import suppress
from inspect import signature
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from attrs import evolve, frozen, has

from structsvm.exceptions import CheckError, InputError, OracleError
from structsvm.foundation.settings import DEFAULT_TOL, require_integer, require_kind
from structsvm.foundation.types import Vector
from structsvm.losses import AveragePrecision, ScoreLoss, ZeroOne
from structsvm.problem import Problem
from structsvm.problem.codes import cuts_of
from structsvm.result import CutSet, Result, Status, Step
from structsvm.solvers import Checkpoint, NSlack, OneSlack, Solver
from structsvm.solvers.state import Callback

ROUNDING = 1e-8
"""Difference that counts as rounding, relative to the objective."""

_STEPS_OF_THE_FIRST_LIFE = 3


def check_solver(solver: Solver, *, random_state: int = 0) -> None:
    """Check that a solver minimizes problems and that its certificates are true.

    The check uses small problems of rankings and of rows, also weighted, at two values of C, and one with bounds on
    weights, which a solver may reject with an `InputError`. It requires that

    - the upper bound is the objective at the returned weights, recomputed,
    - the lower bound does not exceed the optimum, which `OneSlack` finds to a millionth of C,
    - the returned cuts are valid at any weights, and their multipliers are within the caps,
    - a result with status "converged" has converged, and at least one problem is solved,
    - the history begins at iteration 0, its bounds only improve, and the callback gets each step,
    - a callback that returns True, and Ctrl-C, end the run with the best result so far,
    - a start from a result of this or another solver never ends with a worse one,
    - cuts of other data are not used,
    - if it accepts a checkpoint: killed after two iterations, it resumes to the same certificate,
    - solving twice returns the same weights: the solver has no state.

    Parameters
    ----------
    solver : the solver to check, an attrs class with a field ``tol``.
    random_state : seed of the random problems.

    Raises
    ------
    CheckError : the first mistake found; the message gives the problem, and the expected and the actual value.

    Examples
    --------
    >>> from structsvm.solvers import FrankWolfe
    >>> check_solver(FrankWolfe())
    """
    require_kind("solver", solver, Solver, "a Solver")
    require_integer("random_state", random_state, 0)
    if not (has(type(solver)) and hasattr(solver, "tol")):
        raise CheckError(
            f"{type(solver).__name__} has no field tol: a solver is an attrs class (attrs.frozen) with a field "
            "tol, which estimators and the command line set"
        )
    results = [_Check(solver, *case).run() for case in _cases(random_state) if _takes(solver, case[1])]
    if not any(result.converged for result in results):
        raise CheckError(
            f"{solver!r} did not converge on any of {len(results)} small problems: expected a gap of at most "
            f"tol * C, got {min(result.gap / result.C for result in results):.3g} * C at the least. "
            f"It ended with: {results[0].status.value}."
        )


def _cases(random_state: int) -> Iterator[tuple[str, Problem, Problem]]:
    """Yield problems with their names, and the same problems with the labels of other examples."""
    random = np.random.default_rng(random_state)
    queries, documents, d = 8, 6, 4
    X = random.standard_normal((queries * documents, d))
    qid = np.repeat(np.arange(queries), documents)
    y = np.tile([1.0, 1.0, 0.0, 0.0, 0.0, 0.0], queries)
    weights = np.array([0.5, 3.0, 1.0, 0.0, 2.0, 1.0, 1.0, 1.0])[qid]
    losses: list[tuple[ScoreLoss[Vector] | ScoreLoss[float], Vector | None]] = [
        (AveragePrecision(), None),
        (AveragePrecision(), weights),
        (ZeroOne(), None),
    ]
    for loss, kappa in losses:
        for C in (0.1, 10.0):
            one, other = (
                Problem.from_queries(X, labels, qid, loss=loss, C=C, sample_weight=kappa) for labels in (y, y[::-1])
            )
            yield f"{type(loss).__name__}, C={C:g}{'' if kappa is None else ', weighted'}", one, other
    one, other = (
        Problem.from_queries(X, labels, qid, C=10.0).regularized(bounds=(0.0, None)) for labels in (y, y[::-1])
    )
    yield "AveragePrecision, C=10, weights that are not negative", one, other


def _takes(solver: Solver, problem: Problem) -> bool:
    """Return True unless the solver rejects a problem with bounds."""
    if problem.box is None:
        return True
    try:
        solver.solve(problem, callback=lambda step: True)
    except InputError:
        return False
    return True


class _Killed(Exception):
    """Simulates the end of a process."""


@frozen(eq=False)
class _Check:
    """The checks on one problem, and another of the same size."""

    solver: Solver
    label: str
    problem: Problem
    other: Problem

    def run(self) -> Result:
        seen: list[Step] = []
        result = self._solve("from nothing", self.problem, show=seen.append)
        optimum = OneSlack(tol=1e-6).solve(self.problem)
        self._certified(result, optimum, "from nothing")
        self._require(result.history == tuple(seen), "a callback that gets every step of the history", len(seen))
        again = self._solve("once more", self.problem)
        self._require(np.array_equal(again.w, result.w), "the same weights when solved twice", "others")
        self._ends_early()
        for start in (result, optimum, NSlack(tol=1e-2).solve(self.problem)):
            place = f"from a result of {start.solver_name}"
            warm = self._solve(place, self.problem, start)
            self._certified(warm, optimum, place)
            slack = ROUNDING * (1.0 + start.primal)
            worse = warm.primal > start.primal + slack
            self._require(not worse, f"primal={start.primal:.9g} or lower", f"{warm.primal:.9g}", place)
        self._goes_on(optimum)
        place = "from a result of other data"
        foreign = self._solve(place, self.other, optimum)
        self._certified(foreign, OneSlack(tol=1e-6).solve(self.other), place, self.other)
        return result

    def _solve(self, place: str, problem: Problem, start: Result | None = None, show: Callback | None = None) -> Result:
        try:
            return self.solver.solve(problem, start=start, callback=show)
        except OracleError as error:
            raise CheckError(
                f"{self.solver!r} on {self.label}, {place}: expected a lower bound, got one above the upper bound. The "
                f"losses of this check are exact, so the solver computed a wrong bound. {error}"
            ) from error

    def _ends_early(self) -> None:
        def interrupt(step: Step) -> None:
            raise KeyboardInterrupt

        ends = {Status.STOPPED: lambda step: True, Status.INTERRUPTED: interrupt}
        settings: Any = self.solver
        for status, callback in ends.items():
            try:
                status_reached = evolve(settings, tol=1e-12).solve(self.problem, callback=callback).status
            except KeyboardInterrupt:
                status_reached = None
            got = "a KeyboardInterrupt that leaves solve" if status_reached is None else status_reached
            self._require(status_reached is status, f"{status} when the callback ends the run", got)

    def _goes_on(self, optimum: Result) -> None:
        """Kill the solver and resume from its checkpoint, if it accepts one."""
        if "checkpoint" not in signature(self.solver.solve).parameters:
            return
        seen: list[Step] = []

        def kill(step: Step) -> None:
            seen.append(step)
            if len(seen) == _STEPS_OF_THE_FIRST_LIFE:
                raise _Killed

        with TemporaryDirectory() as folder:
            checkpoint = Checkpoint(Path(folder) / "fit.npz", every=0.0)
            with suppress(_Killed):
                self.solver.solve(self.problem, callback=kill, checkpoint=checkpoint)
            result = self.solver.solve(self.problem, checkpoint=checkpoint)
        place = "killed, from its checkpoint"
        self._certified(result, optimum, place)
        goes_on = result.history[: len(seen)] == tuple(seen)
        self._require(goes_on, "a history that begins with the steps before", result.history[: len(seen)], place)

    def _certified(self, result: Result, optimum: Result, place: str, problem: Problem | None = None) -> None:
        problem = problem or self.problem

        def require(truth: bool, expected: str, got: object) -> None:
            self._require(truth, expected, got, place)

        require(isinstance(result, Result), "a Result", type(result).__name__)
        require(result.w.shape == (problem.d,), f"weights of shape ({problem.d},)", result.w.shape)
        point = problem.at(result.w)
        primal = problem.primal(problem.planes(point), point)
        rounding = ROUNDING * (1.0 + abs(primal))
        require(abs(result.primal - primal) <= rounding, f"the objective at w, {primal:.9g}", f"primal={result.primal}")
        require(
            result.dual <= optimum.primal + rounding,
            f"a lower bound of the optimum, which is at most {optimum.primal:.9g}",
            f"dual={result.dual:.9g}",
        )
        require(result.C == problem.C, f"C={problem.C}", result.C)
        tol = DEFAULT_TOL if self.solver.tol is None else self.solver.tol  # type: ignore[attr-defined]
        require(result.tol == tol, f"tol={tol}", result.tol)
        claimed = result.status is Status.CONVERGED
        require(result.converged or not claimed, "a gap of at most tol * C", f"{result.gap / result.C:.3g} * C")
        rows = result.history
        require([row.iteration for row in rows] == list(range(len(rows))), "steps 0, 1, ... in the history", rows)
        # The best point is scored again at the end, which may round its primal up.
        closing = all(
            b.primal <= a.primal + ROUNDING * abs(a.primal) and b.dual >= a.dual - ROUNDING * abs(a.primal)
            for a, b in pairwise(rows)
        )
        require(closing, "bounds that only close in", "a step back in the history")
        self._cuts(result.cuts, result, problem, place)

        if result.cuts.codes is not None:
            self._cuts(cuts_of(problem, result.cuts.codes), result, problem, place)

    def _cuts(self, cuts: CutSet, result: Result, problem: Problem, place: str) -> None:
        grouped = cuts.groups == problem.n and problem.n > 1
        cap = problem.cap if grouped else np.array([problem.cap.sum()])
        self._require(cuts.groups == len(cap), f"cuts of 1 group or {problem.n}", f"groups={cuts.groups}", place)
        total = np.bincount(cuts.group, weights=cuts.a, minlength=len(cap))
        feasible = bool((cuts.a >= 0.0).all() and (total <= cap * (1.0 + 1e-9)).all())
        self._require(feasible, "multipliers of the cuts that are not negative and within the caps", cuts.a, place)
        for w in [result.w, *_some_weights(problem.d)]:
            point = problem.at(w)
            hinges = np.maximum(problem.violation(problem.planes(point), point), 0.0)
            bound = hinges if grouped else np.array([problem.cap @ hinges / problem.cap.sum()])
            values = cuts.L - cuts.G @ point.w
            excess = float((values - bound[cuts.group]).max(initial=0.0))
            true = excess <= ROUNDING * (1.0 + np.abs(point.scores).max())
            self._require(true, f"cuts that hold at w = {w.round(3)}", f"one violated by {excess:.3g}", place)

    def _require(self, truth: bool, expected: str, got: object, place: str = "") -> None:
        if not truth:
            where = f"{self.label}, {place}" if place else self.label
            raise CheckError(f"{self.solver!r} on {where}: expected {expected}, got {got}.")


def _some_weights(d: int) -> Iterator[Vector]:
    random = np.random.default_rng(0)
    for size in (0.0, 0.1, 1.0, 3.0):
        yield size * random.standard_normal(d)
