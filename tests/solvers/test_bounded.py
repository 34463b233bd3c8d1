"""Losses whose approximate argmax returns bounds: both bounds are true, and results tell the part of inference."""

from typing import Any, ClassVar

import numpy as np
import pytest
from numba.extending import register_jitable

from structsvm import Problem, StructuralSVM
from structsvm.exceptions import CheckError, InputError, OracleError
from structsvm.foundation.types import Vector
from structsvm.losses import Bounded, ChainHamming, Loss
from structsvm.losses.base import ScoreLoss
from structsvm.problem.part import part_alone
from structsvm.result import Result, Status
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack
from structsvm.testing import check_loss
from tests.solvers.test_inexact import GreedyPython, greedy, sequences

SOLVERS = [OneSlack(), OneSlack(line_search=False), NSlack(), FrankWolfe(), Auto()]
each_solver = pytest.mark.parametrize("solver", SOLVERS, ids=repr)


def bound_of(loss: ChainHamming, scores: Vector, y: Any) -> float:
    """Sum the best score of each position and of each step: an upper bound, since steps need not fit together."""
    emissions, transitions = loss.split(scores)
    truth = loss.numbers(y)
    share = (np.arange(emissions.shape[1]) != truth[:, None]) / len(truth)
    return float((emissions + share).max(axis=1).sum() + (len(truth) - 1) * transitions.max())


decode = register_jitable(greedy)


def bounded_greedy(scores, labels, params, out):  # type: ignore[no-untyped-def]
    K, T = int(params[0]), len(labels)
    loss = decode(scores, labels, params, out[: len(scores)])
    bound, step = 0.0, -np.inf
    for k in range(K * K):
        step = max(step, scores[T * K + k])
    for t in range(T):
        best = -np.inf
        for k in range(K):
            best = max(best, scores[t * K + k] + (1.0 / T if k != int(labels[t]) else 0.0))
        bound += best
    value = loss
    for k in range(len(scores)):
        value -= out[k] * scores[k]
    for t in range(T):
        value += scores[t * K + int(labels[t])]
        if t > 0:
            value += scores[(T + int(labels[t - 1])) * K + int(labels[t])]
    out[len(scores)] = bound + (T - 1) * step - value
    return loss


class BoundedKernel(ChainHamming):
    exact = False
    bounded = True
    kernel = staticmethod(bounded_greedy)

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        return Bounded(GreedyPython.loss_augmented_argmax(self, scores, y), bound_of(self, scores, y))  # type: ignore[arg-type]


class BoundedPython(BoundedKernel):
    kernel = None


class Tight(BoundedPython):
    """The maximum is known, but a worse output is returned in one of three cases."""

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        best = ChainHamming.loss_augmented_argmax(self, scores, y)
        value = self.loss(y, best) + float(scores @ self.encode(best, y))
        return Bounded(best if int(1e6 * abs(scores.sum())) % 3 else y, value)


class TooLow(BoundedPython):
    """The bound is the value of the output found, which is the truth in one of three cases."""

    check_before_fit = False

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        best = ChainHamming.loss_augmented_argmax(self, scores, y)
        output = best if int(1e6 * abs(scores.sum())) % 3 else y
        return Bounded(output, self.loss(y, output) + float(scores @ self.encode(output, y)))


@pytest.fixture(scope="module")
def exact() -> tuple[Problem, Result]:
    problem = sequences(ChainHamming)
    return problem, FrankWolfe(tol=1e-6).solve(problem)


def gap_of_inference(problem: Problem, result: Result) -> float:
    point = problem.at(result.w)
    return problem.inference_gap(problem.planes(point))


@each_solver
@pytest.mark.parametrize("loss", [BoundedKernel, BoundedPython, Tight])
def test_both_bounds_are_true(loss: Any, solver: Any, exact: tuple[Problem, Result]) -> None:
    (plain, best), problem = exact, sequences(loss)
    result = solver.solve(problem)
    point = plain.at(result.w)
    assert result.certified
    assert result.dual <= best.primal * (1 + 1e-9)
    assert result.primal >= plain.primal(plain.planes(point), point) * (1 - 1e-9)
    inference = min(gap_of_inference(problem, result), result.gap)
    assert result.inference_gap == pytest.approx(inference, abs=1e-9)
    assert result.status in {Status.CONVERGED, Status.INFERENCE_LIMIT, Status.STALLED}
    if result.status is Status.INFERENCE_LIMIT:
        assert not result.converged
        assert result.gap - result.inference_gap <= result.tol * result.C
        assert "more accurate argmax" in result.message


