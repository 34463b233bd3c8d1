"""Slack rescaling against enumeration, and its optimum against a QP over all outputs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm import Problem
from structsvm.exceptions import CheckError, InputError
from structsvm.foundation.types import Vector
from structsvm.losses import ChainHamming, Loss, Multiclass, ROCArea, SlackRescaled, SwappedPairs, ZeroOne
from structsvm.solvers import FrankWolfe, NSlack, OneSlack
from structsvm.testing import check_loss
from tests.losses.exhaustive import exhaustive_objective
from tests.small_problems import Kronecker, score_vectors

SOLVERS = [OneSlack(tol=1e-6), NSlack(tol=1e-6), FrankWolfe(tol=1e-6)]
COSTS = np.array([[0.0, 1.0, 4.0], [0.5, 0.0, 1.0], [2.0, 0.0, 0.0]])


class Enumerated(Kronecker):
    """A generic loss whose argmax with a rescaled slack is an enumeration."""

    def slack_rescaled_argmax(self, x: Vector, y: int, w: Vector) -> int:
        scores = w.reshape(3, -1) @ x
        return int(np.argmax(self.costs[y] * (1.0 + scores - scores[y])))


class EnumeratedChain(ChainHamming):
    """Sequences, by enumeration."""

    def slack_rescaled_argmax(self, scores: Vector, y: Any) -> Any:
        truth = scores @ self.encode(y, y)
        return max(self.outputs(y), key=lambda each: self.loss(y, each) * (1 + scores @ self.encode(each, y) - truth))


@st.composite
def examples(draw: st.DrawFn) -> tuple[Any, Any, Vector]:
    kind = draw(st.sampled_from(["roc", "pairs", "classes", "signs"]))
    if kind == "classes":
        return Multiclass(range(3), COSTS), draw(st.integers(0, 2)), draw(score_vectors(3))
    if kind == "signs":
        return ZeroOne(), draw(st.sampled_from([-1.0, 1.0])), draw(score_vectors(1))
    n = draw(st.integers(2, 5 if kind == "roc" else 4))
    y = np.array(draw(st.lists(st.integers(0, 1 if kind == "roc" else 2), min_size=n, max_size=n)), dtype=float)
    y[:2] = 0.0, 1.0
    return (ROCArea() if kind == "roc" else SwappedPairs()), y, draw(score_vectors(n))


@given(example=examples())
def test_the_argmax_is_that_of_the_definition(example: tuple[Any, Any, Vector]) -> None:
    loss, y, scores = example
    truth = scores @ loss.encode(y, y)

    def value(y_hat: Any) -> float:
        return float(loss.loss(y, y_hat) * (1.0 + scores @ loss.encode(y_hat, y) - truth))

    best = max(map(value, loss.outputs(y)))
    rescaled = SlackRescaled(loss)
    y_hat = rescaled.loss_augmented_argmax(scores, y)
    assert value(y_hat) == pytest.approx(best, abs=1e-9 * (1 + abs(best)))
    plane = rescaled.encode(y, y) - rescaled.encode(y_hat, y)
    assert rescaled.loss(y, y_hat) - plane @ scores == pytest.approx(value(y_hat), abs=1e-9 * (1 + abs(best)))
    predicted = loss.argmax(scores)
    assert loss.loss(y, predicted) <= best + 1e-9 * (1 + abs(best))  # the hinge bounds the loss


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2, 1e4])
def test_every_solver_reaches_the_optimum(C: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((9, 2)), rng.integers(0, 3, 9).tolist()
    x[np.arange(9), np.array(y) % 2] += 1.0
    rows = [np.array(each) for each in ([0.0, 1.0], [1.0, 0.0, 0.0], [2.0, 1.0, 0.0])]
    lists = [rng.standard_normal((len(each), 2)) + 0.4 * each[:, None] for each in rows]
    tags = [[0, 1, 1], [1, 0, 0]]
    for loss, xs, ys in (
        (SlackRescaled(Multiclass(range(3), COSTS)), list(x), y),
        (SlackRescaled(Enumerated()), list(x), y),
        (SlackRescaled(ROCArea()), lists, rows),
        (SlackRescaled(SwappedPairs()), lists, rows),
        (SlackRescaled(EnumeratedChain()).bind(tags), [rng.standard_normal((3, 2)) for _ in tags], tags),
    ):
        best = exhaustive_objective(loss, list(zip(xs, ys, strict=True)), C)
        for solver in SOLVERS:
            result = solver.solve(Problem.from_examples(xs, ys, loss=loss, C=C))
            assert result.converged
            assert result.dual <= best * (1 + 1e-7) + 1e-9
            assert result.primal == pytest.approx(best, rel=1e-6, abs=1.5e-6 * C)


def test_a_loss_that_has_no_such_argmax_is_refused() -> None:
    with pytest.raises(InputError, match="AveragePrecision has no slack_rescaled_argmax, which slack rescaling needs"):
        SlackRescaled("map")
    with pytest.raises(InputError, match="Kronecker has no slack_rescaled_argmax"):
        SlackRescaled(Kronecker())
    assert issubclass(Kronecker, Loss)


@pytest.mark.parametrize(
    ("loss", "examples"),
    [
        (SlackRescaled(Multiclass("abc", [[0, 1, 2], [3, 0, 1], [0.5, 1, 0]])), "abc"),
        (SlackRescaled(ROCArea()), [np.array([1.0, 0.0, 0.0, 1.0])]),
    ],
    ids=["multiclass", "roc_area"],
)
def test_check_loss_knows_that_predictions_are_not_rescaled(loss: Any, examples: Any) -> None:
    check_loss(loss, examples, trials=4)

    class Wrong(SlackRescaled):
        def loss_augmented_argmax(self, scores: Any, y: Any) -> Any:
            return self.inner.loss_augmented_argmax(scores, y)

    class Backwards(SlackRescaled):
        def prediction(self, scores: Any, y: Any) -> Any:
            return self.inner.prediction(-scores, y)

    for wrong, method in ((Wrong, "slack_rescaled_argmax"), (Backwards, "argmax")):
        with pytest.raises(CheckError, match=f"{method} does not return a maximizer"):
            check_loss(wrong(loss.inner), examples, trials=4)
