"""FrankWolfe alone: memory, wrong argmaxes by name, examples without weight, interruptions between any two lines."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from structsvm.exceptions import InputError, OracleError
from structsvm.losses import ROCArea
from structsvm.problem import Problem
from structsvm.problem.planes import dual as dual_module
from structsvm.problem.planes.capacity import bytes_of_planes, fewest, places_within
from structsvm.result import Status
from structsvm.solvers import FrankWolfe, OneSlack
from structsvm.solvers import frank_wolfe as frank_wolfe_module
from structsvm.solvers import state as state_module
from tests.campaign.cases import case
from tests.slow import slow
from tests.small_problems import KINDS, PlainROCArea, ranking, ranking_arrays, small_problem, solved
from tests.solvers.test_optimum import assert_certified, assert_dual_point
from tests.solvers.test_stopping import Forgetful, solve_interrupted

each_kind = pytest.mark.parametrize("kind", KINDS)


def bytes_for(problem: Problem, planes: int) -> int:
    return bytes_of_planes(problem.n, problem.d, planes)


@each_kind
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("C", [0.1, 30.0])
@pytest.mark.parametrize("settings", [{}, {"cache_sweeps": 0}, *slow({"random_state": 7})], ids=str)
def test_the_optimum(kind: str, weighted: bool, C: float, settings: dict[str, int]) -> None:
    problem, every, optimum = solved(kind, 3, C, weighted)
    tol = 1e-5 if settings.get("cache_sweeps") != 0 else 1e-3
    result = FrankWolfe(tol=tol, **settings).solve(problem)  # type: ignore[arg-type]
    assert result.status is Status.CONVERGED
    assert_certified(result, every, optimum)
    assert_dual_point(result, problem.cap)
    assert result.primal <= optimum + tol * C + 1e-7


def joint_cuts(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Return the limits of the numbers of cuts in joint steps of a fit."""
    given: set[int] = set()
    monkeypatch.setattr(frank_wolfe_module, "improve_jointly", lambda dual, enough, cuts: given.add(cuts))
    FrankWolfe(tol=1e-9, max_iter=15).solve(problem)
    return given


