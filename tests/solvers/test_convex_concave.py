"""The convex-concave procedure: its objective falls, and it ends at a critical point."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from structsvm import Problem
from structsvm.exceptions import InputError, OracleError
from structsvm.foundation.compute.threads import using
from structsvm.foundation.types import Vector
from structsvm.losses import AveragePrecision, ChainHamming, Multiclass
from structsvm.problem.concave import Tangent, ramp
from structsvm.solvers import FrankWolfe, NSlack, OneSlack
from structsvm.solvers.convex_concave import descend
from tests.losses.exhaustive import planes_of
from tests.problem.test_regularized import data, optimum
from tests.small_problems import Kronecker

SOLVERS = [OneSlack(tol=1e-6), NSlack(tol=1e-6), FrankWolfe(tol=1e-6)]


def ramp_by_definition(w: Vector, examples: Any, loss: Any, C: float) -> float:
    """``F(w)`` with the maxima over lists of all outputs."""
    total = 0.0
    for x, y in examples:
        given = loss.examples([x], [y])
        truth = given.ys[0]
        outputs = list(given.loss.outputs(truth))
        scores = given.operator.scores(w)
        values = np.array([scores @ given.loss.encode(output, truth) for output in outputs])
        losses = np.array([given.loss.loss(truth, output) for output in outputs])
        total += float((values + losses).max() - values.max())
    return 0.5 * float(w @ w) + C / len(examples) * total


def problem_and_examples(name: str, C: float) -> tuple[Problem, Any, Any, Any]:
    rng = np.random.default_rng(0)
    if name == "map":
        X, y, qid = data()
        examples = [(X[qid == q], y[qid == q]) for q in range(4)]
        return Problem.from_queries(X, y, qid, C=C), AveragePrecision(), examples, [y for _, y in examples]
    x, y = rng.standard_normal((12, 2)), rng.integers(0, 3, 12)
    x[np.arange(12), y % 2] += 1.0
    loss = Kronecker() if name == "generic" else Multiclass(range(3), Kronecker.costs)
    examples = [(each, int(truth)) for each, truth in zip(x, y, strict=True)]
    problem = Problem.from_examples(list(x), y.tolist(), loss=loss, C=C)
    return problem, loss, examples, examples if name == "generic" else y.tolist()


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("name", ["map", "multiclass", "generic"])
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_the_objective_of_a_ramp_falls_to_a_stationary_point(name: str, C: float, solver: Any) -> None:
    problem, loss, examples, _ = problem_and_examples(name, C)
    result = descend(problem, ramp(problem), solver)
    assert result.stationary
    objectives = [one.objective for one in result.rounds]
    assert all(later <= earlier + 1e-12 * (1 + C) for earlier, later in pairwise(objectives))
    slack = 1e-12 * (1 + C)
    assert all(one.lower - slack <= one.primal <= one.objective + slack for one in result.rounds)
    assert result.rounds[-1].gap <= 2e-6 * C + 1e-9
    assert result.objective == pytest.approx(
        ramp_by_definition(result.w, examples, loss, C), rel=1e-9, abs=1e-9 * (1 + C)
    )
    # the last convex problem, by a QP over all outputs of the linearized objective
    slope = ramp(problem)(result.w).slope
    planes = [planes_of(loss, x, y, 0.0) for x, y in examples]
    d = problem.d
    best, _ = optimum(planes, problem.cap, np.zeros(d), np.ones(d), slope)
    assert result.objective <= best + 3e-6 * C + 1e-7 * (1.0 + abs(best))


def test_tangents_need_not_go_through_0() -> None:
    problem, _, _, _ = problem_and_examples("map", 10.0)
    solver = OneSlack(tol=1e-8)
    result = descend(problem, lambda w: Tangent(0.25 * float(w @ w), 0.5 * w), solver)
    expected = solver.solve(problem.regularized(penalty=np.full(problem.d, 0.5)))  # ½‖w‖² less ¼‖w‖²
    assert result.stationary
    assert result.objective == pytest.approx(expected.primal, abs=1e-5)
    objectives = [one.objective for one in result.rounds] + [result.objective]
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(objectives))
    assert objectives[-2] == pytest.approx(objectives[-1], abs=1e-6)


def test_warm_starts_keep_cuts() -> None:
    rng = np.random.default_rng(0)
    X, qid = rng.standard_normal((400, 6)), np.repeat(np.arange(40), 10)
    y = (X[:, 0] + rng.standard_normal(400) > 1.0).astype(float)
    problem = Problem.from_queries(X, y, qid, C=100.0, loss="roc_area")
    solver = OneSlack(tol=1e-3)
    result = descend(problem, ramp(problem), solver)
    assert result.stationary
    cold = solver.solve(evolve(problem, known_fingerprint=None)).history[-1].iteration
    assert result.result.history[-1].iteration < cold
    assert result.result.history[0].dual > 0.5 * result.result.dual - 0.5 * abs(result.result.dual)
    again = descend(problem, ramp(problem), solver, start=result.result)
    assert len(again.rounds) == 1
    assert again.objective <= result.objective + 1e-9


def test_starts_of_another_width_are_refused_before_they_are_scored() -> None:
    problem, _, _, _ = problem_and_examples("map", 10.0)
    result = OneSlack(tol=1e-3).solve(problem)

    def seen(w: Vector) -> Tangent:
        raise AssertionError("weights of another width were scored")

    with pytest.raises(InputError, match="start has 4 weights, but the problem has 3"):
        descend(problem, seen, OneSlack(tol=1e-3), start=evolve(result, w=np.ones(4)))


def test_tangents_are_computed_by_the_threads_of_the_problem() -> None:
    problem, _, _, _ = problem_and_examples("map", 10.0)
    right, counts = ramp(problem), set[int]()

    def counted(w: Vector) -> Tangent:
        with using(None) as threads:
            counts.add(threads.count)
        return right(w)

    descend(evolve(problem, n_jobs=3), counted, OneSlack(tol=1e-3))
    assert counts == {3}


def test_it_stops_when_told() -> None:
    problem, _, _, _ = problem_and_examples("map", 10.0)
    stopped = descend(problem, ramp(problem), OneSlack(tol=1e-6), callback=lambda step: True)
    assert not stopped.stationary
    once = descend(problem, ramp(problem), OneSlack(tol=1e-6), max_iter=1)
    assert len(once.rounds) == 1


def test_losses_that_are_not_convex_are_errors() -> None:
    problem, _, _, _ = problem_and_examples("map", 10.0)
    right = ramp(problem)

    def wrong(w: Vector) -> Tangent:
        value, slope = right(w)
        return Tangent(-value - 1.0, slope)

    with pytest.raises(OracleError, match="the subtracted function is not a maximum"):
        descend(problem, wrong, OneSlack(tol=1e-6))


def test_inexact_losses_are_refused() -> None:
    class Inexact(ChainHamming):
        exact = False

    tags = Problem.from_examples([np.eye(3)], [[0, 1, 0]], loss=Inexact())
    with pytest.raises(InputError, match="a ramp needs exact argmaxes, but Inexact has exact = False"):
        ramp(tags)


def test_a_first_round_within_tol_is_followed_by_another() -> None:
    """The first round moves the weights by less than tol · C; their tangent leads on down."""
    rng = np.random.default_rng(15)
    X, y = rng.standard_normal((24, 3)), rng.integers(0, 2, 24)
    problem = Problem.from_queries(X, y, np.arange(24) // 6, loss="map", C=1.0)
    first, second = descend(problem, ramp(problem), OneSlack(tol=0.1)).rounds
    assert 0.0 < first.objective - first.primal < 0.1
    assert second.primal < second.objective - 0.001
