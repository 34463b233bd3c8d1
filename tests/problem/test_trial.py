"""Checks of a user's loss before a fit."""

import time
from types import FunctionType
from typing import Any

import numba
import numpy as np
import pytest

from structsvm.exceptions import InputError, OracleError
from structsvm.foundation.types import Vector
from structsvm.losses import Loss, ROCArea, ScoreLoss
from structsvm.problem import Problem
from structsvm.problem.checking import trial as trials
from structsvm.problem.checking.trial import trial
from structsvm.problem.program import plain_function
from structsvm.solvers import FrankWolfe, OneSlack
from tests.small_problems import Kronecker, ranking_arrays

X, Y, QID = ranking_arrays(0)
ROC = plain_function(ROCArea.kernel)


def made(kernel: Any, **methods: Any) -> Any:
    return type("Mine", (ROCArea,), {"kernel": staticmethod(kernel), **methods})()


def beyond(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[:] = 0.0
    out[len(out)] = 1.0
    return 0.0


@numba.njit
def reads_beyond(scores):  # type: ignore[no-untyped-def]
    return scores[len(scores) + 1]


@numba.extending.register_jitable
def part_reads_beyond(scores):  # type: ignore[no-untyped-def]
    return scores[len(scores) + 2]


def calls_beyond(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[:] = 0.0
    return reads_beyond(scores)


def calls_part_beyond(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[:] = 0.0
    return part_reads_beyond(scores)


def endless(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[:] = 0.0
    k = 0
    while k < len(scores):
        k += 0
    return 0.0


def vandal(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[:] = 0.0
    labels[0] = 3.0
    return 0.0


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (beyond, "reads or writes beyond its vectors: index 4 is out of bounds"),
        (calls_beyond, "reads or writes beyond its vectors: index 5 is out of bounds"),
        (calls_part_beyond, "reads or writes beyond its vectors: index 6 is out of bounds"),
        (endless, "did not end within 0 seconds of computing: it is in an endless loop"),
        (vandal, "changed the scores, labels or params"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_kernel_is_tried_before_it_is_compiled(kernel: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "_LIMIT", 0.3)
    with pytest.raises(InputError) as caught:
        Problem.from_queries(X, Y, QID, loss=made(kernel), C=1.0)
    said = str(caught.value)
    assert said.startswith(f"Mine.kernel {words}")
    assert "tried on example 0. Run structsvm.testing.check_loss" in said


def test_long_queries_are_cut_down_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow kernel ends on a few documents, an endless one does not."""
    monkeypatch.setattr(trials, "_LIMIT", 0.3)
    many = np.tile(Y, 40)
    rows = np.random.default_rng(0).standard_normal((len(many), 2))
    with pytest.raises(InputError, match="endless loop, tried on some documents of example 0"):
        Problem.from_queries(rows, many, loss=made(endless), C=1.0)


def test_what_takes_long_on_many_scores_is_tried_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "_ENOUGH", 0.05)
    began = time.thread_time()
    assert trial(made(endless), np.zeros(101), np.zeros(101), np.zeros(0)) == ""
    assert time.thread_time() - began < 2.0


def test_it_is_tried_once_and_shipped_losses_never(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(trials, "trial", lambda kernel, *_: seen.append(kernel) or "")
    loss = made(ROC)
    for _ in range(2):
        Problem.from_queries(X, Y, QID, loss=loss, C=1.0)
    assert len(set(seen)) == 1
    tried = len(seen)
    Problem.from_queries(X, Y, QID, loss="map", C=1.0)
    Problem.from_queries(X, Y, QID, loss=loss, C=2.0)
    assert len(seen) == tried


def raises(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[:] = 0.0
    if labels[1] > 2.0:
        raise ValueError("too large")
    return 0.5


@pytest.mark.parametrize("solver", [OneSlack(), FrankWolfe()], ids=["one-slack", "frank-wolfe"])
def test_a_kernel_that_raises_is_told_with_the_example(solver: Any) -> None:
    labels = Y.copy()
    labels[2 * 4 + 1] = 3.0
    problem = Problem.from_queries(
        X, labels, QID, loss=made(raises, labels=lambda self, y: y, check_before_fit=False), C=1.0
    )
    with pytest.raises(InputError, match=r"Mine.kernel raised ValueError: too large. It was called for example 2. Run"):
        solver.solve(problem)


@pytest.mark.parametrize("kernel", [None, staticmethod(ROC)], ids=["python", "kernel"])
def test_a_truth_with_a_loss_is_told(kernel: Any) -> None:
    def loss(self: Any, y: Vector, y_hat: Vector) -> float:
        return ROCArea.loss(self, y, y_hat) + 0.1 * (y.sum() > 2)

    labels = np.where(QID == 3, [1.0, 1.0, 1.0, 0.0] * 5, [1.0, 0.0, 0.0, 1.0] * 5)
    mine = type("Mine", (ROCArea,), {"kernel": kernel, "loss": loss})()
    with pytest.raises(InputError, match=r"Mine.loss returned 0.1 for the true output of example 3: Δ\(y, y\)"):
        Problem.from_queries(X, labels, QID, loss=mine, C=1.0)


class Fails(Exception):
    """An error of the author's own."""


def fit_or_predict(loss: Loss[Any, Any], xs: Any, method: str) -> Any:
    if method == "argmax":
        return loss.predict(xs, np.zeros(9))
    return OneSlack().solve(Problem.from_examples(xs, [0, 1, 2, 0], loss=loss, C=1.0))


@pytest.mark.parametrize("method", ["joint_feature", "argmax", "loss_augmented_argmax", "loss"])
def test_a_generic_method_that_raises_is_named_with_its_example(method: str) -> None:
    right = getattr(Kronecker, method)

    def wrong(self: Any, *arguments: Any) -> Any:
        if any(np.ndim(part) == 1 and len(part) == 3 and part[0] > 10.0 for part in arguments) or method == "loss":
            raise Fails("oops")
        return right(self, *arguments)

    xs = list(X[:4])
    xs[0 if method == "joint_feature" else 2] = np.array([20.0, 0.0, 0.0])
    mine: Loss[Any, Any] = type("Mine", (Kronecker,), {method: wrong})()
    where = 2 if "argmax" in method else 0
    with pytest.raises(InputError, match=rf"Mine.{method} raised Fails: oops. It was called for example {where}. Run"):
        fit_or_predict(mine, xs, method)


def test_an_argmax_of_scores_that_raises_is_named_with_its_example() -> None:
    def argmax(self: Any, scores: Vector) -> Vector:
        if scores[0] > 10.0:
            raise Fails("oops")
        return scores

    mine: ScoreLoss[Any] = type("Mine", (ROCArea,), {"argmax": argmax})()
    with pytest.raises(InputError, match=r"Mine.argmax raised Fails: oops. It was called for example 1. Run"):
        mine.predict([np.zeros((2, 1)), np.full((2, 1), 20.0)], np.ones(1))


def test_what_a_kernel_calls_of_others_is_not_ended_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    class Slow:
        def __len__(self) -> int:
            end = time.thread_time() + 0.05
            while time.thread_time() < end:
                pass
            ended.append(True)
            return 1

    def kernel(scores: Any, labels: Any, params: Any, out: Any) -> float:
        while True:
            len(slow)

    slow = Slow()
    elsewhere = FunctionType(Slow.__len__.__code__, {"time": time}, closure=Slow.__len__.__closure__)
    monkeypatch.setattr(Slow, "__len__", elsewhere)
    monkeypatch.setattr(trials, "_LIMIT", 0.01)
    assert "did not end" in trial(made(kernel), np.zeros(3), np.zeros(3), np.zeros(1))
    assert ended == [True]


def route(scores, labels, params, out):  # type: ignore[no-untyped-def]
    """Choose an entry of an assignment; the loss is a difference of prices, in another order than the true price."""
    best, value = 0, -np.inf
    for k in range(len(scores)):
        if scores[k] + params[k] > value:
            best, value = k, scores[k] + params[k]
    truth = 0
    for k in range(len(scores)):
        out[k] = labels[k]
        if labels[k] > 0.0:
            truth = k
    out[best] -= 1.0
    return (params[best] + params[-1]) - params[truth] - params[-1]


class Assignments(ScoreLoss[Vector]):
    """An output marks one of its scores; prices depend on their number."""

    kernel = staticmethod(route)
    scores_rows = False
    offset = 0.0

    def labels(self, y: Vector) -> Vector:
        return np.array([y[k] for k in range(21)])

    def params(self, ys: Any) -> Vector:
        return np.append(0.3 + 0.1 * np.arange(len(ys[0])), [0.6])

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        return y_hat

    def loss(self, y: Vector, y_hat: Vector) -> float:
        price, wrong = self.params([y]), bool((y != y_hat).any())
        return float((price[:-1] @ y_hat + price[-1]) - price[:-1] @ y - price[-1]) + self.offset * wrong

    def argmax(self, scores: Vector) -> Vector:
        return np.eye(len(scores))[np.argmax(scores)]

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        return self.argmax(scores + self.params([y])[:-1])


class PlainAssignments(Assignments):
    kernel = None


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("kind", [Assignments, PlainAssignments])
@pytest.mark.parametrize("solver", [OneSlack(), FrankWolfe()], ids=["one-slack", "frank-wolfe"])
def test_an_output_as_long_as_its_scores_is_no_query_and_rounding_is_no_negative_loss(
    kind: Any, solver: Any, check: bool
) -> None:
    rng = np.random.default_rng(0)
    # At the optimum, the true output is the argmax, and its loss is −1.1e-16.
    xs, ys = list(np.eye(21)[:, :1] + 0.1 * rng.standard_normal((8, 21, 1))), [np.eye(21)[0]] * 8
    loss = type("Mine", (kind,), {"check_before_fit": check})()
    assert solver.solve(Problem.from_examples(xs, ys, loss=loss, C=10.0)).converged


@pytest.mark.parametrize("solver", [OneSlack(), FrankWolfe()], ids=["one-slack", "frank-wolfe"])
def test_a_negative_loss_is_an_error(solver: Any) -> None:
    rng = np.random.default_rng(0)
    xs, ys = list(rng.standard_normal((8, 21, 3))), [np.eye(21)[0]] * 8
    loss = type("Mine", (PlainAssignments,), {"check_before_fit": False, "offset": -2.0 - 1e-6})()
    with pytest.raises(OracleError, match="a loss must be finite and at least 0"):
        solver.solve(Problem.from_examples(xs, ys, loss=loss, C=1000.0))


def writes_some(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[1:] = 0.0
    return 0.0


def test_a_kernel_that_keeps_an_element_of_out_is_an_error() -> None:
    with pytest.raises(InputError, match=r"Mine.kernel did not set out\[0\]: it must write every element"):
        Problem.from_queries(X, Y, QID, loss=made(writes_some, check_before_fit=False))
