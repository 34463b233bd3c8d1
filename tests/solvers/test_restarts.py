"""Starts from an earlier result, of equal or different C, solver, backend and data."""

from functools import cache

import numpy as np
import pytest

from structsvm.exceptions import InputError
from structsvm.losses import ROCArea
from structsvm.problem import Problem
from structsvm.registry import solvers
from structsvm.result import Result
from structsvm.solvers import FrankWolfe, NSlack, OneSlack, Solver
from tests.slow import slow
from tests.small_problems import ranking, ranking_arrays

SOLVERS: dict[str, Solver] = {
    "one-slack": OneSlack(tol=1e-5),
    "n-slack": NSlack(tol=1e-5),
    "frank-wolfe": FrankWolfe(tol=1e-5),
}
each_start = pytest.mark.parametrize("start_with", SOLVERS)
DATA = ranking_arrays(0, queries=30, documents=8, d=6)


@cache
def problem_of(C: float = 10.0) -> Problem:
    return Problem.from_queries(*DATA, loss="map", C=C)


@cache
def cold_start(solver: str, C: float = 10.0) -> Result:
    """The result of a solver without a start, which depends on its problem alone (`test_solvers_keep_no_state`)."""
    return SOLVERS[solver].solve(problem_of(C))


def passes(result: Result) -> float:
    return result.history[-1].passes


def assert_same_optimum(result: Result, cold: Result) -> None:
    assert result.converged
    assert result.dual <= cold.primal * (1.0 + 1e-12)
    assert cold.dual <= result.primal * (1.0 + 1e-12)


@each_start
def test_the_same_problem_is_only_scored(start_with: str, solver_name: str) -> None:
    start = cold_start(start_with)
    again = SOLVERS[start_with].solve(problem_of(), start=start)
    assert passes(again) == 1.0
    assert again.primal == pytest.approx(start.primal)
    assert again.dual == pytest.approx(start.dual)


@each_start
@pytest.mark.parametrize("C", [0.1, 5.0, 20.0, 1000.0])
def test_another_C(start_with: str, C: float, solver_name: str) -> None:
    warm = SOLVERS[solver_name].solve(problem_of(C), start=cold_start(start_with))
    cold = cold_start(solver_name, C)
    assert_same_optimum(warm, cold)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_neighboring_C_is_cheaper_than_a_cold_start(factor: float, solver_name: str) -> None:
    warm = SOLVERS[solver_name].solve(problem_of(10.0 * factor), start=cold_start(solver_name))
    cold = cold_start(solver_name, 10.0 * factor)
    assert passes(warm) < passes(cold)
    assert warm.history[0].dual > 0.0


def test_n_slack_cuts_carry_their_lower_bound_to_one_slack() -> None:
    start = cold_start("n-slack")
    warm = OneSlack(tol=1e-5).solve(problem_of(), start=start)
    assert warm.history[0].dual == pytest.approx(start.dual)
    assert passes(warm) == 1.0


def test_one_slack_weights_help_n_slack() -> None:
    start = cold_start("one-slack")
    warm = NSlack(tol=1e-5).solve(problem_of(), start=start)
    assert warm.converged
    assert warm.primal <= start.primal
    assert warm.history[0].primal == pytest.approx(start.primal)


def test_another_backend(backend: str, cutting_plane: str) -> None:
    start = cold_start(cutting_plane)
    warm = solvers.create(cutting_plane, backend=backend, tol=1e-5).solve(problem_of(), start=start)
    assert passes(warm) == 1.0
    tighter = solvers.create(cutting_plane, backend=backend, tol=1e-6).solve(problem_of(), start=start)
    assert_same_optimum(tighter, start)


@each_start
def test_a_result_is_never_worse_than_its_start(start_with: str, solver_name: str) -> None:
    start = cold_start(start_with)
    short = solvers.create(solver_name, tol=1e-9, max_iter=1).solve(problem_of(), start=start)
    assert short.primal <= start.primal


