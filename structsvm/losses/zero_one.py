"""The loss for binary classification: the zero-one loss."""

from collections.abc import Iterable

import numpy as np
from attrs import frozen

from structsvm.foundation.types import Vector
from structsvm.losses.base import ScoreLoss
from structsvm.losses.user_methods import reads_text


def zero_one(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: the sign is flipped if the margin is below 1."""
    if labels[0] * scores[0] < 1.0:
        out[0] = labels[0]
        return 1.0
    out[0] = 0.0
    return 0.0


@frozen
class ZeroOne(ScoreLoss[float]):
    """The zero-one loss for binary classification of rows, with labels +1 and −1: ``Ψ(x, y) = y x / 2``.

    Every row is an example. The objective equals scikit-learn's ``LinearSVC(loss="hinge", C=C / n,
    fit_intercept=False)``. Class weights are example weights. Labels above 0 count as +1 and all others as −1. Outputs
    are always +1 and −1; to get other classes back, use `Multiclass`.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> ranker = Ranker("zero_one", C=10).fit([[-1.0], [2.0]], [0, 1])
    >>> ranker.predict([[3.0]]).item() > 0
    True
    """

    kernel = staticmethod(zero_one)
    per_row = True

    @property
    def numeric_labels(self) -> bool:  # type: ignore[override]
        """True unless `labels` accepts text."""
        return not reads_text(self.labels, "text")

    def labels(self, y: float) -> Vector:
        """Return +1 for a label above 0 and −1 for all other labels."""
        return np.array([_sign(y)])

    def encode(self, y_hat: float, y: float) -> Vector:
        return np.array([0.5 * _sign(y_hat)])

    def loss(self, y: float, y_hat: float) -> float:
        return float(_sign(y) != _sign(y_hat))

    def loss_augmented_argmax(self, scores: Vector, y: float) -> float:
        sign = _sign(y)
        return -sign if sign * scores[0] < 1.0 else sign

    def slack_rescaled_argmax(self, scores: Vector, y: float) -> float:
        """Return the margin-rescaled argmax, which is the same because the loss is 0 or 1."""
        return self.loss_augmented_argmax(scores, y)

    def argmax(self, scores: Vector) -> float:
        return _sign(scores[0])

    def outputs(self, y: float) -> Iterable[float]:
        return (-1.0, 1.0)


def _sign(y: float) -> float:
    return 1.0 if y > 0 else -1.0
