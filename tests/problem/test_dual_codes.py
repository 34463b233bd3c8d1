"""Whatever codes are stored, multipliers stay a feasible point of the dual, and w, bounds and cuts are theirs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from structsvm import Problem, Result
from structsvm.exceptions import InputError
from structsvm.problem.codes import DualCodes, cuts_of, suits_codes
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack
from tests.small_problems import small_problem


def chains(C: float = 10.0) -> Problem:
    rng = np.random.default_rng(1)
    xs = [rng.standard_normal((length, 4)) for length in rng.integers(1, 7, 30)]
    ys = [rng.integers(0, 4, len(x)) for x in xs]
    return Problem.from_examples(xs, ys, loss="chain_hamming", C=C)


def classes(C: float = 10.0) -> Problem:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 5))
    return Problem.from_examples(X, rng.integers(0, 7, 60), loss="multiclass", C=C)


each_problem = pytest.mark.parametrize("make", [chains, classes])


@each_problem
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_the_point_is_feasible_and_its_parts_agree(make: Any, C: float) -> None:
    problem = make(C)
    dual, rng = DualCodes(problem), np.random.default_rng(0)
    before = 0.0
    for _ in range(6):
        dual.visit(0.0, rng)
        moved = dual.w.copy()
        value = dual.refresh()
        np.testing.assert_allclose(moved, dual.w, rtol=1e-9, atol=1e-9 * C)
        assert value >= before - 1e-12 * C
        before = value
        total = dual.arrays.places["a"].sum(axis=1)
        assert (dual.arrays.places["a"] >= 0.0).all()
        assert (total <= problem.cap).all()
        point = problem.at(dual.w)
        shares = dual.held(point.scores)
        assert value == pytest.approx(shares.sum() + 0.5 * dual.w @ dual.w, rel=1e-9)
        assert value <= problem.primal(problem.planes(point), point)


@each_problem
def test_cuts_and_planes_of_codes_have_the_value_of_the_point(make: Any) -> None:
    dual = DualCodes(make())
    dual.visit(0.0, np.random.default_rng(0))
    value = dual.refresh()
    mean = dual.cuts()
    for cuts, groups in ((mean, 1), (cuts_of(dual.problem, mean.codes), dual.problem.n)):
        assert cuts.groups == groups
        np.testing.assert_allclose(cuts.a @ cuts.G, dual.w, atol=1e-12)
        assert cuts.a @ cuts.L - 0.5 * dual.w @ dual.w == pytest.approx(value)


@each_problem
def test_examples_take_as_many_codes_as_need_weight(make: Any) -> None:
    dual, rng = DualCodes(make(1e4)), np.random.default_rng(0)
    for _ in range(20):
        dual.visit(0.0, rng)
    assert (dual.arrays.places["a"] > 0.0).sum(axis=1).max() > 4


@each_problem
def test_a_start_saves_passes(make: Any) -> None:
    solver = FrankWolfe(tol=1e-4)
    first = solver.solve(make(10.0))
    assert solver.solve(make(10.0), start=first).history[-1].passes < 0.5 * first.history[-1].passes
    for C in (5.0, 20.0):
        warm, cold = solver.solve(make(C), start=first), solver.solve(make(C))
        assert warm.history[-1].passes < cold.history[-1].passes
        assert abs(warm.primal - cold.primal) <= 1e-4 * C


@each_problem
def test_a_checkpoint_resumes_at_the_same_point(make: Any, tmp_path: Path) -> None:
    path, whole = tmp_path / "fit.npz", FrankWolfe(tol=1e-4).solve(make(1e3))
    early = FrankWolfe(tol=1e-4, max_iter=1).solve(make(1e3), checkpoint=path)
    assert not early.converged
    dual = DualCodes(make(1e3))
    dual.load(Result.load(path).cuts.codes)
    assert dual.refresh() >= early.dual * (1.0 - 1e-9)
    resumed = FrankWolfe(tol=1e-4).solve(make(1e3), checkpoint=path)
    assert resumed.converged
    assert resumed.history[-1].passes < 1.5 * whole.history[-1].passes


@each_problem
def test_codes_of_other_examples_are_refused(make: Any) -> None:
    codes = FrankWolfe().solve(make()).cuts.codes
    for wrong in (evolve(codes, where=codes.where + 99), evolve(codes, example=codes.example + 1)):
        with pytest.raises(InputError, match="codes of other examples"):
            DualCodes(make()).load(wrong)


@each_problem
@pytest.mark.parametrize("other", [OneSlack, NSlack])
def test_other_solvers_go_on_from_it_and_it_from_them(make: Any, other: Any) -> None:
    coarse, fine = FrankWolfe(tol=0.03).solve(make()), other(tol=1e-4)
    cold, warm = fine.solve(make()), fine.solve(make(), start=coarse)
    assert warm.converged
    assert abs(warm.primal - cold.primal) <= 1e-4 * 10.0
    assert FrankWolfe(tol=1e-4).solve(make(), start=other(tol=0.03).solve(make())).converged


def test_argmaxes_are_counted_beyond_visits() -> None:
    rng = np.random.default_rng(0)
    visits, argmaxes = DualCodes(chains()).visit(0.0, rng)
    assert argmaxes == visits
    visits, argmaxes = DualCodes(classes()).visit(0.0, rng)
    assert visits < argmaxes <= 10 * visits


def test_extrapolation_saves_passes_where_examples_share_features(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    mixed = rng.standard_normal((6, 6)) * np.logspace(0, -1.5, 6)
    X = rng.standard_normal((300, 6)) @ mixed + 3.0
    problem = Problem.from_examples(X, rng.integers(0, 4, 300), loss="multiclass", C=1e3)
    result = FrankWolfe().solve(problem)
    monkeypatch.setattr(DualCodes, "_extrapolate", lambda self: None)
    slow = FrankWolfe().solve(problem)
    assert result.converged
    assert slow.converged
    assert max(result.dual, slow.dual) <= min(result.primal, slow.primal)
    assert result.history[-1].passes < 0.5 * slow.history[-1].passes


def test_codes_are_for_structures_with_compiled_argmaxes() -> None:
    assert suits_codes(chains())
    assert suits_codes(classes())
    assert not suits_codes(small_problem("map"))
    assert not suits_codes(small_problem("generic"))
    assert not suits_codes(classes().regularized(penalty=np.full(35, 2.0)))


def test_auto_leaves_steps_in_scores_when_they_crawl() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    problem = Problem.from_examples(X, rng.integers(0, 3, 400), loss="multiclass", C=1e7)
    result = Auto(tol=1e-4).solve(problem)
    assert result.converged
    assert result.solver_name != "frank-wolfe"