def test_the_bound_of_an_exact_argmax_leaves_nothing(exact: tuple[Problem, Result]) -> None:
    class Exact(BoundedPython):
        def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
            best = ChainHamming.loss_augmented_argmax(self, scores, y)
            return Bounded(best, self.loss(y, best) + float(scores @ self.encode(best, y)))

    result = OneSlack().solve(sequences(Exact))
    assert result.status is Status.CONVERGED
    assert result.inference_gap <= 1e-9
    assert abs(result.primal - exact[1].primal) <= result.tol * result.C


@pytest.mark.parametrize("solver", [OneSlack(), NSlack(), FrankWolfe()], ids=repr)
def test_a_bound_below_an_output_found_earlier_is_an_error(solver: Any) -> None:
    problem = sequences(TooLow, n=60)
    with pytest.raises(OracleError, match=r"wrong bound|lower bound"):
        solver.solve(problem)


@pytest.mark.parametrize(("excess", "said"), [(-0.5, "0.5 below the value of an output"), (np.nan, "nan")])
def test_a_bound_below_its_own_output_is_an_error(excess: float, said: str) -> None:
    class Low(BoundedPython):
        check_before_fit: ClassVar[bool] = False

        def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
            output = ChainHamming.loss_augmented_argmax(self, scores, y)
            return Bounded(output, self.loss(y, output) + float(scores @ self.encode(output, y)) + excess)

    with pytest.raises(OracleError, match=f"a bound for example 0 that is {said}"):
        OneSlack().solve(sequences(Low))


@pytest.mark.parametrize("bounded", [True, False])
def test_outputs_and_the_class_must_agree_about_bounds(bounded: bool) -> None:
    class Mixed(GreedyPython):
        check_before_fit: ClassVar[bool] = False

        def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
            result = super().loss_augmented_argmax(scores, y)
            return result if bounded else Bounded(result, 1.0)

    Mixed.bounded = bounded
    said = r"return Bounded\(output, bound\)" if bounded else "set bounded = True"
    with pytest.raises(InputError, match=f"bounded = {bounded} in the class: {said}"):
        OneSlack().solve(sequences(Mixed))


@pytest.mark.parametrize("loss", [BoundedKernel, BoundedPython, Tight])
def test_check_loss_accepts_true_bounds(loss: Any) -> None:
    check_loss(loss(range(3)), [np.array([0, 1, 2]), np.array([1, 1])])


outputs_and_bounds = register_jitable(bounded_greedy)


def generous(scores, labels, params, out):  # type: ignore[no-untyped-def]
    loss = outputs_and_bounds(scores, labels, params, out)
    out[len(scores)] *= 0.2
    return loss


class TooLowKernel(BoundedKernel):
    kernel = staticmethod(generous)


@pytest.mark.parametrize(("loss", "said"), [(TooLow, "returned a bound of"), (TooLowKernel, r"plus out\[-1\]")])
def test_check_loss_finds_bounds_that_are_too_low(loss: Any, said: str) -> None:
    with pytest.raises(CheckError, match=said):
        check_loss(loss(range(3)), [np.array([0, 1, 2]), np.array([1, 1, 0])])


class Intervals(Loss[Any, int]):
    """A generic loss over ten outputs, whose argmax searches the even ones and bounds the odd ones."""

    exact = False
    bounded = True

    def joint_feature(self, x: Any, y: int) -> Vector:
        return np.asarray(x, dtype=np.float64) * np.eye(10)[y]

    def loss(self, y: int, y_hat: int) -> float:
        return float(y != y_hat)

    def _value(self, x: Any, y: int, w: Vector, y_hat: int) -> float:
        return self.loss(y, y_hat) + float(w @ self.joint_feature(x, y_hat))

    def loss_augmented_argmax(self, x: Any, y: int, w: Vector) -> Any:
        best = max([y, *range(0, 10, 2)], key=lambda each: self._value(x, y, w, each))
        return Bounded(best, max(self._value(x, y, w, each) for each in range(10)))

    def argmax(self, x: Any, w: Vector) -> int:
        return int(np.argmax(np.asarray(x) * w))


def test_generic_losses_have_bounds_too() -> None:
    rng = np.random.default_rng(0)
    ys = rng.integers(0, 10, 50).tolist()
    xs = [np.eye(10)[y] + 0.3 * rng.standard_normal(10) for y in ys]
    with pytest.warns(match="inference: "):
        model = StructuralSVM(Intervals(), C=10.0).fit(xs, ys)
    assert model.result_.status is Status.INFERENCE_LIMIT
    assert 0.0 < model.result_.inference_gap <= model.result_.gap + 1e-9


def test_distributed_problems_refuse_bounds() -> None:
    loss: ScoreLoss[Any] = BoundedKernel(range(3))
    with pytest.raises(InputError, match="returns bounds, which distributed problems do not support"):
        part_alone(loss.examples([np.eye(3)], [[0, 1, 2]]))
