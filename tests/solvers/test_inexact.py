"""Losses whose argmax is inexact: the dual is certain, the primal an estimate, and the result records that."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from structsvm import Problem, Ranker, StructuralSVM
from structsvm.exceptions import InputError, OracleError
from structsvm.foundation.types import Vector
from structsvm.losses import AveragePrecision, ChainHamming, ROCArea
from structsvm.losses.base import Examples
from structsvm.registry import solvers
from structsvm.result import Result, Status
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack
from tests.small_problems import Kronecker, ranking, ranking_arrays, small_problem, solved
from tests.solvers.test_optimum import assert_dual_point

SOLVERS = [OneSlack(), NSlack(), NSlack(batch=3), FrankWolfe(), Auto()]
each_solver = pytest.mark.parametrize("solver", SOLVERS, ids=repr)


def greedy(scores, labels, params, out):  # type: ignore[no-untyped-def]
    """Decode from left to right, each time the state that is best at that moment."""
    K, T = int(params[0]), len(labels)
    out[:] = 0.0
    wrong, before, true_before = 0.0, -1, -1
    for t in range(T):
        truth, best, state = int(labels[t]), -np.inf, 0
        for k in range(K):
            value = scores[t * K + k] + (1.0 / T if k != truth else 0.0)
            if t > 0:
                value += scores[(T + before) * K + k]
            if value > best:
                best, state = value, k
        wrong += state != truth
        out[t * K + truth] += 1.0
        out[t * K + state] -= 1.0
        if t > 0:
            out[(T + true_before) * K + truth] += 1.0
            out[(T + before) * K + state] -= 1.0
        before, true_before = state, truth
    return wrong / T


class GreedyKernel(ChainHamming):
    exact = False
    kernel = staticmethod(greedy)


class GreedyPython(ChainHamming):
    exact = False
    kernel = None

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        emissions, transitions = self.split(scores)
        truth = self.numbers(y)
        share = (np.arange(emissions.shape[1]) != truth[:, None]) / len(truth)
        path: list[int] = []
        for row in emissions + share:
            path.append(int(np.argmax(row + transitions[path[-1]] if path else row)))
        return np.array(self.states)[path]


class Somehow(ChainHamming):
    """The right output, any other, or the truth: as the scores have it."""

    exact = False
    kernel = None

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        chance = int(1e6 * abs(scores.sum()))
        if chance % 3 == 0:
            return super().loss_augmented_argmax(scores, y)
        return y if chance % 3 == 1 else list(self.outputs(y))[chance % len(self.states or ()) ** len(y)]


GREEDY = [GreedyKernel, GreedyPython]
each_greedy = pytest.mark.parametrize("loss", GREEDY)


def sequences(loss: Any, n: int = 40, seed: int = 0, C: float = 10.0) -> Problem:
    """Sequences in which a step tells more about a position than its features do."""
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for _ in range(n):
        y = np.cumsum(rng.random(rng.integers(2, 9)) < 0.8) % 3
        xs.append(0.5 * np.eye(3)[y] + rng.standard_normal((len(y), 3)))
        ys.append(y)
    return Problem.from_examples(xs, ys, loss=loss(range(3)), C=C)


def assert_honest(result: Result, exact: Problem, optimum: float) -> None:
    """The dual is below the optimum, the primal above the dual and, as it is an estimate, below the true one."""
    point = exact.at(result.w)
    assert not result.certified
    assert result.dual <= optimum * (1 + 1e-9)
    assert result.dual <= result.primal
    assert result.primal <= exact.primal(exact.planes(point), point) * (1 + 1e-9)
    assert [step.dual for step in result.history] == sorted(step.dual for step in result.history)
    assert all(step.gap >= 0.0 for step in result.history)
    assert_dual_point(result, exact.cap)


@pytest.fixture(scope="module")
def exact() -> tuple[Problem, Result]:
    problem = sequences(ChainHamming)
    return problem, FrankWolfe(tol=1e-6).solve(problem)


@each_solver
@each_greedy
def test_greedy_decoding_trains(loss: Any, solver: Any, exact: tuple[Problem, Result]) -> None:
    problem, best = exact
    result = solver.solve(sequences(loss))
    assert_honest(result, problem, best.primal)
    assert result.status is Status.ESTIMATED
    assert result.converged
    assert result.dual > 0.3 * best.primal


@each_greedy
def test_planes_of_single_examples_improve_the_lower_bound(loss: Any) -> None:
    one, each = (solver.solve(sequences(loss)).dual for solver in (OneSlack(), FrankWolfe()))
    assert each > one


def test_the_exact_problem_takes_over_and_hands_back(exact: tuple[Problem, Result]) -> None:
    problem, best = exact
    for solver in (OneSlack(), NSlack(), FrankWolfe()):
        rough = solver.solve(sequences(GreedyKernel))
        fine = solver.solve(problem, start=rough)
        assert fine.status is Status.CONVERGED
        assert fine.certified
        assert fine.dual <= best.primal
        assert_honest(solver.solve(sequences(GreedyKernel), start=fine), problem, best.primal)


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), C=st.sampled_from([0.1, 10.0, 1000.0]))
def test_an_argmax_of_any_kind_falsifies_no_lower_bound(seed: int, C: float) -> None:
    problem, _, optimum = solved("chain", seed % 7, C)
    ys = [np.array(problem.loss.states)[y] for y in small_labels(problem)]
    loose = Problem.make(Examples(Somehow(problem.loss.states), problem.operator, ys), C)
    for solver in SOLVERS:
        result = solver.solve(loose)
        assert_honest(result, problem, optimum * (1 + 1e-5))
        assert result.converged


def small_labels(problem: Problem) -> list[Any]:
    oracle: Any = problem.oracle
    return [part.astype(int) for part in np.split(oracle.labels, oracle.label_ptr[1:-1])]


class Worst(Kronecker):
    """A generic loss whose argmax finds nothing."""

    exact = False

    def loss_augmented_argmax(self, x: Vector, y: int, w: Vector) -> int:
        return int(np.argmin(self.costs[y] + w.reshape(3, -1) @ x))


@each_solver
def test_an_argmax_below_the_truth_counts_as_the_truth(solver: Any) -> None:
    """It never finds a violated output, so the weights stay 0, without an error."""
    rng = np.random.default_rng(0)
    problem = Problem.from_examples(list(rng.standard_normal((30, 3))), rng.integers(0, 3, 30).tolist(), loss=Worst())
    start = OneSlack(tol=0.05).solve(small_problem("generic", C=30.0))
    for result in (solver.solve(problem), solver.solve(problem, start=start)):
        assert result.status is Status.ESTIMATED
        assert result.dual == 0.0
        assert not result.certified


class Forgetful(ROCArea):
    """Finds the argmax at first and returns the truth later, and says that it may."""

    exact = False
    kernel = None
    check_before_fit = False
    asked = 0

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        type(self).asked += 1
        return super().loss_augmented_argmax(scores, y) if self.asked < 12 else y


@each_solver
def test_outputs_found_earlier_sharpen_the_estimate(solver: Any) -> None:
    """With an exact argmax a lower bound above the upper one is an error; here it is the better estimate."""
    Forgetful.asked = 0
    problem, _, optimum = solved("roc_area", 0, 1.0)
    result = solver.solve(ranking(Forgetful(), 0))
    assert_honest(result, problem, optimum * (1 + 1e-5))
    assert result.dual > 0.0
    assert result.status is Status.ESTIMATED


@each_greedy
def test_there_is_no_line_to_search(loss: Any) -> None:
    with pytest.raises(InputError, match=f"of {loss.__name__} is inexact .*: leave line_search out"):
        OneSlack(line_search=True).solve(sequences(loss))


def test_auto_keeps_the_planes_of_each_example() -> None:
    assert isinstance(Auto().choose(sequences(GreedyKernel, n=5)), FrankWolfe)
    assert isinstance(Auto(backend="highs").choose(sequences(ChainHamming, n=5)), OneSlack)
    assert isinstance(Auto(backend="highs").choose(sequences(GreedyKernel, n=5)), OneSlack)


def hollow(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[:] = np.nan
    return 0.5


def negative(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[:] = 1.0
    return -0.5


@each_solver
@pytest.mark.parametrize(("kernel", "message"), [(hollow, "contains NaN"), (negative, "a loss of -0.5")])
def test_invalid_planes_are_errors_if_the_argmax_is_inexact(solver: Any, kernel: Any, message: str) -> None:
    methods = {"kernel": staticmethod(kernel), "exact": False, "check_before_fit": False}
    mutant: Any = type("Mutant", (ChainHamming,), methods)
    with pytest.raises(OracleError, match=message):
        solver.solve(sequences(mutant))


def later(scores, labels, params, out):  # type: ignore[no-untyped-def]
    for k in range(len(scores)):
        out[k] = 0.1 if scores[k] == 0.0 else np.nan
    return 0.5


def test_a_nan_in_a_sweep_is_refused(solver_name: str) -> None:
    """At w = 0 the plane is finite: the compiled sweep is the first to see NaN."""
    methods = {"kernel": staticmethod(later), "exact": False, "check_before_fit": False}
    mutant: Any = type("Mutant", (ChainHamming,), methods)
    with pytest.raises(OracleError, match="contains NaN"):
        solvers.create(solver_name).solve(sequences(mutant))


@pytest.mark.parametrize("max_iter", [1, 10_000])
def test_a_result_says_that_its_primal_is_an_estimate(max_iter: int, tmp_path: Path) -> None:
    result = OneSlack(max_iter=max_iter).solve(sequences(GreedyKernel))
    assert "argmax is inexact" in result.message
    assert "primal" in result.message
    assert "certified=False" in repr(result)
    result.save(tmp_path / "r.npz")
    again = Result.load(tmp_path / "r.npz")
    assert (again.certified, again.status, again.message) == (False, result.status, result.message)
    exact = OneSlack(max_iter=max_iter).solve(sequences(ChainHamming))
    assert exact.message == exact.status.value


def test_estimators_warn_of_a_limit_with_an_estimate_and_of_nothing_else() -> None:
    rng = np.random.default_rng(0)
    xs = rng.standard_normal((30, 4, 2))
    ys = np.digitize(xs[:, :, 0], [-0.5, 0.5])
    with pytest.warns(ConvergenceWarning, match=r"argmax is inexact.*; P\(w\) is estimated to be within"):
        StructuralSVM(GreedyPython(), solver=OneSlack(max_iter=1), C=10.0).fit(xs, ys)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svm = StructuralSVM(GreedyPython(), C=10.0).fit(xs, ys)
    assert svm.result_.status is Status.ESTIMATED


@frozen
class Rough(AveragePrecision):
    """The prediction, as if there were no loss."""

    exact = False
    kernel = None

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        return scores


def test_rankers_take_inexact_losses() -> None:
    X, y, qid = ranking_arrays(0, queries=20)
    ranker = Ranker(Rough(), C=10.0).fit(X, y, qid=qid)
    exact = Ranker("map", C=10.0, tol=1e-5).fit(X, y, qid=qid)
    assert ranker.result_.status is Status.ESTIMATED
    assert 0.0 < ranker.result_.dual <= exact.result_.primal
