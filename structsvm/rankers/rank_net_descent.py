"""Compiled: a network that scores documents, the cost of pairs of them, and the descent on it, query after query.

Networks are linear or have one hidden layer. The weights of a network are one vector, as an optimiser wants them.
Linear: a weight for each feature. With h hidden units: their weights, unit after unit; their h biases; the h weights of
their outputs. There is no bias of the output, since no difference of scores changes with it.

With o = s_i − s_j and the probability p with which i shall be ahead, the cost of a pair is log(1 + e^o) − p·o (Burges
et al. 2005, section 3), and its derivative 1/(1 + e^−o) − p; neither overflows in terms of e^−|o|.
"""

import math
from typing import NamedTuple

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.types import IntVector, Matrix, Vector


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


def _cost_of_grades(scores: Vector, grades: Vector, log_odds: float, ties: bool, slopes: Vector) -> float:
    n = len(scores)
    slopes[:] = 0.0
    cost, pairs = 0.0, 0
    known, target = 0.0, 0.5
    for i in range(n):
        for j in range(n):
            difference = grades[i] - grades[j]
            if difference < 0.0 or (difference == 0.0 and (not ties or j <= i)):
                continue
            if difference != known:
                known = difference
                target = 1.0 / (1.0 + math.exp(-difference * log_odds)) if difference > 0.0 else 0.5
            margin = scores[i] - scores[j]
            small = math.exp(-abs(margin))
            cost += max(margin, 0.0) + math.log1p(small) - target * margin
            slope = (1.0 if margin > 0.0 else small) / (1.0 + small) - target
            slopes[i] += slope
            slopes[j] -= slope
            pairs += 1
    if pairs > 0:
        slopes /= pairs
        cost /= pairs
    return cost


def _cost_of_pairs(scores: Vector, better: IntVector, worse: IntVector, targets: Vector, slopes: Vector) -> float:
    slopes[:] = 0.0
    cost, pairs = 0.0, len(better)
    for pair in range(pairs):
        i, j = better[pair], worse[pair]
        margin = scores[i] - scores[j]
        small = math.exp(-abs(margin))
        cost += max(margin, 0.0) + math.log1p(small) - targets[pair] * margin
        slope = (1.0 if margin > 0.0 else small) / (1.0 + small) - targets[pair]
        slopes[i] += slope
        slopes[j] -= slope
    if pairs > 0:
        slopes /= pairs
        cost /= pairs
    return cost


cost_of_grades = compiled(_cost_of_grades)
"""Return the mean cost of all pairs of different grades, of those of equal grades too with ``ties``, and write its
derivative with respect to each score into ``slopes``: the sums λ of Burges (2010), section 2.1. The documents of a pair
shall have a difference of scores of ``log_odds`` for each unit of difference of grades; infinity is allowed. Pairs take
no memory."""

cost_of_pairs = compiled(_cost_of_pairs)
"""Return the mean cost of listed pairs, ``targets`` being the probabilities that are aimed at, and write ``slopes``."""


class Examples(NamedTuple):
    """Queries and their pairs of documents, as compiled loops read them.

    Parameters
    ----------
    rows : features, shape (n, d).
    ptr : query q owns the rows ``ptr[q]`` to ``ptr[q + 1] − 1``, shape (Q + 1,).
    weights : weight of each query, shape (Q,).
    grades : label of each row; read where no pairs are listed, and then all pairs of a query are meant.
    log_odds : see `cost_of_grades`.
    ties : whether pairs of equal grades count.
    better, worse : listed pairs, query after query: positions of their documents within the query, shape (P,).
    targets : the probability with which the better document shall be ahead, shape (P,).
    pair_ptr : query q owns the pairs ``pair_ptr[q]`` to ``pair_ptr[q + 1] − 1``, shape (Q + 1,).
    """

    rows: Matrix
    ptr: IntVector
    weights: Vector
    grades: Vector
    log_odds: float
    ties: bool
    better: IntVector
    worse: IntVector
    targets: Vector
    pair_ptr: IntVector


def _add_query_gradient(
    examples: Examples,
    q: int,
    hidden: int,
    weights: Vector,
    activations: Matrix,
    scores: Vector,
    slopes: Vector,
    gradient: Vector,
) -> float:
    first, last = examples.ptr[q], examples.ptr[q + 1]
    n, rows = last - first, examples.rows[first:last]
    score(rows, weights, hidden, activations, scores)
    if len(examples.better) > 0:
        a, b = examples.pair_ptr[q], examples.pair_ptr[q + 1]
        cost = cost_of_pairs(scores[:n], examples.better[a:b], examples.worse[a:b], examples.targets[a:b], slopes[:n])
    else:
        cost = cost_of_grades(scores[:n], examples.grades[first:last], examples.log_odds, examples.ties, slopes[:n])
    weight = float(examples.weights[q])
    slopes[:n] *= weight
    add_gradient(rows, weights, hidden, activations, slopes, gradient)
    return weight * cost


add_query_gradient = compiled(_add_query_gradient)
"""Return the weighted mean cost of the pairs of query q, and add its gradient: one pass forward and one backward over
its documents, however many pairs they make. ``activations``, ``scores`` and ``slopes`` are scratch, for at least as
many documents."""


def _descend(
    examples: Examples, order: IntVector, hidden: int, rate: float, decay: float, decays: Vector, weights: Vector
) -> float:
    longest = np.max(np.diff(examples.ptr))
    activations = np.empty((longest, hidden))
    scores, slopes = np.empty(longest), np.empty(longest)
    gradient = np.empty(len(weights))
    cost = 0.0
    for q in order:
        gradient[:] = 0.0
        cost += add_query_gradient(examples, q, hidden, weights, activations, scores, slopes, gradient)
        for k in range(len(weights)):
            weights[k] -= rate * (gradient[k] + decay * decays[k] * weights[k])
    mean: float = cost / np.sum(examples.weights)
    return mean


descend = compiled(_descend)
"""Take a step of length ``rate`` against the gradient of each query, in this order, and return the weighted mean of
their costs, each as it was before its step. ``decay`` pulls the weights that ``decays`` is 1 for towards 0."""
