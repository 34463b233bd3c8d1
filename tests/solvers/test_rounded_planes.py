"""FrankWolfe with planes in float32: bounds that hold, results for starts of other solvers, float64 if needed."""

import logging
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm.exceptions import InputError
from structsvm.problem import Problem
from structsvm.problem.planes import Capacity
from structsvm.problem.planes.capacity import fewest
from structsvm.result import Result, Status
from structsvm.solvers import FrankWolfe, NSlack, OneSlack, Solver
from tests.slow import slow
from tests.small_problems import KINDS, ranking_arrays, solved
from tests.solvers.test_optimum import assert_certified, assert_dual_point


def coarse(problem: Problem, tol: float = 1e-3, dtype: Any = np.float64, places: int = 5) -> FrankWolfe:
    """Return Frank-Wolfe with memory for some planes of that type, which is less than it would take for float64."""
    places = max(places, fewest(problem.n, problem.d))
    memory = Capacity(places, dtype).bytes_for(problem.n, problem.d, places)
    assert Capacity.within(problem.n, problem.d, memory).dtype is np.float32
    return FrankWolfe(tol=tol, memory=memory)


def ranking_of(C: float, size: float = 1.0, offset: float = 0.0) -> Problem:
    X, y, qid = ranking_arrays(0, queries=30, documents=8, d=6)
    return Problem.from_queries(size * X + offset, y, qid, loss="map", C=C)


def assert_proved(result: Result, reference: Result) -> None:
    assert result.status is Status.CONVERGED
    assert result.dual <= reference.primal * (1 + 1e-13)
    assert reference.dual <= result.primal * (1 + 1e-13)
    assert result.certified


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [30.0, *slow(0.1)])
def test_the_optimum(kind: str, C: float) -> None:
    problem, every, optimum = solved(kind, 3, C)
    result = coarse(problem, 1e-4).solve(problem)
    assert result.status is Status.CONVERGED
    assert_certified(result, every, optimum)
    assert_dual_point(result, problem.cap)


@settings(max_examples=25, deadline=None)
@given(
    C=st.sampled_from([1e-3, 1.0, 1e2, 1e4, 1e6]),
    size=st.sampled_from([1e-6, 1.0, 1e3]),
    offset=st.sampled_from([0.0, 1e3]),
    tol=st.sampled_from([1e-2, 1e-4, 1e-6]),
)
def test_the_lower_bound_holds_whatever_the_scale(C: float, size: float, offset: float, tol: float) -> None:
    """If rounding would take too much of the gap, planes are stored in float64."""
    problem = ranking_of(C, size, offset)
    reference = OneSlack(tol=1e-9, max_iter=3000).solve(problem)
    result = coarse(problem, tol).solve(problem, callback=lambda step: step.iteration >= 200)
    assert result.dual <= reference.primal * (1 + 1e-12)
    assert_dual_point(result, problem.cap)
    duals = [step.dual for step in result.history]
    assert duals == sorted(duals)


def test_rounded_planes_that_prove_nothing_are_dropped() -> None:
    problem = ranking_of(1e4, 1e6)
    result = coarse(problem, 1e-2).solve(problem, callback=lambda step: step.iteration >= 60)
    assert 0.0 < result.dual <= result.primal
    assert_dual_point(result, problem.cap)


@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_too_small_a_tol_leads_to_float64(tol: float, caplog: pytest.LogCaptureFixture) -> None:
    problem = ranking_of(100.0)
    with caplog.at_level(logging.INFO, "structsvm"):
        result = coarse(problem, tol).solve(problem)
    assert result.converged
    assert_dual_point(result, problem.cap)
    assert any("too few digits for tol=1e-09" in message for message in caplog.messages) == (tol == 1e-9)
    assert bool(result.cuts.error.any()) == (tol == 1e-3)


def test_too_little_memory_for_float64_is_told_where_it_is_needed() -> None:
    problem = ranking_of(100.0)
    places = fewest(problem.n, problem.d)
    solver = coarse(problem, 1e-9, np.float32, places)
    need = Capacity(places, np.float64).bytes_for(problem.n, problem.d, places)
    with pytest.raises(
        InputError,
        match=f"cannot store {places} planes of 6 .* float32 has too few digits for this tol: give it {need} bytes, or",
    ):
        solver.solve(problem)


@pytest.mark.parametrize("size", [1e39, 1e-50])
def test_features_beyond_the_range_of_float32(size: float) -> None:
    plain, scaled = ranking_of(10.0), ranking_of(10.0 / size**2, size)
    result = coarse(scaled, 1e-4).solve(scaled) if size > 1.0 else coarse(scaled).solve(scaled)
    if size > 1.0:
        assert result.converged
        assert result.primal * size**2 == pytest.approx(FrankWolfe(tol=1e-6).solve(plain).primal, rel=1e-3)
    assert result.dual <= result.primal


@cache
def nearly_exact(C: float) -> Result:
    return FrankWolfe(tol=1e-10).solve(ranking_of(C))


@pytest.mark.parametrize("other", [OneSlack(), NSlack(), FrankWolfe()], ids=lambda solver: solver.name)
@pytest.mark.parametrize("tol", [1e-3, 1e-8])
@pytest.mark.parametrize("Cs", [(0.1, 1e3), (1e3, 0.1), (1.0, 1.0)])
def test_a_path_of_C_through_rounded_planes(other: Solver, tol: float, Cs: tuple[float, float]) -> None:
    """Each solver starts from them, and they from each; if tol is too small, without rounded cuts."""
    result = None
    for C in (*Cs, *Cs):
        problem, reference = ranking_of(C), nearly_exact(C)
        rounded = coarse(problem).solve(problem, start=result)
        assert_proved(rounded, reference)
        assert_dual_point(rounded, problem.cap)
        result = evolve(other, tol=tol).solve(problem, start=rounded)  # type: ignore[call-arg]
        assert_proved(result, reference)
        assert_dual_point(result, problem.cap)
        if tol == 1e-3:
            assert result.history[0].dual == pytest.approx(rounded.dual, rel=1e-6)
        elif not isinstance(other, FrankWolfe):
            assert not result.cuts.error.any()


def test_rounded_cuts_are_saved_as_such(tmp_path: Path) -> None:
    problem = ranking_of(10.0)
    result = coarse(problem).solve(problem)
    assert result.cuts.error.all()
    result.save(tmp_path / "r.npz")
    np.testing.assert_array_equal(Result.load(tmp_path / "r.npz").cuts.error, result.cuts.error)


def test_a_converged_start_keeps_its_bounds() -> None:
    """Exact planes are loaded in float64 if float32 would lower their bound by a good part of the gap wanted."""
    rng = np.random.default_rng(0)
    X, y, qid = rng.standard_normal((40, 4)) * 1e3, rng.integers(0, 2, 40), np.arange(40) // 5
    problem = Problem.from_queries(X, y, qid, loss="map", C=1.0)
    exact = FrankWolfe(tol=1e-7).solve(problem)
    least = fewest(problem.n, problem.d)
    few = FrankWolfe(tol=1e-7, memory=Capacity(least, np.float64).bytes_for(problem.n, problem.d, least))
    for solver in (FrankWolfe(tol=1e-7), few):
        again = solver.solve(problem, start=exact)
        assert (again.primal, again.dual) == (exact.primal, exact.dual)
