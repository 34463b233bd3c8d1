"""Every way for a solver to end: interrupted, stopped, out of iterations, stalled, refused."""

import sys
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

from structsvm.exceptions import InputError, OracleError
from structsvm.problem import Problem
from structsvm.registry import solvers
from structsvm.result import Result, Status, Step
from structsvm.solvers import FrankWolfe, NSlack, OneSlack
from structsvm.solvers.qp import ActiveSet
from structsvm.solvers.working_set import WorkingSet
from tests.small_problems import PlainROCArea, ranking, small_problem, solved
from tests.solvers.test_optimum import assert_certified, assert_dual_point


class Interrupter:
    """Raises KeyboardInterrupt at the k-th call."""

    def __init__(self, k: int) -> None:
        self.left = k

    def __call__(self, *_: Any) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("k", [1, 2])
def test_ctrl_c_in_a_callback_returns_the_best_so_far(k: int, solver_name: str) -> None:
    problem, every, optimum = solved("map", 0, 100.0)
    result = solvers.create(solver_name, tol=1e-9).solve(problem, callback=Interrupter(k))
    assert result.status is Status.INTERRUPTED
    assert not result.converged
    assert len(result.history) in (k, k + 1)  # Frank-Wolfe may have had a last look
    assert_certified(result, every, optimum)
    assert_dual_point(result, problem.cap)


class Interruptible(PlainROCArea):
    check_before_fit = False

    def __init__(self, k: int) -> None:
        self.interrupt = Interrupter(k)

    def loss(self, y: Any, y_hat: Any) -> float:
        self.interrupt()
        return super().loss(y, y_hat)


@pytest.mark.parametrize("k", [11, 23, 28])
def test_ctrl_c_in_a_loss_returns_the_best_so_far(k: int, solver_name: str) -> None:
    problem, every, optimum = solved("roc_area", 0, 100.0)
    result = solvers.create(solver_name, tol=1e-9).solve(ranking(Interruptible(k), 0, C=100.0))
    assert result.status is Status.INTERRUPTED
    assert_certified(result, every, optimum)
    assert_dual_point(result, problem.cap)


