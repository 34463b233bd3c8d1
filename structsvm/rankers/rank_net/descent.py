"""Gradient descent on the pairs of documents of one query after the other."""

from typing import NamedTuple

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.rankers.rank_net.network import add_gradient, score
from structsvm.rankers.rank_net.pair_costs import cost_of_grades, cost_of_pairs
from structsvm.types import IntVector, Matrix, Vector


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
