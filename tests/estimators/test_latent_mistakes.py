"""What latent losses with mistakes in them, and bad first guesses, are told."""

from typing import Any

import numpy as np
import pytest

from structsvm.estimators import LatentStructuralSVM
from structsvm.exceptions import ZeroWeightsWarning
from structsvm.losses import LatentLoss
from structsvm.solvers import OneSlack
from structsvm.types import Vector

BACKGROUND = np.zeros(2)
OBJECT, CLUTTER = np.array([1.0, 0.0]), np.array([0.0, 1.0])
XS = [np.stack([BACKGROUND, OBJECT, CLUTTER]), np.stack([BACKGROUND, CLUTTER, CLUTTER])] * 2
YS = [1, 0] * 2


class Boxes(LatentLoss[Any, int, Any]):
    """y is 1 where a box holds the object; h is that box, or None."""

    def joint_feature(self, x: Any, y: int, h: Any) -> Any:
        return x[h] if y else np.zeros(2)

    def loss(self, y: int, y_hat: int, h_hat: Any) -> float:
        return float(y != y_hat)

    def initial(self, x: Any, y: int) -> Any:
        return 1 if y else None

    def complete(self, x: Any, y: int, w: Vector) -> Any:
        return int(np.argmax(x @ w)) if y else None

    def loss_augmented_argmax(self, x: Any, y: int, w: Vector) -> Any:
        h = int(np.argmax(x @ w))
        return (1, h) if x[h] @ w + (y == 0) > (y == 1) else (0, None)

    def argmax(self, x: Any, w: Vector) -> Any:
        h = int(np.argmax(x @ w))
        return (1, h) if x[h] @ w > 0.0 else (0, None)

    def outputs(self, x: Any, y: int) -> Any:
        return [(0, None), *((1, h) for h in range(len(x)))]

    def completions(self, x: Any, y: int) -> Any:
        return range(len(x)) if y else [None]


def fitted(loss: Any, xs: Any = XS, ys: Any = YS) -> LatentStructuralSVM:
    return LatentStructuralSVM(loss, C=10.0, solver=OneSlack()).fit(xs, ys)


def test_an_end_at_zero_weights_is_told() -> None:
    class Empty(Boxes):
        def initial(self, x: Any, y: int) -> Any:
            return 0 if y else None

    with pytest.warns(ZeroWeightsWarning, match=r"ended at w = 0: .* that Empty.initial guesses"):
        svm = fitted(Empty())
    assert svm.stationary_
    assert not svm.coef_.any()
    assert fitted(Boxes()).score(XS, YS) == 1.0
