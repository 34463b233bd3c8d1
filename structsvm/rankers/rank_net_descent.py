"""Compiled training of RankNet: weights are one vector, of each hidden unit, the h biases and the h output weights."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.types import IntVector, Matrix, Vector


def size(hidden: int, d: int) -> int:
    """Return the number of weights of a network of ``hidden`` units (0: linear) over d features."""
    return hidden * (d + 2) if hidden else d


def first_weights(hidden: int, d: int, random: np.random.RandomState) -> Vector:
    """Return the initial weights: 0 if linear, else uniform in ±1/√(inputs of the unit), with biases 0."""
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


@partial(compiled, reorder=True)
def score(rows: Matrix, weights: Vector, hidden: int, activations: Matrix, scores: Vector) -> None:
    """Write the scores of ``rows``, shape (n, d), and the ``activations`` of the hidden units, shape (n, hidden)."""
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
        output = 0.0
        for k in range(hidden):
            unit = weights[k * d : (k + 1) * d]
            total = biases[k]
            for j in range(d):
                total += rows[i, j] * unit[j]
            activations[i, k] = math.tanh(total)
            output += outputs[k] * activations[i, k]
        scores[i] = output


@partial(compiled, reorder=True)
def add_gradient(
    rows: Matrix, weights: Vector, hidden: int, activations: Matrix, slopes: Vector, gradient: Vector
) -> None:
    """Add the gradient of a cost by the weights; ``slopes`` are its derivatives by the scores."""
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


@compiled
def cost_of_grades(scores: Vector, grades: Vector, log_odds: float, ties: bool, slopes: Vector) -> float:
    """Return the mean cost of pairs of different (with ``ties`` also equal) grades; write its derivatives by scores."""
    n = len(scores)
    slopes[:] = 0.0
    cost, pairs = 0.0, 0
    counted, target = 0.0, 0.5
    for i in range(n):
        for j in range(n):
            difference = grades[i] - grades[j]
            if difference < 0.0 or (difference == 0.0 and (not ties or j <= i)):
                continue
            if difference != counted:
                counted = difference
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


@compiled
def cost_of_pairs(scores: Vector, better: IntVector, worse: IntVector, targets: Vector, slopes: Vector) -> float:
    """Return the mean cost of listed pairs with target probabilities ``targets``, and write ``slopes``."""
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


class PairExamples(NamedTuple):
    """Queries and listed pairs (positions within the query of ``pair_ptr``), or else all pairs of different grades."""

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


@compiled
def add_query_gradient(
    examples: PairExamples,
    q: int,
    hidden: int,
    weights: Vector,
    activations: Matrix,
    scores: Vector,
    slopes: Vector,
    gradient: Vector,
) -> float:
    """Return the weighted mean cost of the pairs of query q, and add its gradient; other arrays are scratch memory."""
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


@compiled
def run_epoch(
    examples: PairExamples, order: IntVector, hidden: int, rate: float, decay: float, decays: Vector, weights: Vector
) -> float:
    """Take a gradient step of length ``rate`` for each query; return the weighted mean of the costs before it."""
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