@pytest.mark.slow
def test_joint_steps_have_fewer_cuts_if_planes_are_larger_than_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planes of sparse words with 26 states have more numbers than all features; planes of queries have fewer."""
    rng = np.random.default_rng(0)
    words = [sp.random_array((5, 60), density=0.05, random_state=rng, format="csr") for _ in range(40)]
    labels = [rng.integers(26, size=5) for _ in words]
    wide = Problem.from_examples(words, labels, loss="chain_hamming", C=300.0)
    # With a center, Frank-Wolfe stores planes.
    wide = wide.regularized(center=np.zeros(wide.d))
    assert joint_cuts(wide, monkeypatch) == {10}
    long_queries = Problem.from_queries(*ranking_arrays(2, 40, 100), loss="map", C=1e4)
    assert joint_cuts(long_queries, monkeypatch) == {100}


@pytest.mark.parametrize("kind", ["map", "plain", "multiclass"])
@pytest.mark.parametrize("C", [1.0, 30.0])
def test_the_fewest_planes_an_example_are_enough(kind: str, C: float) -> None:
    """Planes with weight are merged, which leaves the dual as it is, so that it still converges."""
    problem, every, optimum = solved(kind, 2, C)
    n, d = problem.n, problem.d
    memory = bytes_of_planes(n, d, fewest(n, d))
    result = FrankWolfe(tol=1e-6, memory=memory).solve(problem)
    assert result.converged
    assert max(step.cuts for step in result.history) <= places_within(n, d, memory) * n
    assert_certified(result, every, optimum)
    assert_dual_point(result, problem.cap)


def test_memory_for_fewer_planes_is_refused() -> None:
    problem = small_problem("map")
    need = bytes_for(problem, 5)
    with pytest.raises(InputError, match=rf"cannot store 5 planes of 3 numbers for .* 5 .*give it {need} bytes"):
        FrankWolfe(memory=need - 1).solve(problem)


class Watched(PlainROCArea):
    """Records the labels of the examples whose argmax is called."""

    def __init__(self) -> None:
        self.asked: set[bytes] = set()

    def loss_augmented_argmax(self, scores: Any, y: Any) -> Any:
        self.asked.add(y.tobytes())
        return super().loss_augmented_argmax(scores, y)


@pytest.mark.parametrize("tol", [1e-3, 1e-18])
def test_examples_without_weight_are_never_visited(tol: float) -> None:
    X, y, qid = ranking_arrays(0, queries=6, documents=6)
    y[qid == 4] = 0.0  # left out
    weights = np.where(qid == 2, 0.0, 1.0)
    y[qid == 2], y[qid != 2] = np.array([2.0, 3.0, 0.0, 0.0, 0.0, 0.0]), np.minimum(y[qid != 2], 1.0)
    loss = Watched()
    result = FrankWolfe(tol=tol).solve(Problem.from_queries(X, y, qid, loss=loss, C=10.0, sample_weight=weights))
    assert not {y[qid == 2].tobytes(), y[qid == 4].tobytes()} & loss.asked
    assert set(result.cuts.group) <= {0, 1, 3, 5}


@pytest.mark.parametrize("good", [9, 13])
def test_it_names_the_example_whose_earlier_output_was_better(good: int) -> None:
    with pytest.raises(
        OracleError,
        match=r"Forgetful.loss_augmented_argmax returned a wrong output for example \d.* has a larger Δ \+ w·Ψ",
    ):
        FrankWolfe(tol=1e-6).solve(ranking(Forgetful(good), 0, C=1.0))


@pytest.mark.parametrize("wrong", range(8))
def test_the_example_that_is_named_is_the_wrong_one(wrong: int) -> None:
    """One query in eight has labels of 2, for which the argmax forgets its first result."""

    class Sometimes(Forgetful):
        def loss_augmented_argmax(self, scores: Any, y: Any) -> Any:
            return (super() if y.max() == 2 else self.inner).loss_augmented_argmax(scores, y)

    X, y, qid = ranking_arrays(1, queries=8)
    y[qid == wrong] *= 2
    with pytest.raises(OracleError, match=f"for example {wrong}: an output found earlier has a larger"):
        FrankWolfe(tol=1e-6).solve(Problem.from_queries(X, y, qid, loss=Sometimes(3), C=10.0))


def lazy(scores, labels, params, out):  # type: ignore[no-untyped-def]
    """Swap the right pairs of the first relevant document only, where some score is far from 0."""
    scale = 2.0 / ((labels > 0).sum() * (labels <= 0).sum())
    far = np.abs(scores).max() > 0.3
    out[:] = 0.0
    loss = 0.0
    for i in range(len(scores)):
        if labels[i] > 0:
            for j in range(len(scores)):
                if labels[j] <= 0 and scores[i] - scores[j] < 0.5:
                    out[i] += scale
                    out[j] -= scale
                    loss += 0.5 * scale
            if far:
                return loss
    return loss


def test_a_wrong_kernel_is_named_too() -> None:
    mutant = type("Lazy", (ROCArea,), {"kernel": staticmethod(lazy), "check_before_fit": False})
    with pytest.raises(
        OracleError, match=r"Lazy.loss_augmented_argmax returned a wrong output for example \d+.* has a larger Δ \+ w·Ψ"
    ):
        FrankWolfe(tol=1e-6).solve(ranking(mutant(), 0, C=100.0, documents=8, queries=12))


def hollow(scores, labels, params, out):  # type: ignore[no-untyped-def]
    """Be right at w = 0, and write NaN elsewhere."""
    out[:] = np.where(scores == 0.0, 0.0, np.nan)
    return 1.0


def test_a_kernel_that_writes_nan_is_refused() -> None:
    mutant = type("Hollow", (ROCArea,), {"kernel": staticmethod(hollow), "check_before_fit": False})
    start = OneSlack().solve(ranking("roc_area", 0))
    with pytest.raises(OracleError, match=r"Hollow: .* example \d contains NaN"):
        FrankWolfe().solve(ranking(mutant(), 0), start=start)


WATCHED = {
    function.__code__
    for owner in (dual_module.DualPlanes, frank_wolfe_module.FrankWolfe, state_module.SolverState, Problem)
    for function in vars(owner).values()
    if hasattr(function, "__code__")
} - {state_module.SolverState.result.__code__, dual_module.DualPlanes.cuts.__code__, FrankWolfe.solve.__code__}


@pytest.mark.parametrize("kind", ["map", "plain"])
@pytest.mark.parametrize("line", range(1, 440, 30))
def test_ctrl_c_between_any_two_lines_leaves_true_bounds(line: int, kind: str) -> None:
    problem, every, optimum = solved(kind, 1, 100.0)
    result = solve_interrupted(FrankWolfe(tol=1e-6, memory=bytes_for(problem, 6)), problem, line, WATCHED)
    assert result.status is Status.INTERRUPTED
    assert result.dual <= optimum + 1e-7 * (1 + optimum)
    assert result.primal == pytest.approx(every.primal(result.w), rel=1e-9)
    assert_dual_point(result, problem.cap)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"multiclass"}))  # all of whose classes are argmaxes at w = 0
def test_better_weights_than_a_start_within_tol_are_kept(kind: str) -> None:
    problem = small_problem(kind, 3, 1e-3)
    at_zero = problem.primal(problem.planes(problem.origin()), problem.origin())
    result = FrankWolfe(tol=0.9 * at_zero / problem.C).solve(problem)
    assert result.status is Status.CONVERGED
    assert result.primal < at_zero
    longer = FrankWolfe(tol=result.tol).solve(problem.with_C(2e-3), start=result)
    assert longer.status is Status.CONVERGED
    assert np.linalg.norm(longer.w) > 1.5 * np.linalg.norm(result.w)


def test_a_start_with_more_planes_than_there_are_places() -> None:
    """Planes with weight are merged, the rest is dropped."""
    problem, every, optimum = solved("map", 2, 30.0)
    start = FrankWolfe(tol=1e-7).solve(problem)
    again = FrankWolfe(tol=1e-4, memory=bytes_for(problem, fewest(problem.n, problem.d))).solve(problem, start=start)
    assert_certified(again, every, optimum)
    assert start.dual - 1e-6 * start.dual <= again.history[0].dual <= start.dual


@pytest.mark.parametrize("seed", [0, 1])
def test_slow_convergence_is_logged_and_planes_move_jointly(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    """One step per example and pass would need more than 10,000 passes."""
    problem = ranking("f1", seed, C=500.0, queries=8, documents=5)
    result = FrankWolfe(tol=1e-6, cache_sweeps=0, max_iter=100).solve(problem)
    assert result.converged
    assert 60 < result.history[-1].iteration < 80
    (said,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert "not converged after 60 passes" in said.message
    assert "OneSlack or NSlack" in said.message
    assert result.dual == pytest.approx(OneSlack(tol=1e-7).solve(problem).primal, abs=1e-6 * problem.C)


def test_fast_convergence_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert FrankWolfe(tol=1e-4).solve(ranking("f1", 0, C=5.0, queries=8, documents=5)).converged
    assert not caplog.records


def test_sweeps_that_meet_a_small_gap_by_chance_do_not_let_it_crawl() -> None:
    """Two examples move the weights to and fro: the last sweep's gap is small, the gap of all planes is not."""
    problem = case(106).problem
    result = FrankWolfe(tol=1e-4, random_state=4, memory=bytes_for(problem, 4)).solve(
        problem, callback=lambda step: step.iteration >= 150
    )
    assert result.converged
