"""Weights with bounds, and without regularizer, against a QP over all outputs, for every solver that takes them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from structsvm import Problem, StructuralSVM
from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector
from structsvm.losses import AveragePrecision, ZeroOne
from structsvm.problem.coordinates import Box
from structsvm.result import Result, Status, Step
from structsvm.solvers import Auto, Checkpoint, FrankWolfe, NSlack, OneSlack
from tests.losses.exhaustive import planes_of
from tests.problem.test_regularized import CENTER, LINEAR, PENALTY, data, optimum
from tests.solvers.qp.programs import BACKENDS
from tests.testing.test_check_loss import Positive

SOLVERS = [OneSlack(tol=1e-6), OneSlack(tol=1e-6, line_search=False), NSlack(tol=1e-6), Auto(tol=1e-6)]
INF = np.inf
PLAIN: dict[str, Any] = {"center": np.zeros(3), "penalty": np.ones(3), "linear": np.zeros(3)}
CASES: dict[str, dict[str, Any]] = {
    "positive": {"bounds": (np.zeros(3), np.full(3, INF))},
    "box": {"bounds": (np.array([-0.1, 0.0, -1.0]), np.array([0.1, 0.5, -0.2]))},
    "fixed": {"bounds": (np.array([0.3, -INF, -INF]), np.array([0.3, INF, 0.1]))},
    "all": {
        "center": CENTER,
        "penalty": PENALTY,
        "linear": LINEAR,
        "bounds": (np.array([-INF, 0.2, -INF]), np.array([0.0, INF, INF])),
    },
    "one without regularizer": {
        "penalty": np.array([1.0, 0.0, 0.5]),
        "bounds": (np.array([0.0, -5.0, -INF]), np.array([INF, 5.0, INF])),
    },
    "none with one": {"penalty": np.zeros(3), "bounds": (np.full(3, -2.0), np.array([3.0, 0.0, 2.0]))},
}
KAPPA = np.array([1.0, 2.0, 0.5, 1.0])


def bounded(C: float, **objective: Any) -> tuple[Problem, float]:
    """Return a problem with its optimum, which cvxopt finds."""
    X, y, qid = data()
    problem = Problem.from_queries(X, y, qid, C=C, sample_weight=KAPPA[qid]).regularized(**objective)
    planes = [planes_of(AveragePrecision(), X[qid == q], y[qid == q], 0.0) for q in range(4)]
    best, _ = optimum(planes, KAPPA * C / 4, **{**PLAIN, **objective})
    return problem, best


def require_certified(result: Result, best: float, bounds: tuple[Vector, Vector]) -> None:
    assert result.converged
    assert result.dual <= best + 1e-7 * (1.0 + abs(best))
    assert result.primal == pytest.approx(best, rel=1e-6, abs=1.5 * result.tol * result.C)
    assert (result.w >= bounds[0]).all()
    assert (result.w <= bounds[1]).all()


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("case", CASES)
def test_every_solver_reaches_the_optimum(case: str, C: float) -> None:
    problem, best = bounded(C, **CASES[case])
    for solver in SOLVERS:
        result = solver.solve(problem)
        require_certified(result, best, CASES[case]["bounds"])
        assert [step.dual for step in result.history] == sorted(step.dual for step in result.history)
        point = problem.at(problem.from_weights(result.w))
        assert problem.primal(problem.planes(point), point) + problem.constant == pytest.approx(result.primal)


@st.composite
def boxes(draw: Any) -> dict[str, Any]:
    numbers = st.floats(-3.0, 3.0, width=16)
    low = np.array([draw(st.one_of(st.just(-INF), numbers)) for _ in range(3)])
    room = np.array([draw(st.one_of(st.just(INF), st.floats(0.0, 3.0, width=16))) for _ in range(3)])
    high = np.where(np.isfinite(low), low, draw(numbers)) + room
    finite = np.isfinite(low) & np.isfinite(high)
    penalty = np.array(
        [draw(st.sampled_from([0.0, 0.25, 1.0, 4.0] if is_finite else [0.25, 1.0, 4.0])) for is_finite in finite]
    )
    return {"center": np.array([draw(numbers) for _ in range(3)]), "penalty": penalty, "bounds": (low, high)}


@settings(max_examples=15)
@given(boxes(), st.floats(-2.0, 4.0))
def test_certificates_hold_for_any_bounds(objective: dict[str, Any], power: float) -> None:
    require_certificates(objective, power, BACKENDS[0])


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
@given(boxes(), st.floats(-2.0, 4.0))
def test_certificates_hold_for_any_bounds_and_backend(backend: Any, objective: dict[str, Any], power: float) -> None:
    require_certificates(objective, power, backend)


def require_certificates(objective: dict[str, Any], power: float, backend: Any) -> None:
    problem, best = bounded(10.0**power, **objective)
    for solver in (OneSlack(tol=1e-5, backend=backend()), NSlack(tol=1e-5, backend=backend())):
        require_certified(solver.solve(problem), best, objective["bounds"])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_the_dual_of_a_box_is_a_minimum_over_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    low = rng.standard_normal(4)
    box = Box(low, low + rng.exponential(size=4), rng.random(4) < 0.5)
    g = 3.0 * rng.standard_normal(4)
    minimum = minimize(lambda u: box.regularizer(u) - u @ g, low, bounds=list(zip(box.low, box.high, strict=True)))
    assert box.lowest(g) == pytest.approx(minimum.fun, abs=1e-6)
    base, target = box.nearest(rng.standard_normal(4)), box.nearest(rng.standard_normal(4))
    t = box.farthest(base, target)
    if np.isfinite(t):
        outside = base + (t + 1e-6) * (target - base)
        assert t >= 1.0
        np.testing.assert_allclose(box.nearest(base + t * (target - base)), base + t * (target - base), atol=1e-12)
        assert t == 1.0 or not np.array_equal(box.nearest(outside), outside)


@pytest.mark.parametrize("solver", [OneSlack(tol=1e-5), NSlack(tol=1e-5), Auto(tol=1e-5)])
@pytest.mark.parametrize("case", ["positive", "all", "one without regularizer"])
def test_starts(case: str, solver: Any) -> None:
    problem, best = bounded(10.0, **CASES[case])
    first = solver.solve(problem)
    again = solver.solve(problem, start=first)
    assert again.history[0].primal == pytest.approx(first.primal, rel=1e-9)
    assert again.history[0].dual == pytest.approx(first.dual, rel=1e-9)
    free = solver.solve(problem.regularized())  # its weights are out of bounds
    outside = evolve(first, w=np.array([-9.0, 9.0, 9.0]))
    for start in (free, outside, OneSlack(tol=0.1).solve(problem), NSlack(tol=0.1).solve(problem)):
        require_certified(solver.solve(problem, start=start), best, CASES[case]["bounds"])
    other, best = bounded(50.0, **CASES[case])
    require_certified(solver.solve(other, start=first), best, CASES[case]["bounds"])
    narrower, best = bounded(10.0, **{**CASES[case], "bounds": (np.full(3, -0.01), np.full(3, 0.01))})
    require_certified(solver.solve(narrower, start=first), best, (np.full(3, -0.01), np.full(3, 0.01)))
    assert solver.solve(narrower, start=evolve(first, status=Status.UNFINISHED)).dual <= best + 1e-9 * (1.0 + abs(best))


@pytest.mark.parametrize("solver", [OneSlack(tol=1e-9), NSlack(tol=1e-7)])
def test_a_run_goes_on_from_a_checkpoint(solver: Any, tmp_path: Path) -> None:
    problem, best = bounded(100.0, **CASES["all"])

    def killed(step: Step) -> None:
        if step.iteration == 1:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        solver.solve(problem, checkpoint=Checkpoint(tmp_path / "fit", every=0), callback=killed)
    require_certified(solver.solve(problem, checkpoint=tmp_path / "fit"), best, CASES["all"]["bounds"])
    with pytest.raises(InputError, match="belongs to a fit with other features"):
        solver.solve(bounded(100.0, **CASES["positive"])[0], checkpoint=tmp_path / "fit")


@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_a_constant_feature_without_regularizer_is_an_intercept(offset: float) -> None:
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.standard_normal((20, 2)) + offset, np.ones(20)])
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(20) > offset, 1.0, -1.0)
    most = np.array([INF, INF, 500.0])
    objective = {"penalty": np.array([1.0, 1.0, 0.0]), "bounds": (-most, most)}
    problem = Problem.from_queries(X, y, loss="zero_one", C=30.0).regularized(**objective)
    planes = [planes_of(ZeroOne(), X[i], float(y[i]), 0.0) for i in range(20)]
    best, w = optimum(planes, np.full(20, 1.5), **{**PLAIN, **objective})
    for solver in (OneSlack(tol=1e-6), NSlack(tol=1e-6)):
        result = solver.solve(problem)
        require_certified(result, best, (-most, most))
        np.testing.assert_allclose(result.w[:2], w[:2], atol=0.02)  # shifted features need another intercept, no more


def test_the_domain_of_a_loss_is_kept_by_every_fit() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((8, 2)), rng.integers(0, 3, 8)
    low = np.where(np.arange(6) == 0, 0.0, -INF)

    class Watched(Positive):
        def loss_augmented_argmax(self, x: Vector, y: int, w: Vector) -> int:
            assert w[0] >= 0.0
            return super().loss_augmented_argmax(x, y, w)

    planes = [planes_of(Positive(), row, int(truth), 0.0) for row, truth in zip(x, y, strict=True)]
    plain = {"center": np.zeros(6), "penalty": np.ones(6), "linear": np.zeros(6)}
    best, _ = optimum(planes, np.full(8, 5.0 / 8), **plain, bounds=(low, np.full(6, INF)))
    problem = Problem.from_examples(list(x), y.tolist(), loss=Watched(), C=5.0)
    for solver in (OneSlack(tol=1e-6), NSlack(tol=1e-6)):
        require_certified(solver.solve(problem), best, (low, np.full(6, INF)))
    svm = StructuralSVM(Watched(), C=5.0, tol=1e-6).fit(list(x), y.tolist())
    assert svm.result_.primal == pytest.approx(best, abs=1e-5)
    both = problem.regularized(bounds=(-0.2, 0.3)).box
    assert both is not None
    np.testing.assert_array_equal(both.low, [0.0, -0.2, -0.2, -0.2, -0.2, -0.2])
    with pytest.raises(InputError, match="bounds: low 0 is above high -1 of weight 0"):
        problem.regularized(bounds=(None, -1.0))


def test_what_cannot_be_is_refused() -> None:
    X, y, qid = data()
    problem = Problem.from_queries(X, y, qid)
    for bounds, said in [
        (3, "bounds must be a pair"),
        ((1.0, 0.0), "low 1 is above high 0 of weight 0"),
        ((0.0, np.zeros(2)), "the largest weights must be one number or 3 numbers"),
        ((np.nan, None), "must not be NaN"),
        (("low", None), "bounds: the smallest weights must be numbers"),
        ((INF, None), "weight 0 would have to be from inf to inf"),
        ((0.0, 1e200), r"the largest weights must be at most 1e\+100 .* got 1e\+200: use inf .numpy.inf. for no bound"),
        (([0.0, -1e200, 0.0], None), r"the smallest weights must be at most 1e\+100 .* got -1e\+200: use -inf"),
    ]:
        with pytest.raises(InputError, match=said):
            problem.regularized(bounds=bounds)
    with pytest.raises(InputError, match="weight 1 has no regularizer .penalty 0., so its optimum"):
        problem.regularized(penalty=[1.0, 0.0, 1.0], bounds=(0.0, None))
    for what, value in (("center", 1e200), ("linear", -1e101), ("penalty", 1e300)):
        with pytest.raises(InputError, match=rf"{what} must be at most 1e\+100 .*, got -?1e.* for weight 1"):
            problem.regularized(**{what: [1.0, value, 1.0]})
    with pytest.raises(InputError, match="penalty must be 0 or at least 1e-100, got 1e-300 for weight 2"):
        problem.regularized(penalty=[1.0, 1.0, 1e-300])
    with pytest.raises(InputError, match="weight 1 has no regularizer .* cannot have a linear term"):
        problem.regularized(penalty=[1.0, 0.0, 1.0], bounds=(-1.0, 1.0), linear=np.ones(3))
    with pytest.raises(InputError, match="frank-wolfe supports neither bounds on weights nor weights without"):
        FrankWolfe().solve(problem.regularized(bounds=(0.0, None)))
    assert Auto().choose(problem.regularized(bounds=(0.0, None))) == OneSlack()
