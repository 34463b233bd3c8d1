"""Solvers reach the optimum of the QP with every constraint, which SciPy solves, and their bounds hold."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm.registry import solvers
from structsvm.result import Result, Status
from structsvm.solvers import FrankWolfe, NSlack, OneSlack
from structsvm.solvers.qp import ActiveSet, DualQP, QPBackend, QPSolution
from tests.campaign.cases import case, start_of
from tests.slow import slow
from tests.small_problems import KINDS, Listed, listed, small_problem, solved

each_kind = pytest.mark.parametrize("kind", KINDS)


def assert_certified(result: Result, problem: Listed, optimum: float) -> None:
    assert result.dual <= optimum + 1e-7 * (1 + optimum)
    assert result.primal >= optimum - 1e-4 * (1 + optimum)  # SLSQP's own accuracy, from above, for large C
    assert result.primal == pytest.approx(problem.primal(result.w), rel=1e-9, abs=1e-12 * result.C)
    duals, primals = [step.dual for step in result.history], [step.primal for step in result.history]
    assert duals == sorted(duals)
    assert (np.diff(primals) <= 1e-13 * primals[0]).all()  # the best point is scored afresh at the end
    assert result.primal == pytest.approx(primals[-1], rel=1e-13)  # it may have been scored afresh since
    assert result.dual >= duals[-1]  # a QP may have followed the last step
    assert result.gap == result.primal - result.dual
    assert result.converged == (result.gap <= result.tol * result.C)


def assert_dual_point(result: Result, cap: Any) -> None:
    """The cuts that are returned prove the lower bound by themselves."""
    cuts = result.cuts
    w = cuts.a @ cuts.G
    assert cuts.a @ cuts.L - 0.5 * np.linalg.norm(w) ** 2 == pytest.approx(result.dual, rel=1e-9, abs=1e-12)
    assert (cuts.a >= 0).all()
    total = np.bincount(cuts.group, weights=cuts.a, minlength=cuts.groups)
    assert (total <= (cap if cuts.groups > 1 else cap.sum()) * (1 + 1e-9)).all()


@each_kind
@pytest.mark.parametrize("weighted", [*slow(False), True], ids=["", "weighted"])
@pytest.mark.parametrize("C", [0.1, 30.0])
def test_every_solver_on_every_backend(kind: str, weighted: bool, C: float, cutting_plane: str, backend: str) -> None:
    problem, every, optimum = solved(kind, 3, C, weighted)
    result = solvers.create(cutting_plane, backend=backend, tol=1e-5).solve(problem)
    assert result.status is Status.CONVERGED
    assert_certified(result, every, optimum)
    assert_dual_point(result, problem.cap)
    assert result.primal <= optimum + 1e-5 * C + 1e-7


@each_kind
@settings(max_examples=4)
@given(seed=st.integers(0, 10_000), C=st.sampled_from([1e-3, 1.0, 1e3]), weighted=st.booleans())
def test_random_problems(kind: str, seed: int, C: float, weighted: bool) -> None:
    problem, every, optimum = solved(kind, seed, C, weighted)
    one_slack = [OneSlack(tol=1e-6, line_search=search) for search in (None, True, False)]
    for solver in (*one_slack, NSlack(tol=1e-6), NSlack(tol=1e-6, batch=3), FrankWolfe(tol=1e-6)):
        result = solver.solve(problem)
        assert result.converged
        assert_certified(result, every, optimum)
        assert_dual_point(result, problem.cap)


class Sloppy(QPBackend):
    """Solves with the built-in solver and then spoils the multipliers."""

    name = "sloppy"

    def __init__(self, spoil: Any) -> None:
        self.rng = np.random.default_rng(0)
        self.spoil = spoil

    def solve(self, qp: DualQP, start: QPSolution | None = None) -> QPSolution:
        a = ActiveSet().solve(qp, None).a
        return QPSolution(self.spoil(a, self.rng), gap=0.0, handed_over=np.bool_(False))  # type: ignore[arg-type]


SPOILS = {
    "a little noise": lambda a, rng: a * rng.uniform(0.999, 1.0, len(a)),
    "noise": lambda a, rng: a * rng.uniform(0.5, 1.5, len(a)),
    "infeasible": lambda a, rng: 3.0 * a + 0.1,
    "negative": lambda a, rng: a - 0.1 * a.max() * rng.random(len(a)),
    "one NaN": lambda a, rng: np.where(np.arange(len(a)) == 0, np.nan, a),
    "infinite": lambda a, rng: np.where(np.arange(len(a)) == 1, np.inf, a),
    "huge": lambda a, rng: a + 1e300,
}
each_spoil = pytest.mark.parametrize("spoil", SPOILS)


@each_spoil
@each_kind
def test_an_inexact_backend_cannot_falsify_a_bound(kind: str, spoil: str, cutting_plane: str) -> None:
    problem, every, optimum = solved(kind, 1, 10.0, True)
    solver = solvers.create(cutting_plane, backend=Sloppy(SPOILS[spoil]), tol=1e-4, max_iter=150)
    result = solver.solve(problem)
    assert_certified(result, every, optimum)
    assert_dual_point(result, problem.cap)


def test_a_little_noise_does_not_keep_a_solver_from_converging(cutting_plane: str) -> None:
    problem = small_problem("map", seed=1, C=10.0)
    assert solvers.create(cutting_plane, backend=Sloppy(SPOILS["a little noise"]), tol=1e-3).solve(problem).converged


@pytest.mark.parametrize("answer", [np.nan, 0.0, -1.0, np.inf])
def test_the_built_in_backend_goes_on_for_one_without_an_answer(answer: float, cutting_plane: str) -> None:
    backend = Sloppy(lambda a, rng: np.full(len(a), answer))
    problem, every, optimum = solved("map", 1, 10.0, True)
    result = solvers.create(cutting_plane, backend=backend).solve(problem)
    assert result.converged
    assert result.handovers > 0
    assert_certified(result, every, optimum)


@pytest.mark.parametrize("max_cuts", [2, 3, 8])
@pytest.mark.parametrize("max_idle", [1, 50])
def test_a_tiny_working_set_still_converges(max_cuts: int, max_idle: int) -> None:
    problem, every, optimum = solved("map", 2, 100.0)
    result = OneSlack(tol=1e-3, max_cuts=max_cuts, max_idle=max_idle).solve(problem)
    assert result.converged
    assert max(step.cuts for step in result.history) <= max(max_cuts, 4)
    assert_certified(result, every, optimum)
    assert_dual_point(result, problem.cap)


def test_few_cuts_are_still_as_many_as_an_optimum_needs() -> None:
    """Merged cuts with weight are found again and again: thousands of iterations."""
    made = case(2_000_208)
    start = start_of(made, "")
    few, many = (OneSlack(tol=2e-6, max_cuts=cuts, max_iter=500).solve(made.problem, start) for cuts in (10, 2_000))
    assert many.converged
    assert many.history[-1].active_cuts > 10
    assert few.converged


def test_a_capped_working_set_of_n_slack_still_converges() -> None:
    problem, every, optimum = solved("map", 2, 1000.0)
    solver = NSlack(tol=1e-4, max_cuts=2, max_idle=2, backend=Sloppy(SPOILS["noise"]))
    result = solver.solve(problem)
    assert max(step.cuts for step in result.history) <= 4 * problem.n
    assert_certified(result, every, optimum)
    assert_dual_point(result, problem.cap)


@pytest.mark.parametrize("scale", [1e-3, 20.0])
def test_n_slack_converges_whatever_the_mean_weight(scale: float) -> None:
    """ε is per unit of weight: with weights of mean 20, slacks of ε would add up to 20 tol C."""
    rng = np.random.default_rng(0)
    y = np.tile([1.0, 0.0, 0.0], 40)
    X, qid = rng.standard_normal((120, 5)), np.repeat(np.arange(40), 3)
    problem = type(small_problem("map")).from_queries(X, y, qid, C=1.0, sample_weight=np.full(120, scale))
    assert NSlack(tol=1e-2).solve(problem).status is Status.CONVERGED


def test_examples_without_weight_get_no_cuts() -> None:
    problem = small_problem("map", weighted=True, C=10.0)
    assert problem.cap[3] == 0.0
    assert 3 not in NSlack(tol=1e-5).solve(problem).cuts.group


@pytest.mark.parametrize("C", [1e-6, 1e6])
def test_extreme_C(C: float, solver_name: str) -> None:
    """Frank-Wolfe, whose steps move one example, is slow at 1e6; its bounds still hold."""
    problem = small_problem("map", seed=4, C=C)
    result = solvers.create(solver_name, tol=1e-6, max_iter=300).solve(problem)
    assert result.converged or (solver_name, C) == ("frank-wolfe", 1e6)
    assert result.dual <= OneSlack(tol=1e-6).solve(problem).primal * (1 + 1e-12)
    assert result.primal == pytest.approx(listed(problem).primal(result.w), rel=1e-9)


def test_a_problem_without_violations_is_solved_at_once(solver_name: str) -> None:
    """A single class: no output but the truth."""
    problem = type(small_problem("map")).from_examples(np.ones((3, 2)), [1, 1, 1], loss="multiclass")
    result = solvers.create(solver_name).solve(problem)
    assert (result.primal, result.dual, result.converged, len(result.cuts)) == (0.0, 0.0, True, 0)
