"""Binary classification of all rows at once, each with a weight."""

from collections.abc import Iterable
from itertools import product

import numpy as np
from attrs import frozen

from structsvm.losses import ScoreLoss
from structsvm.types import Vector


def error_rate(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: a sign is flipped where its margin is below 1.

    The labels hold the signs times the shares of the rows.
    """
    loss = 0.0
    for row in range(len(scores)):
        label = labels[row]
        share = abs(label)
        wrong = label * scores[row] < share
        out[row] = label if wrong else 0.0
        loss += share if wrong else 0.0
    return loss


@frozen
class ErrorRate(ScoreLoss[Vector]):
    """The weighted share of rows of the wrong sign: ``Ψ(x, y) = Σ_i m_i sign(y_i) x_i / 2``.

    One example of many rows, as in Joachims, "Training Linear SVMs in Linear Time", KDD 2006. With the
    rows as one query it is the objective of `ZeroOne` with ``|y_i|`` as the weights of the rows; but one
    call finds the most violated output of all, where `ZeroOne`, whose rows are examples, takes one each.

    A label says by its sign what is true, and by its size what the row weighs; ``m_i = |y_i| / Σ |y|``.
    Labels must not be 0.
    """

    kernel = staticmethod(error_rate)
    of_one_sample = True

    def labels(self, y: Vector) -> Vector:
        """Return the signs times the shares of the rows."""
        y = np.asarray(y, dtype=np.float64)
        return np.asarray(y / np.abs(y).sum())

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        """Return half the signs times the shares of the rows."""
        return np.asarray(0.5 * np.sign(y_hat) * np.abs(self.labels(y)))

    def loss(self, y: Vector, y_hat: Vector) -> float:
        """Return the share of the rows whose signs differ."""
        return float(np.abs(self.labels(y))[np.sign(y) != np.sign(y_hat)].sum())

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        """Return the other sign where ``1 − sign(y) s > 0``, the true one elsewhere."""
        signs = np.sign(y)
        return np.where(signs * scores < 1.0, -signs, signs)

    def argmax(self, scores: Vector) -> Vector:
        """Return the signs of the scores; −1 at 0."""
        return np.where(scores > 0.0, 1.0, -1.0)

    def outputs(self, y: Vector) -> Iterable[Vector]:
        """Return all vectors of signs."""
        return (np.array(signs) for signs in product((-1.0, 1.0), repeat=len(y)))
