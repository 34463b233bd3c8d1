"""Losses in Python: `auto` needs hardly more argmaxes than the best solver, because each may be a program to solve."""

from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from structsvm import Problem
from structsvm.foundation.types import Vector
from structsvm.losses import ScoreLoss
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack
from tests.slow import slow

MOST = 1.25
"""Largest ratio of calls."""


class Matching(ScoreLoss[Any]):
    """Assignments, with the share of wrong partners as loss."""

    check_before_fit = False
    calls: ClassVar[list[int]] = []

    def encode(self, y_hat: Any, y: Any) -> Vector:
        return np.eye(len(y))[y_hat].ravel()

    def loss(self, y: Any, y_hat: Any) -> float:
        return float(np.mean(y != y_hat))

    def argmax(self, scores: Vector) -> Any:
        size = round(len(scores) ** 0.5)
        return linear_sum_assignment(scores.reshape(size, size), maximize=True)[1]

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        self.calls.append(1)
        return self.argmax(scores + (1.0 - np.eye(len(y))[y]).ravel() / len(y))


def matchings(n: int, size: int, d: int) -> Problem:
    """Return matchings by scores with noise."""
    rng, loss = np.random.default_rng(1), Matching()
    w, xs = rng.normal(size=d), [rng.normal(size=(size * size, d)) for _ in range(n)]
    ys = [loss.argmax(x @ w + 2.0 * rng.normal(size=size * size)) for x in xs]
    return Problem.from_examples(xs, ys, loss=loss, C=10.0, n_jobs=1)


@pytest.mark.parametrize(
    ("n", "size", "d"),
    [
        (20, 8, 40),
        *slow((10, 10, 50), (19, 8, 40), (50, 8, 40)),
    ],
)
def test_auto_needs_at_most_a_quarter_more_argmaxes_than_the_best_solver(n, size, d):
    problem, calls = matchings(n, size, d), {}
    for solver in (Auto(), OneSlack(), NSlack(), NSlack(batch=n), FrankWolfe()):
        Matching.calls.clear()
        assert solver.solve(problem).converged
        calls[solver] = len(Matching.calls)
    assert calls[Auto()] <= MOST * min(calls.values()), calls


@pytest.mark.parametrize("solver", [OneSlack(), OneSlack(line_search=True), NSlack(), NSlack(batch=20), FrankWolfe()])
def test_the_history_counts_the_argmaxes_of_each_example(solver):
    problem, counts = matchings(20, 4, 8), []
    Matching.calls.clear()
    result = solver.solve(problem, callback=lambda step: counts.append(len(Matching.calls)))
    assert counts == pytest.approx([20 * step.argmaxes for step in result.history])
    again = solver.solve(problem, start=result)
    assert again.history[0].argmaxes == 2.0, "one of them is the fingerprint's"
