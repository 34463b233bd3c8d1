"""Solvers with one fault each: the check must find and locate it. Solvers of the package pass."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import evolve, frozen

from structsvm.problem import Problem
from structsvm.result import Result, Status
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack, Solver, SolverState
from structsvm.solvers.state import Callback
from structsvm.testing import check_solver
from tests.slow import slow

Spoil = Callable[[Result, Problem], Any]


@pytest.mark.parametrize(
    "solver",
    [
        *(OneSlack(), FrankWolfe(), Auto()),
        *slow(OneSlack(line_search=False), NSlack(batch=3)),
    ],
    ids=repr,
)
def test_solvers_of_the_package_pass(solver: Solver) -> None:
    check_solver(solver, random_state=1)


@frozen(kw_only=True)
class Faulty(Solver):
    """1-slack with a spoilt result."""

    name = "faulty"
    spoil: Spoil
    tol: float = 1e-3

    def solve(self, problem: Problem, start: Result | None = None, callback: Callback | None = None) -> Any:
        result = OneSlack(tol=self.tol).solve(problem, start, callback)
        return self.spoil(result, problem)


def cuts(result: Result, **changes: Any) -> Result:
    return evolve(result, cuts=evolve(result.cuts, **changes))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda result, problem: result.w, "from nothing: expected a Result, got ndarray"),
        (lambda result, problem: evolve(result, w=result.w[:-1]), r"expected weights of shape \(4,\), got \(3,\)"),
        (
            lambda result, problem: evolve(result, w=1.1 * result.w),
            "expected the objective at w, 0.06.*, got primal=0.06",
        ),
        (
            lambda result, problem: evolve(result, dual=1.2 * result.primal),
            "expected a lower bound of the optimum, which",
        ),
        (lambda result, problem: evolve(result, C=1.0), "expected C=0.1, got 1.0"),
        (lambda result, problem: evolve(result, tol=1.0), "expected tol=0.001, got 1.0"),
        (lambda result, problem: evolve(result, dual=0.0), r"expected a gap of at most tol \* C, got 0.6.* \* C"),
        (lambda result, problem: evolve(result, history=result.history[1:]), "expected steps 0, 1, ... in the history"),
        (
            lambda result, problem: evolve(
                result, history=(*result.history, evolve(result.history[0], iteration=len(result.history)))
            ),
            "expected bounds that only close in",
        ),
        (lambda result, problem: cuts(result, groups=3), "expected cuts of 1 group or 8, got groups=3"),
        (lambda result, problem: cuts(result, a=1.1 * result.cuts.a), "not negative and within the caps"),
        (lambda result, problem: cuts(result, a=-result.cuts.a), "not negative and within the caps"),
        (
            lambda result, problem: cuts(result, L=result.cuts.L + 0.01),
            "expected cuts that hold at w = .*, got one violated by 0.0",
        ),
        (
            lambda result, problem: evolve(result, status=Status.CONVERGED),
            "Status.STOPPED when the callback ends the run",
        ),
    ],
)
def test_finds_the_fault(spoil: Spoil, message: str) -> None:
    with pytest.raises(AssertionError, match=message) as caught:
        check_solver(Faulty(spoil=spoil))
    assert " on AveragePrecision, C=0.1" in str(caught.value)


@frozen(kw_only=True)
class Wrapped(Solver):
    """1-slack that is called in a wrong way."""

    name = "wrapped"
    tol: float = 1e-3

    def solve(self, problem: Problem, start: Result | None = None, callback: Callback | None = None) -> Result:
        return OneSlack(tol=self.tol).solve(problem, start, callback)


class Deaf(Wrapped):
    def solve(self, problem: Problem, start: Result | None = None, callback: Callback | None = None) -> Result:
        return super().solve(problem, start)


class Uninterruptible(Wrapped):
    def solve(self, problem: Problem, start: Result | None = None, callback: Callback | None = None) -> Result:
        def show(step: Any) -> Any:
            try:
                return callback and callback(step)
            except KeyboardInterrupt:
                raise KeyboardInterrupt from None

        result = super().solve(problem, start, show)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return result


class Forgetful(Wrapped):
    def solve(self, problem: Problem, start: Result | None = None, callback: Callback | None = None) -> Result:
        if start is None:
            return super().solve(problem, None, callback)
        return OneSlack(tol=self.tol, max_iter=1).solve(problem, None, callback)


class Trusting(Wrapped):
    """Takes the cuts of any data for its own."""

    def solve(self, problem: Problem, start: Result | None = None, callback: Callback | None = None) -> Result:
        if start is not None and start.cuts.groups == 1:
            own = OneSlack(max_iter=1).solve(problem)
            start = evolve(start, fingerprint=own.fingerprint)
        return super().solve(problem, start, callback)


class Moody(Wrapped):
    def solve(self, problem: Problem, start: Result | None = None, callback: Callback | None = None) -> Result:
        result = super().solve(problem, start, callback)
        moods.append(1e-9)
        return evolve(result, w=result.w * (1.0 + 1e-10 * len(moods)))


moods: list[float] = []


class TooHigh(Wrapped):
    def solve(self, problem: Problem, start: Result | None = None, callback: Callback | None = None) -> Result:
        state = SolverState(problem, self.tol, start, callback)
        state.record(1e3, 0, 0)
        raise AssertionError("not reached")


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        (Deaf(), "expected a callback that gets every step of the history, got 0"),
        (
            Uninterruptible(),
            "Status.INTERRUPTED when the callback ends the run, got a KeyboardInterrupt that leaves solve",
        ),
        (Forgetful(), "from a result of one-slack: expected primal=.* or lower, got "),
        (Trusting(), "from a result of other data: expected a lower bound"),
        (Moody(), "expected the same weights when solved twice"),
        (TooHigh(), "expected a lower bound, got one above the upper bound. The losses of this check are exact"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_finds_what_is_called_in_a_wrong_way(solver: Solver, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_solver(solver)


class Bare(Solver):
    name = "bare"

    def solve(self, problem: Problem, start: Result | None = None, callback: Callback | None = None) -> Result:
        return OneSlack().solve(problem, start, callback)


def test_a_solver_without_tol_is_told_to_have_one() -> None:
    with pytest.raises(AssertionError, match="Bare has no field tol: a solver is an attrs class"):
        check_solver(Bare())


@frozen(kw_only=True)
class Lazy(Solver):
    """Returns the start."""

    name = "lazy"
    tol: float = 1e-3

    def solve(self, problem: Problem, start: Result | None = None, callback: Callback | None = None) -> Result:
        state = SolverState(problem, self.tol, start, callback)
        none = OneSlack(max_iter=1).solve(problem, start).cuts
        empty = evolve(none, a=np.zeros(len(none)))
        try:
            return state.result(state.record(0.0, 0, 0) or Status.ITERATION_LIMIT, self, empty)
        except KeyboardInterrupt:
            return state.result(Status.INTERRUPTED, self, empty)


def test_a_solver_that_never_converges_fails() -> None:
    with pytest.raises(
        AssertionError, match=r"did not converge on any of 6 small problems: expected .*, got .* \* C at the least"
    ):
        check_solver(Lazy())