def test_ctrl_c_before_there_is_any_result(solver_name: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        solvers.create(solver_name).solve(ranking(Interruptible(2), 0))


@pytest.mark.parametrize("line", range(5, 370, 13))
def test_ctrl_c_anywhere_in_the_working_set_leaves_whole_cuts(line: int, cutting_plane: str) -> None:
    """Interrupted before the n-th line that runs in the working set, the cuts are still true and feasible."""
    problem, every, _ = solved("map", 1, 100.0)
    textbook = {"line_search": False} if cutting_plane == "one-slack" else {}
    solver = solvers.create(cutting_plane, tol=1e-7, max_cuts=4, max_idle=1, **textbook)
    codes = {f.__code__ for f in vars(WorkingSet).values() if hasattr(f, "__code__")} - {WorkingSet.cuts.__code__}
    result = solve_interrupted(solver, problem, line, codes)
    assert result.status is Status.INTERRUPTED
    assert result.dual <= result.primal
    cuts = result.cuts
    total = np.bincount(cuts.group, weights=cuts.a, minlength=cuts.groups)
    assert (total <= (problem.cap if cuts.groups > 1 else problem.cap.sum()) * (1 + 1e-9)).all()
    for w in np.random.default_rng(0).standard_normal((5, problem.d)):
        hinges = every.hinges(w) if cuts.groups > 1 else np.array([np.average(every.hinges(w), weights=every.cap)])
        assert (cuts.L - cuts.G @ w <= hinges[cuts.group] + 1e-9).all()


def solve_interrupted(solver: Any, problem: Problem, line: int, codes: set[CodeType]) -> Result:
    """Solve with Ctrl-C before the n-th line that runs in these functions after the first step."""
    interrupt = Interrupter(line)

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if interrupt.left <= 0 or frame.f_code not in codes:
            return None
        if event == "line":
            interrupt()
        return trace

    def begin(step: Step) -> None:
        if step.iteration == 0:
            sys.settrace(trace)

    before = sys.gettrace()
    try:
        result: Result = solver.solve(problem, callback=begin)
        return result
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("k", [1, 2])
def test_a_callback_stops_by_returning_true(k: int, solver_name: str) -> None:
    seen: list[Step] = []

    def callback(step: Step) -> bool:
        seen.append(step)
        return len(seen) == k

    result = solvers.create(solver_name, tol=1e-9).solve(small_problem("map", C=100.0), callback=callback)
    assert result.status is Status.STOPPED
    assert result.history[:k] == tuple(seen)
    assert [step.iteration for step in seen] == list(range(k))


def test_a_callback_is_shown_every_step(solver_name: str) -> None:
    seen: list[Step] = []
    result = solvers.create(solver_name).solve(small_problem("map", C=100.0), callback=seen.append)
    assert result.history == tuple(seen)
    last = seen[-1]
    assert last.gap == last.primal - last.dual <= result.tol * result.C
    assert 0 < last.active_cuts <= last.cuts
    assert 0 < last.oracle_seconds + last.solver_seconds <= last.seconds
    expected = {
        # The best point is scored again, because it was found on a line.
        "one-slack": 0.5 * (last.iteration + last.cuts + 1),
        "n-slack": 1.5 * last.iteration,
        "frank-wolfe": last.passes,
    }
    assert last.passes == pytest.approx(expected[solver_name], rel=1e-12)
    assert last.passes > 0


@pytest.mark.parametrize("max_iter", [1, 2])
def test_the_limit_of_iterations(max_iter: int, solver_name: str) -> None:
    result = solvers.create(solver_name, tol=1e-9, max_iter=max_iter).solve(small_problem("map", C=100.0))
    assert result.status is Status.ITERATION_LIMIT
    assert len(result.history) == max_iter + 1


def test_a_tol_below_rounding_ends_as_stalled(solver_name: str) -> None:
    problem, every, optimum = solved("map", 0, 100.0)
    result = solvers.create(solver_name, tol=1e-18).solve(problem)
    assert result.status in (Status.STALLED, Status.CONVERGED)
    assert result.gap <= 1e-10 * result.primal
    assert len(result.history) < 1000
    assert_certified(result, every, optimum)


class OffByOne(PlainROCArea):
    """Swaps the right pairs but for the last document."""

    check_before_fit = False

    def loss_augmented_argmax(self, scores: Any, y: Any) -> Any:
        result = super().loss_augmented_argmax(scores, y).copy()
        result[-1] = scores[-1]
        return result


@pytest.mark.parametrize("seed", [6, 7, 14, 22])
def test_n_slack_names_the_example_of_a_wrong_argmax(seed: int) -> None:
    with pytest.raises(OracleError, match=r"OffByOne.* wrong output for example \d: .*check_loss"):
        NSlack(tol=1e-6).solve(ranking(OffByOne(), seed, C=100.0))


class Forgetful(PlainROCArea):
    """Finds the argmax at first and returns the truth later: lower bounds rise above upper ones."""

    check_before_fit = False

    def __init__(self, good: int) -> None:
        self.good = good

    def loss_augmented_argmax(self, scores: Any, y: Any) -> Any:
        self.good -= 1
        return super().loss_augmented_argmax(scores, y) if self.good > 0 else y


def test_n_slack_names_the_example_whose_earlier_output_was_better() -> None:
    with pytest.raises(
        OracleError,
        match=r"Forgetful.loss_augmented_argmax returned a wrong output for example 2.* has a larger Δ \+ w·Ψ",
    ):
        NSlack(tol=1e-6).solve(ranking(Forgetful(13), 0, C=1.0))


def test_one_slack_sees_a_lower_bound_above_the_upper_one() -> None:
    with pytest.raises(OracleError, match=r"Forgetful.loss_augmented_argmax misses .*check_loss"):
        OneSlack(tol=1e-6).solve(ranking(Forgetful(11), 0, C=1.0))


def test_no_more_examples_than_n_slack_can_hold() -> None:
    problem = Problem.from_queries(np.ones((30_001, 1)), np.ones(30_001), loss="zero_one")
    with pytest.raises(InputError, match="120004 cuts, .* 107 GiB.* use OneSlack or FrankWolfe"):
        NSlack().solve(problem)


class Counting(ActiveSet):
    def solve(self, qp: Any, start: Any = None) -> Any:
        result = super().solve(qp, start)
        return type(result)(result.a, result.gap, handed_over=True, state=result.state)


def test_handovers_are_counted(cutting_plane: str) -> None:
    result = solvers.create(cutting_plane, backend=Counting()).solve(small_problem("map", C=10.0))
    assert result.handovers >= len(result.history) - 1 > 0
    assert solvers.create(cutting_plane).solve(small_problem("map", C=10.0)).handovers == 0


def test_a_run_that_ends_early_returns_the_weights_that_it_had_come_to() -> None:
    problem = small_problem("map", C=1000.0)
    for result in (
        FrankWolfe(max_iter=3, tol=1e-12).solve(problem),
        FrankWolfe(tol=1e-12).solve(problem, callback=lambda step: step.iteration == 3),
    ):
        assert not result.converged
        assert result.w.any()
        assert result.primal < problem.primal(problem.planes(problem.origin()), problem.origin())


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_that_are_not_finite_are_refused(value: float, solver_name: str) -> None:
    rng = np.random.default_rng(0)
    X, y, qid = rng.standard_normal((60, 3)), np.tile([1.0, 0.0, 0.0], 20), np.repeat(np.arange(20), 3)
    X[7, 1] = value
    with pytest.raises(InputError, match="features that are NaN, infinite or too large"):
        solvers.create(solver_name).solve(Problem.from_queries(X, y, qid))
