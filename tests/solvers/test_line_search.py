"""The line search finds the minimum of P on the line, and reports P at the weights returned."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm.problem import Problem
from structsvm.solvers import OneSlack
from structsvm.solvers.line_search import search
from structsvm.solvers.state import SolverState
from tests.small_problems import KINDS, listed, ranking, ranking_arrays, small_problem

each_kind = pytest.mark.parametrize("kind", KINDS)


def primal_at(problem: Problem, w: Any) -> float:
    point = problem.at(w)
    return problem.primal(problem.planes(point), point)


def minimum(f: Callable[[float], float], low: float, high: float) -> float:
    """Minimum of a convex function of a number, by a scan of the range and two scans beside the least value."""
    for _ in range(3):
        grid = np.linspace(low, high, 41)
        values = [f(t) for t in grid]
        k = int(np.argmin(values))
        low, high = grid[max(k - 1, 0)], grid[min(k + 1, 40)]
    return min(values)


@each_kind
@settings(max_examples=12)
@given(seed=st.integers(0, 999), C=st.sampled_from([0.1, 5.0, 500.0]), size=st.sampled_from([0.01, 1.0, 30.0]))
def test_it_agrees_with_a_scan_of_the_line(kind: str, seed: int, C: float, size: float) -> None:
    """The minimum over 0 ≤ t ≤ 2, but for a hundredth of the descent."""
    problem = small_problem(kind, seed, C, weighted=seed % 2 == 1)
    rng = np.random.default_rng(seed)
    start, end = 0.1 * rng.standard_normal(problem.d), size * rng.standard_normal(problem.d)
    state = SolverState(problem, 1e-3, None, None)
    base, planes = state.evaluate(start)
    passes = state.passes
    (result, found_planes), _ = search(state, (base, planes), problem.at(end))
    assert state.passes == passes

    every = listed(problem)
    line = every.primal(start), minimum(lambda t: every.primal(start + t * (end - start)), 0.0, 2.0)
    value = problem.primal(found_planes, result)
    assert value == pytest.approx(every.primal(result.w), rel=1e-9)
    assert value <= line[0] * (1 + 1e-9)
    assert value <= line[1] + 0.0101 * (line[0] - line[1]) + 1e-9 * line[0]
    assert state.primal <= value


@each_kind
@pytest.mark.parametrize("ahead", [0.4, 1.0, 1.7])
def test_planes_are_argmaxes_wherever_they_come_from(kind: str, ahead: float) -> None:
    """Planes of other points of the line replace argmaxes only if they are as good, kinks included."""
    problem = small_problem(kind)
    rng = np.random.default_rng(1)
    for size in (0.01, 1.0, 30.0):
        base = problem.origin()
        line = problem.line(base, problem.planes(base), problem.at(size * rng.standard_normal(problem.d)))
        line.at(ahead)
        line.hinges([0.1, 0.5 * ahead, 1.9])
        for t in (0.05, 0.1, 0.45 * ahead, 0.5 * ahead, ahead, 1.2, 1.9):
            point, planes = line.at(t)
            fresh = problem.planes(point)
            np.testing.assert_allclose(
                problem.violation(planes, point), problem.violation(fresh, point), atol=1e-9 * (1.0 + size)
            )


def test_a_target_equal_to_the_base_is_left_alone() -> None:
    state = SolverState(small_problem("map"), 1e-3, None, None)
    base, planes = state.evaluate(np.ones(3))
    assert search(state, (base, planes), base)[0] == (base, planes)


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("ending", ["converged", "limit", "stopped", "stalled"])
def test_the_primal_is_that_of_a_fresh_evaluation(ending: str, offset: float) -> None:
    """However the run ends, it does not report scores that were moved along line after line."""
    X, y, qid = ranking_arrays(0, queries=30, documents=10, d=8)
    problem = Problem.from_queries(X + offset, y, qid, loss="map", C=300.0)
    limits: dict[str, Any] = {
        "converged": {"tol": 1e-6},
        "limit": {"max_iter": 7, "tol": 1e-9},
        "stalled": {"tol": 1e-18},
    }
    result = OneSlack(**limits.get(ending, {"tol": 1e-9}), max_cuts=100).solve(
        problem, callback=lambda step: ending == "stopped" and step.iteration == 9
    )
    # At the limit of float64 the two bounds may meet, so that a run that should stall has converged.
    endings = ("stalled", "converged") if ending == "stalled" else (ending,)
    assert result.status.name.lower().endswith(endings)
    assert result.primal == primal_at(problem, result.w)
    assert result.history[-1].primal == pytest.approx(result.primal, rel=1e-12)


def test_rounding_errors_do_not_add_up() -> None:
    """After a hundred searches the scores of the best point still belong to its weights."""
    problem = ranking("map", 0, C=1e4, queries=60, documents=10, d=30)
    moves: list[int] = []
    original = SolverState.consider

    class Noting(SolverState):
        def consider(self, point: Any, planes: Any) -> None:
            moves.append(point.moves)
            original(self, point, planes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("structsvm.solvers.base.SolverState", Noting)
        result = OneSlack(tol=1e-9).solve(problem)
    assert len(result.history) > 40
    assert 10 < max(moves) <= 22


def test_passes_count_every_look_at_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = ranking("map", 0, C=1e4, queries=30, documents=10, d=8)
    looks = 0.0

    def counted(method: Any) -> Any:
        def call(*arguments: Any) -> Any:
            nonlocal looks
            looks += 0.5
            return method(*arguments)

        return call

    for name in ("at", "cut"):
        monkeypatch.setattr(Problem, name, counted(getattr(Problem, name)))
    result = OneSlack(tol=1e-7).solve(problem)
    assert result.converged
    assert result.history[-1].passes == looks  # the fingerprint reads the data without one, after the last step


@pytest.mark.parametrize(("loss", "searches"), [("map", True), ("plain", False), ("generic", False)])
def test_it_is_on_where_the_loss_has_a_kernel(loss: str, searches: bool) -> None:
    problem = small_problem(loss, seed=1, C=100.0)
    results = {choice: OneSlack(line_search=choice).solve(problem) for choice in (None, True, False)}
    np.testing.assert_array_equal(results[None].w, results[searches].w)
    assert results[True].w.tolist() != results[False].w.tolist()
