"""Compiled inference by messages: exact on forests, TRW-S with an upper bound on other graphs.

A loss's kernel calls `best_labels(code, unary, pairwise, messages, max_sweeps, slack, min_gain, labels)`, which writes
``labels`` and ``messages`` and returns their value and an upper bound of the maximum.

- ``code``: `Graph.encoded()`, int64.
- ``unary``: score of each label at each node, shape (V, K), in C order.
- ``pairwise``: score of each pair of labels at the ends of an edge, shape (E, K, K), or (1, K, K) for scores that all
  edges share, in C order. ``pairwise[e, a, b]`` is for label a at ``edges[e, 0]`` and label b at ``edges[e, 1]``.
- ``messages``: shape (2 E, K), zeros at the first call; row ``2 e + side`` is the message to ``edges[e, side]``. A
  later call with similar scores may start from them.
- ``max_sweeps``: largest number of sweeps, at least 1; a forest needs no second one.
- ``slack``: stop once the bound exceeds the value by no more than this, or than rounding.
- ``min_gain``: stop once a sweep lowers the bound by no more than this, or than rounding.
- ``labels``: shape (V,), int64; written.

Kolmogorov, "Convergent Tree-Reweighted Message Passing for Energy Minimization", PAMI 2006.
"""

import numpy as np
from attrs import frozen

from structsvm.foundation.compute.compilation import compiled, compiled_part
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.inference.graph import Graph, GraphParts, parts_of

_UNIT = 2.0**-53
"""Relative error of a rounded operation."""