@each_start
@pytest.mark.parametrize(
    "change",
    [
        *("labels of one query", "weights"),
        *slow("one feature", "loss"),
    ],
)
def test_only_the_weights_of_other_data_are_used(start_with: str, change: str, solver_name: str) -> None:
    """Cuts of other data bound another objective: with them the lower bound would be false."""
    X, y, qid = (array.copy() for array in DATA)
    weights, loss = np.ones(len(y)), "map"
    if change == "labels of one query":
        y[qid == 7] = 1.0 - y[qid == 7]
    elif change == "one feature":
        X[100, 2] += 3.0
    elif change == "loss":
        loss = "roc_area"
    else:
        weights[qid == 4] = 5.0
    other = Problem.from_queries(X, y, qid, loss=loss, C=10.0, sample_weight=weights)
    start, solver = cold_start(start_with), SOLVERS[solver_name]
    warm, cold = solver.solve(other, start=start), solver.solve(other)
    if solver_name != "frank-wolfe":  # which takes planes at these weights before the first step that it shows
        assert warm.history[0].dual == 0.0
    assert warm.history[0].primal < cold.history[0].primal
    assert_same_optimum(warm, cold)


def test_a_result_with_another_number_of_weights_is_refused(solver_name: str) -> None:
    start = OneSlack().solve(problem_of())
    X, y, qid = DATA
    with pytest.raises(InputError, match="start has 6 weights, but the problem has 5"):
        SOLVERS[solver_name].solve(Problem.from_queries(X[:, :5], y, qid), start=start)


def test_more_cuts_than_the_new_solver_keeps() -> None:
    start = OneSlack(tol=1e-2).solve(problem_of(1000.0))
    least = problem_of().d + 1
    assert len(start.cuts) > least
    warm = OneSlack(tol=1e-4, max_cuts=4).solve(problem_of(1000.0), start=start)
    assert_same_optimum(warm, OneSlack(tol=1e-4).solve(problem_of(1000.0)))
    assert len(warm.cuts) <= least


def test_solvers_keep_no_state(solver_name: str) -> None:
    solver = SOLVERS[solver_name]
    first = solver.solve(problem_of())
    solver.solve(problem_of(1.0))
    again = solver.solve(problem_of())
    np.testing.assert_array_equal(first.w, again.w)
    assert [step.dual for step in first.history] == [step.dual for step in again.history]


def test_another_loss_whose_hinges_are_0_at_the_start_is_told_apart(solver_name: str) -> None:
    """If both losses separate the queries, they agree only at the weights of the start."""
    y, qid = np.tile([1.0, 0.0], 20), np.repeat(np.arange(20), 2)
    X = np.random.default_rng(0).standard_normal((40, 30))
    start, cold = (
        OneSlack(tol=1e-6).solve(Problem.from_queries(X, y, qid, loss=loss, C=1e4)) for loss in ("roc_area", "map")
    )
    problem = Problem.from_queries(X, y, qid, loss="map", C=1e4)
    assert start.dual > 2 * cold.primal
    assert solvers.create(solver_name, tol=1e-6).solve(problem, start=start).dual <= cold.primal


@each_start
@pytest.mark.parametrize("weight", [0.2, 1.0, 7.0])
@pytest.mark.parametrize("change", [1.0, 3.0])
def test_one_example_with_a_weight_is_the_same_to_all_solvers(
    start_with: str, weight: float, change: float, solver_name: str
) -> None:
    """1-slack and n-slack then have one group each, so their cuts must mean the same."""
    X, y, qid = ranking_arrays(0, queries=1, documents=12)
    start, other = (
        Problem.from_queries(X, y, qid, loss="map", C=C, sample_weight=np.full(12, weight)) for C in (5.0, 5.0 * change)
    )
    warm = SOLVERS[solver_name].solve(other, start=SOLVERS[start_with].solve(start))
    assert_same_optimum(warm, SOLVERS[solver_name].solve(other))
    if change == 1.0:
        assert passes(warm) == 1.0


@each_start
def test_weights_of_any_mean_carry_over(start_with: str, solver_name: str) -> None:
    X, y, qid = DATA
    weights = 1.0 + qid % 5
    start, other = (Problem.from_queries(X, y, qid, loss="map", C=C, sample_weight=weights) for C in (3.0, 6.0))
    warm = SOLVERS[solver_name].solve(other, start=SOLVERS[start_with].solve(start))
    assert_same_optimum(warm, SOLVERS[solver_name].solve(other))


@pytest.mark.parametrize("seed", range(30))
def test_n_slack_converges_from_another_C_where_no_cut_is_missing(seed: int) -> None:
    """The cuts that it restores may be all that it needs, but not their multipliers."""
    solver = NSlack(tol=1e-3)
    first = solver.solve(ranking(ROCArea(), seed, C=10.0, queries=3, documents=5))
    second = solver.solve(ranking(ROCArea(), seed, C=100.0, queries=3, documents=5), start=first)
    assert second.converged
