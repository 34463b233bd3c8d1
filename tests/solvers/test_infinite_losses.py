"""Losses and encodings that are not finite are refused by every solver, in the name of the loss."""

from typing import Any

import numpy as np
import pytest
from attrs import frozen

from structsvm import Problem
from structsvm.exceptions import OracleError
from structsvm.foundation.types import Vector
from structsvm.losses import Multiclass
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack


@frozen
class Forbidding(Multiclass):
    """An output that must not be costs infinity, and its argmax knows it."""

    kernel = None

    def loss(self, y: Any, y_hat: Any) -> float:
        return np.inf if (y, y_hat) == (0, 2) else float(y != y_hat)

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        return max(range(3), key=lambda k: self.loss(y, k) + scores[k])


def infinite(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    out[:] = 0.0
    return np.inf


def unbounded(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    out[:] = -np.inf
    return 1.0


@frozen
class Infinite(Multiclass):
    check_before_fit = False
    kernel = staticmethod(infinite)


@frozen
class Unbounded(Multiclass):
    check_before_fit = False
    kernel = staticmethod(unbounded)


@pytest.mark.parametrize("solver", [FrankWolfe(), OneSlack(), NSlack(), Auto()], ids=lambda solver: solver.name)
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (Forbidding, "Forbidding returned a loss of inf for example [0-9]+; a loss must be finite"),
        (Infinite, "Infinite returned a loss of inf for example 0"),
        (Unbounded, "Unbounded: the encoding .* of example 0 contains NaN or infinity"),
    ],
)
def test_each_solver_names_the_loss(loss: Any, message: str, solver: Any, exact: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)), rng.integers(0, 3, 60)
    made = frozen(type(loss.__name__, (loss,), {"exact": exact}))()
    with pytest.raises(OracleError, match=message):
        solver.solve(Problem.from_examples(X, y, loss=made))