@compiled_part
def best_labels(
    code: IntVector,
    unary: Matrix,
    pairwise: Vector,
    messages: Matrix,
    max_sweeps: int,
    slack: float,
    min_gain: float,
    labels: IntVector,
) -> tuple[float, float]:
    """Write the best labels found, and return their value and an upper bound of the maximum; see this module."""
    parts = parts_of(code)
    size = _size(unary) + _sizes_of_edges(pairwise, len(messages) // 2)
    error = _relative_error(parts)
    close = max(slack, error * size)
    swapped = _swapped(pairwise)
    decoded = np.empty(len(unary), dtype=np.int64)
    value, bound, last = -np.inf, np.inf, np.inf
    for half in range(1 if parts.forest > 0 else 2 * max_sweeps):
        forward = half % 2 == 0
        bound = _pass(parts, unary, pairwise, swapped, messages, forward)
        _decode(parts, unary, pairwise, messages, not forward, False, decoded)
        reached = score_of(parts, unary, pairwise, decoded)
        if reached > value:
            value = reached
            _copy(decoded, labels)
        if bound - value <= close:
            break
        if not forward:
            if last - bound <= max(min_gain, error * size):
                break
            last = bound
    # Iterated conditional modes close part of the remaining gap, in less time than a pass.
    _copy(labels, decoded)
    while bound - value > close:
        _decode(parts, unary, pairwise, messages, True, True, decoded)
        reached = score_of(parts, unary, pairwise, decoded)
        if not reached > value:
            break
        value = reached
        _copy(decoded, labels)
    return value, max(value, bound + error * (size + _size(messages)))


@compiled_part
def _copy(labels: IntVector, out: IntVector) -> None:
    """Copy labels; an assignment to a slice takes a second to compile."""
    for v in range(len(labels)):
        out[v] = labels[v]


@compiled_part
def score_of(parts: GraphParts, unary: Matrix, pairwise: Vector, labels: IntVector) -> float:
    """Return the sum of the scores of nodes and edges at their labels."""
    total = 0.0
    for v in range(len(unary)):
        total += unary[v, labels[v]]
    many = 1 if len(pairwise) > 1 else 0
    for e in range(len(parts.ends) // 2):
        total += pairwise[e * many, labels[parts.ends[2 * e]], labels[parts.ends[2 * e + 1]]]
    return total


@compiled_part
def _pass(
    parts: GraphParts, unary: Matrix, pairwise: Vector, swapped: Vector, messages: Matrix, forward: bool
) -> float:
    """Send a message from each node to its neighbors ahead, and return the upper bound, not rounded up.

    The share ``weight`` of a node's belief goes to each edge ahead, and the rest stays. The bound is the sum of the
    largest rests and, with these shares and without their messages, the largest scores of edges, by which messages are
    lowered. It bounds the maximum for any messages.
    """
    nodes, K = unary.shape
    many = 1 if len(pairwise) > 1 else 0
    belief, sent = np.empty(K), np.empty(K)
    bound = 0.0
    for k in range(nodes):
        v = parts.order[k if forward else nodes - 1 - k]
        first, middle, end = parts.ptr[v], parts.middle[v], parts.ptr[v + 1]
        for a in range(K):
            belief[a] = unary[v, a]
        for at in range(first, end):
            place = parts.places[at]
            for a in range(K):
                belief[a] += messages[place, a]
        ahead, ahead_end = (middle, end) if forward else (first, middle)
        count = ahead_end - ahead
        # In a forest all of a node's belief goes to its parent, so that one forward pass finds the maximum.
        weight = 1.0 if parts.forest > 0 and forward else 1.0 / max(middle - first, end - middle, 1)
        rest = 1.0 - count * weight
        if rest > 0.0:
            bound += rest * _largest(belief)
        for at in range(ahead, ahead_end):
            place = parts.places[at]
            for a in range(K):
                sent[a] = weight * belief[a] - messages[place, a]
            if place & 1 == 0:
                _by_rows(sent, pairwise, (place >> 1) * many, messages, place ^ 1)
            elif many > 0:
                _by_columns(sent, pairwise, place >> 1, messages, place ^ 1)
            else:
                _by_rows(sent, swapped, 0, messages, place ^ 1)
            bound += _lower(messages, place ^ 1)
    return bound


@compiled_part
def _largest(values: Vector) -> float:
    largest = float(values[0])
    for value in values:
        largest = value if value > largest else largest
    return largest


@compiled_part
def _lower(messages: Matrix, place: int) -> float:
    """Lower a message until its largest number is 0, and return by how much."""
    largest = float(messages[place, 0])
    for a in range(messages.shape[1]):
        largest = messages[place, a] if messages[place, a] > largest else largest
    for a in range(messages.shape[1]):
        messages[place, a] -= largest
    return largest


@compiled_part
def _by_rows(sent: Vector, scores: Vector, e: int, messages: Matrix, place: int) -> None:
    """Write ``max_a sent[a] + scores[e, a, b]`` for each b, four rows at once so that vector units are busy."""
    K = len(sent)
    if K < 8:
        for b in range(K):
            best = sent[0] + scores[e, 0, b]
            for a in range(1, K):
                through = sent[a] + scores[e, a, b]
                best = through if through > best else best
            messages[place, b] = best
        return
    for b in range(K):
        messages[place, b] = -np.inf
    for start in range(0, K, 4):
        # The last four rows may overlap with the four before; a maximum does not change by that.
        a = min(start, K - 4)
        for b in range(K):
            one, two = sent[a] + scores[e, a, b], sent[a + 1] + scores[e, a + 1, b]
            three, four = sent[a + 2] + scores[e, a + 2, b], sent[a + 3] + scores[e, a + 3, b]
            one = one if one > two else two
            three = three if three > four else four
            one = one if one > three else three
            messages[place, b] = one if one > messages[place, b] else messages[place, b]


@compiled_part
def _by_columns(sent: Vector, scores: Vector, e: int, messages: Matrix, place: int) -> None:
    """Write ``max_b sent[b] + scores[e, a, b]`` for each a."""
    for a in range(len(sent)):
        best = -np.inf
        for b in range(len(sent)):
            through = sent[b] + scores[e, a, b]
            best = through if through > best else best
        messages[place, a] = best


@compiled_part
def _decode(
    parts: GraphParts,
    unary: Matrix,
    pairwise: Vector,
    messages: Matrix,
    forward: bool,
    labeled: bool,
    labels: IntVector,
) -> None:
    """Label nodes one after the other, by the labels of neighbors before and the messages from neighbors after.

    If all nodes are labeled already, neighbors after count by their labels too.
    """
    nodes, K = unary.shape
    many = 1 if len(pairwise) > 1 else 0
    belief = np.empty(K)
    for k in range(nodes):
        v = parts.order[k if forward else nodes - 1 - k]
        middle = parts.middle[v]
        for a in range(K):
            belief[a] = unary[v, a]
        for at in range(parts.ptr[v], parts.ptr[v + 1]):
            place = parts.places[at]
            e, other = (place >> 1) * many, labels[parts.ends[place ^ 1]]
            if not labeled and (at < middle) != forward:
                for a in range(K):
                    belief[a] += messages[place, a]
            elif place & 1 == 0:
                for a in range(K):
                    belief[a] += pairwise[e, a, other]
            else:
                for a in range(K):
                    belief[a] += pairwise[e, other, a]
        best = 0
        for a in range(1, K):
            if belief[a] > belief[best]:
                best = a
        labels[v] = best


@compiled_part
def _swapped(pairwise: Vector) -> Vector:
    """Return the transpose of shared scores, shape (1, K, K), in C order; an unused placeholder for other scores."""
    K = pairwise.shape[1]
    swapped = np.empty((1, K, K))
    for a in range(K if len(pairwise) == 1 else 0):
        for b in range(K):
            swapped[0, b, a] = pairwise[0, a, b]
    return swapped


@compiled_part
def _size(rows: Matrix) -> float:
    """Return the sum of the largest magnitudes of rows."""
    total = 0.0
    for k in range(len(rows)):
        largest = 0.0
        for value in rows[k].flat:
            largest = max(largest, abs(value))
        total += largest
    return total


@compiled_part
def _sizes_of_edges(pairwise: Vector, edges: int) -> float:
    """Return the sum of the largest magnitudes of scores of edges."""
    size = _size(pairwise)
    return size * edges if len(pairwise) == 1 else size


@compiled_part
def _relative_error(parts: GraphParts) -> float:
    """Return a bound of the rounding error of a pass's bound, relative to the sum S of the largest magnitudes.

    S is over nodes, edges and messages. D is the largest degree and u the unit. Beliefs have an error of at most
    (D + 4) u S, shares of beliefs of D u S and scores of edges of 10 u S. Their sum has an error of 3 (V + E) u S,
    because shares at most double S. The rest of the factor pays for u² and the last two roundings.
    """
    nodes = len(parts.order)
    degree = 0
    for v in range(nodes):
        degree = max(degree, parts.ptr[v + 1] - parts.ptr[v])
    return 4.0 * _UNIT * (nodes + len(parts.ends) // 2 + degree + 8)


maximize = compiled(best_labels)
"""`best_labels`, compiled, for calls from Python."""


@frozen(eq=False)
class Inference:
    """Labels of the nodes of a graph, with their score and a bound of the best score.

    Parameters
    ----------
    labels : label of each node, shape (V,), from 0.
    value : sum of the scores of nodes and edges at these labels.
    bound : upper bound of the sum for any labels. It allows for rounding in its computation, so it may exceed the value
        of the best labels in the last digits.

    Examples
    --------
    >>> Inference(np.array([1, 0]), value=2.0, bound=2.5).gap
    0.5
    """

    labels: IntVector
    value: float
    bound: float

    @property
    def gap(self) -> float:
        """Bound minus value: how much better other labels can be."""
        return self.bound - self.value


def improved(first: Inference, other: Inference) -> Inference:
    """Return the better labels of two, with the lower of both bounds."""
    best = other if other.value > first.value else first
    return Inference(best.labels, best.value, max(best.value, min(first.bound, other.bound)))


def passed(graph: Graph, unary: Matrix, pairwise: Vector, messages: Matrix, sweeps: int, gap: float = 0.0) -> Inference:
    """Pass messages in place, from those given, until the bound is close enough or stays."""
    labels = np.zeros(graph.n_nodes, dtype=np.int64)
    value, bound = maximize(graph.encoded(), unary, pairwise, messages, sweeps, gap, 0.0, labels)
    return Inference(labels, value, bound)
