"""Objectives with another regularizer, against a QP over all outputs, for every solver."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from structsvm import Problem
from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector
from structsvm.losses import AveragePrecision, Multiclass
from structsvm.result import Result, Status, Step
from structsvm.solvers import Auto, Checkpoint, FrankWolfe, NSlack, OneSlack
from tests.losses.exhaustive import planes_of
from tests.small_problems import Kronecker

SOLVERS = [OneSlack(tol=1e-6), OneSlack(tol=1e-6, line_search=False), NSlack(tol=1e-6), FrankWolfe(tol=1e-6)]


def data(seed: int = 1) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    ys = [np.array(y) for y in ([0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0])]
    y = np.concatenate(ys)
    X = rng.standard_normal((len(y), 3))
    X[:, 0] += 0.5 * y
    return X, y, np.repeat(np.arange(4), [len(labels) for labels in ys])


def optimum(
    planes: Any, cap: Vector, center: Vector, penalty: Vector, linear: Vector, bounds: Any = None
) -> tuple[float, Vector]:
    """Minimize the objective with every output as a constraint, by cvxopt."""
    cvxopt = pytest.importorskip("cvxopt")
    n, d = len(planes), len(center)
    G = np.concatenate([-np.column_stack([g, np.tile(np.eye(n)[i], (len(g), 1))]) for i, (g, _) in enumerate(planes)])
    h = -np.concatenate([L for _, L in planes])
    if bounds is not None:
        low, high = bounds
        box = np.concatenate([-np.eye(d, d + n)[np.isfinite(low)], np.eye(d, d + n)[np.isfinite(high)]])
        G, h = np.concatenate([G, box]), np.concatenate([h, -low[np.isfinite(low)], high[np.isfinite(high)]])
    P = np.diag(np.concatenate([penalty, np.zeros(n)]))
    q = np.concatenate([-penalty * center - linear, cap])
    options = {"show_progress": False, "abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10}
    solution = cvxopt.solvers.qp(*map(cvxopt.matrix, (P, q, G, h)), options=options)
    w = np.array(solution["x"])[:d, 0]
    if bounds is not None:
        w = np.clip(w, *bounds)
    hinges = [(L - g @ w).max() for g, L in planes]
    return float(0.5 * penalty @ (w - center) ** 2 - linear @ w + cap @ hinges), w


CENTER, PENALTY, LINEAR = np.array([0.3, -1.0, 2.0]), np.array([0.25, 1.0, 4.0]), np.array([-0.2, 0.1, 1.5])
CASES = {
    "center": {"center": CENTER},
    "penalty": {"penalty": PENALTY},
    "linear": {"linear": LINEAR},
    "all": {"center": CENTER, "penalty": PENALTY, "linear": LINEAR},
}


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("case", CASES)
def test_every_solver_reaches_the_optimum(case: str, C: float) -> None:
    X, y, qid = data()
    kappa = np.array([1.0, 2.0, 0.5, 1.0])
    problem = Problem.from_queries(X, y, qid, C=C, sample_weight=kappa[qid]).regularized(**CASES[case])
    planes = [planes_of(AveragePrecision(), X[qid == q], y[qid == q], 0.0) for q in range(4)]
    regularizer = {"center": np.zeros(3), "penalty": np.ones(3), "linear": np.zeros(3), **CASES[case]}
    best, w = optimum(planes, kappa * C / 4, **regularizer)
    for solver in SOLVERS:
        result = solver.solve(problem)
        assert result.converged
        assert result.dual <= best + 1e-7 * (1.0 + abs(best))
        assert result.primal == pytest.approx(best, rel=1e-6, abs=1.5e-6 * C)
        assert result.history[-1].primal == result.primal
        np.testing.assert_allclose(result.w, w, atol=2.0 * np.sqrt(2e-6 * C / regularizer["penalty"].min()))
        point = problem.at(problem.from_weights(result.w))
        assert problem.primal(problem.planes(point), point) + problem.constant == pytest.approx(result.primal)


@pytest.mark.parametrize("solver", [OneSlack(tol=1e-6), NSlack(tol=1e-6), FrankWolfe(tol=1e-6)])
def test_losses_in_python_and_of_several_scores(solver: Any) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((8, 2)), rng.integers(0, 3, 8)
    regularizer = {
        "center": rng.standard_normal(6),
        "penalty": rng.uniform(0.5, 2.0, 6),
        "linear": rng.standard_normal(6),
    }
    generic = Problem.from_examples(list(x), y.tolist(), loss=Kronecker(), C=5.0).regularized(**regularizer)
    compiled = Problem.from_examples(x, y, loss=Multiclass(range(3), Kronecker.costs), C=5.0).regularized(**regularizer)
    planes = [planes_of(Kronecker(), row, int(truth), 0.0) for row, truth in zip(x, y, strict=True)]
    best, _ = optimum(planes, np.full(8, 5.0 / 8), **regularizer)
    for problem in (generic, compiled):
        assert solver.solve(problem).primal == pytest.approx(best, abs=1e-5)


def test_a_center_and_a_linear_term_are_the_same() -> None:
    X, y, qid = data()
    plain = Problem.from_queries(X, y, qid, C=10.0)
    one, other = plain.regularized(center=CENTER), plain.regularized(linear=CENTER)
    first, second = (OneSlack(tol=1e-8).solve(problem) for problem in (one, other))
    np.testing.assert_array_equal(first.w, second.w)
    assert first.primal == pytest.approx(second.primal + 0.5 * CENTER @ CENTER)


@pytest.mark.parametrize("solver", [OneSlack(tol=1e-7), NSlack(tol=1e-7), FrankWolfe(tol=1e-7)])
def test_bounds_are_not_taken_over_where_a_constant_tells_objectives_apart(solver: Any, tmp_path: Path) -> None:
    X, y, qid = data()
    plain = Problem.from_queries(X, y, qid, C=10.0)
    one, other = plain.regularized(center=CENTER), plain.regularized(linear=CENTER)
    optimum_of_other = solver.solve(other).primal
    unfinished = evolve(evolve(solver, max_iter=3).solve(one), status=Status.UNFINISHED)
    assert unfinished.dual > optimum_of_other  # the constant is what would make a false bound of it
    result = solver.solve(other, start=unfinished)
    assert result.dual <= optimum_of_other + 1e-9
    assert result.converged

    def killed(step: Step) -> None:
        if step.iteration == 1:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        solver.solve(one, checkpoint=Checkpoint(tmp_path / "kept", every=0), callback=killed)
    with pytest.raises(InputError, match="belongs to a fit with other features"):
        solver.solve(other, checkpoint=tmp_path / "kept")


def test_a_small_C_stays_at_the_center() -> None:
    X, y, qid = data()
    result = OneSlack(tol=1e-6).solve(Problem.from_queries(X, y, qid, C=1e-6).regularized(center=CENTER))
    np.testing.assert_allclose(result.w, CENTER, atol=1e-5)


@pytest.mark.parametrize("solver", [OneSlack(tol=1e-5), NSlack(tol=1e-5), FrankWolfe(tol=1e-5), Auto(tol=1e-5)])
def test_restarts_keep_their_cuts_at_another_C_and_drop_them_with_another_center(solver: Any) -> None:
    X, y, qid = data()
    problem = Problem.from_queries(X, y, qid, C=10.0).regularized(**CASES["all"])
    first = solver.solve(problem)
    again = solver.solve(problem, start=first)
    assert again.history[0].primal == pytest.approx(first.primal)
    assert again.history[0].dual == pytest.approx(first.dual, rel=1e-9)
    for changed in (problem.with_C(50.0), problem.regularized(center=LINEAR)):
        cold, warm = solver.solve(changed), solver.solve(changed, start=first)
        assert warm.primal == pytest.approx(cold.primal, abs=2e-5 * changed.C)
        assert warm.dual <= cold.primal + 1e-9


@pytest.mark.parametrize("solver", [OneSlack(tol=1e-9), FrankWolfe(tol=1e-9)])
def test_a_run_goes_on_from_a_checkpoint(solver: Any, tmp_path: Path) -> None:
    X, y, qid = data()
    problem = Problem.from_queries(X, y, qid, C=100.0).regularized(**CASES["all"])
    path = tmp_path / "fit.npz"
    evolve(solver, max_iter=2).solve(problem, checkpoint=path)
    stored = Result.load(path)
    assert stored.status is Status.ITERATION_LIMIT or stored.status is Status.UNFINISHED or stored.converged
    result = solver.solve(problem, checkpoint=path)
    assert result.gap <= 1e-6
    assert result.primal == pytest.approx(OneSlack(tol=1e-9).solve(problem).primal, abs=2e-7)


def test_what_is_no_objective_is_refused() -> None:
    X, y, qid = data()
    problem = Problem.from_queries(X, y, qid)
    with pytest.raises(InputError, match="center must be 3 finite numbers, one per weight, got shape"):
        problem.regularized(center=[1.0, 2.0])
    with pytest.raises(InputError, match="weight 1 has no regularizer .penalty 0., so its optimum"):
        problem.regularized(penalty=[1.0, 0.0, 1.0])
    with pytest.raises(InputError, match="linear must be numbers"):
        problem.regularized(linear="much")
    assert problem.regularized().coordinates is None
