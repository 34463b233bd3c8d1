"""Networks that score documents, linear and with one hidden layer: scores forward, gradients backward.

The weights of a network are one vector, as an optimiser wants them. Linear: a weight for each feature. With h
hidden units: their weights, unit after unit; their h biases; the h weights of their outputs. There is no
bias of the output, since no difference of scores changes with it.
"""

import math

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.types import Matrix, Vector


def size(hidden: int, d: int) -> int:
    """Return the number of weights of a network of ``hidden`` units (0: linear) over d features."""
    return hidden * (d + 2) if hidden else d


def first_weights(hidden: int, d: int, random: np.random.RandomState) -> Vector:
    """Return weights to start at.

    Linear: all 0, where the cost is convex. Otherwise uniform in ±1/√(inputs of the unit), so that no unit starts
    saturated, and biases 0.
    """
    weights = np.zeros(size(hidden, d))
    if hidden:
        weights[: hidden * d] = random.uniform(-1.0, 1.0, hidden * d) / math.sqrt(d)
        weights[hidden * (d + 1) :] = random.uniform(-1.0, 1.0, hidden) / math.sqrt(hidden)
    return weights


def decayed(hidden: int, d: int) -> Vector:
    """Return 1 for each weight that decays and 0 for the biases, which do not."""
    which = np.ones(size(hidden, d))
    which[hidden * d : hidden * (d + 1)] = 0.0
    return which


def _score(rows: Matrix, weights: Vector, hidden: int, activations: Matrix, scores: Vector) -> None:
    n, d = rows.shape
    if hidden == 0:
        for i in range(n):
            total = 0.0
            for j in range(d):
                total += rows[i, j] * weights[j]
            scores[i] = total
        return
    biases = weights[hidden * d : hidden * (d + 1)]
    outputs = weights[hidden * (d + 1) :]
    for i in range(n):
        score = 0.0
        for k in range(hidden):
            unit = weights[k * d : (k + 1) * d]
            total = biases[k]
            for j in range(d):
                total += rows[i, j] * unit[j]
            activations[i, k] = math.tanh(total)
            score += outputs[k] * activations[i, k]
        scores[i] = score


def _add_gradient(
    rows: Matrix, weights: Vector, hidden: int, activations: Matrix, slopes: Vector, gradient: Vector
) -> None:
    n, d = rows.shape
    if hidden == 0:
        for i in range(n):
            for j in range(d):
                gradient[j] += slopes[i] * rows[i, j]
        return
    outputs = weights[hidden * (d + 1) :]
    for i in range(n):
        for k in range(hidden):
            activation = activations[i, k]
            gradient[hidden * (d + 1) + k] += slopes[i] * activation
            slope = slopes[i] * outputs[k] * (1.0 - activation * activation)
            gradient[hidden * d + k] += slope
            unit = gradient[k * d : (k + 1) * d]
            for j in range(d):
                unit[j] += slope * rows[i, j]


score = compiled(_score, reorder=True)
"""Write the scores of ``rows``, shape (n, d), into ``scores``, shape (n,), and what the hidden units say of each
into ``activations``, shape (n, hidden)."""

add_gradient = compiled(_add_gradient, reorder=True)
"""Add the gradient of a cost with respect to the weights, given ``slopes``, those with respect to the scores, and
the ``activations`` that `score` wrote."""


def network_scores(rows: Matrix, weights: Vector, hidden: int) -> Vector:
    """Return the scores of rows, shape (n,)."""
    scores = np.empty(len(rows))
    score(rows, weights, hidden, np.empty((len(rows), hidden)), scores)
    return scores
