"""Binary classification."""

from collections.abc import Iterable

import numpy as np
from attrs import frozen

from structsvm.losses.base import ScoreLoss, reads_text
from structsvm.types import Vector


def zero_one(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: the sign is flipped where the margin is below 1."""
    if labels[0] * scores[0] < 1.0:
        out[0] = labels[0]
        return 1.0
    out[0] = 0.0
    return 0.0


@frozen
class ZeroOne(ScoreLoss[float]):
    """The zero-one loss of a label, +1 or −1: ``Ψ(x, y) = y x / 2``. Every row is an example.

    The hinge loss of a classification SVM: the objective of scikit-learn's
    ``LinearSVC(loss="hinge", C=C / n, fit_intercept=False)``. Class weights are example
    weights.

    Every label above 0 counts as +1 and every other one as −1, so that grades and 0/1 may be
    given. Outputs are +1 and −1 all the same: what `StructuralSVM` predicts for labels 0 and 1
    is −1 and 1. Classes that are to come back as they were are the matter of `Multiclass`.

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
    def numeric_labels(self) -> bool:
        """Whether the labels must be numbers: yes, unless `labels` can read text."""
        return not reads_text(self.labels, "text")

    def labels(self, y: float) -> Vector:
        """Return +1 for a label above 0 and −1 for the others."""
        return np.array([_sign(y)])

    def encode(self, y_hat: float, y: float) -> Vector:
        """Return half the sign of the output."""
        return np.array([0.5 * _sign(y_hat)])

    def loss(self, y: float, y_hat: float) -> float:
        """Return 1 where the signs differ."""
        return float(_sign(y) != _sign(y_hat))

    def loss_augmented_argmax(self, scores: Vector, y: float) -> float:
        """Return the other sign where ``1 − y s > 0``, the true one elsewhere."""
        sign = _sign(y)
        return -sign if sign * scores[0] < 1.0 else sign

    def slack_rescaled_argmax(self, scores: Vector, y: float) -> float:
        """Return what the margin-rescaled one does: the loss is 0 or 1."""
        return self.loss_augmented_argmax(scores, y)

    def argmax(self, scores: Vector) -> float:
        """Return the sign of the score; −1 at 0."""
        return _sign(scores[0])

    def outputs(self, y: float) -> Iterable[float]:
        """Return both signs."""
        return (-1.0, 1.0)


def _sign(y: float) -> float:
    return 1.0 if y > 0 else -1.0
