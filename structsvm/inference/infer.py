"""Inference by the method that suits a graph."""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import require_choice, require_integer, require_kind, require_number
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.inference.graph import Graph
from structsvm.inference.messages import maximise

METHODS = ("auto", "tree", "messages")


@frozen(eq=False)
class Inference:
    """Labels of the nodes of a graph, with their score and a bound of the best score.

    Parameters
    ----------
    labels : label of each node, shape (V,), from 0.
    value : sum of the scores of nodes and edges at these labels.
    bound : upper bound of the sum for any labels. It allows for the rounding of its own computation, so it may exceed
        the value of the best labels in the last digits.

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


def infer(
    graph: Graph,
    unary: ArrayLike,
    pairwise: ArrayLike,
    method: str = "auto",
    *,
    gap: float | None = None,
    max_sweeps: int = 100,
) -> Inference:
    """Find the labels of the nodes of a graph with the largest score, or labels and a bound near it.

    Parameters
    ----------
    graph : V nodes and E edges.
    unary : score of each label at each node, shape (V, K).
    pairwise : score of each pair of labels at the first and second end of an edge, shape (E, K, K), or (K, K) if all
        edges have the same scores.
    method : ``"tree"`` for exact labels on forests in O(V K²); ``"messages"`` for TRW-S (Kolmogorov, PAMI 2006), which
        takes O(E K²) a sweep on any graph; ``"auto"`` for the one that suits the graph.
    gap : stop message passing once bound − value is at most this. Default: only rounding.
    max_sweeps : largest number of sweeps of message passing.

    Examples
    --------
    >>> agree = 2.0 * np.eye(2)
    >>> found = infer(Graph.of(3, [[0, 1], [1, 2]]), [[3.0, 0.0], [0.0, 1.0], [0.0, 1.0]], agree)
    >>> found.labels, found.value
    (array([0, 0, 0]), 7.0)
    >>> found.gap < 1e-12
    True
    """
    require_kind("infer(graph=...)", graph, Graph, "a Graph; Graph.of(n_nodes, edges) makes one")
    require_choice("infer(method=...)", method, METHODS)
    require_number("infer(gap=...)", gap, at_least=0.0, optional=True)
    require_integer("infer(max_sweeps=...)", max_sweeps, 1)
    if method == "tree" and not graph.is_forest:
        raise InputError("infer(method='tree') needs a forest, but the graph has a cycle: use 'messages' or 'auto'")
    scores = _unary(graph, unary)
    return _by_messages(graph, scores, _pairwise(graph, scores.shape[1], pairwise), max_sweeps, gap or 0.0)


def _by_messages(graph: Graph, unary: Matrix, pairwise: Vector, max_sweeps: int, gap: float) -> Inference:
    labels = np.zeros(graph.n_nodes, dtype=np.int64)
    messages = np.zeros((2 * graph.n_edges, unary.shape[1]))
    value, bound = maximise(graph.encoded(), unary, pairwise, messages, max_sweeps, gap, 0.0, labels)
    return Inference(labels, value, bound)


def _unary(graph: Graph, unary: Any) -> Matrix:
    """Return checked scores of nodes, shape (V, K)."""
    found = _finite(unary, "unary")
    if found.ndim != 2 or len(found) != graph.n_nodes or found.shape[1] == 0:
        raise InputError(
            f"unary must have the shape (V, K), a row for each of the {graph.n_nodes} nodes and a column for each "
            f"label; got {found.shape}"
        )
    return found


def _pairwise(graph: Graph, K: int, pairwise: Any) -> Vector:
    """Return checked scores of edges, shape (E, K, K), or (1, K, K) if all edges share them."""
    found = _finite(pairwise, "pairwise")
    if found.shape == (K, K):
        return found[np.newaxis]
    if found.shape != (graph.n_edges, K, K):
        raise InputError(
            f"pairwise must have the shape ({K}, {K}), or ({graph.n_edges}, {K}, {K}) with a table for each edge; got "
            f"{found.shape}"
        )
    return found


def _finite(values: Any, what: str) -> Vector:
    found = np.ascontiguousarray(numbers(values, what))
    if not np.isfinite(found).all():
        place = [int(k) for k in np.argwhere(~np.isfinite(found))[0]]
        raise InputError(
            f"{what} must be finite: the entry {place} is {found[tuple(place)]}. For forbidden labels, use a large "
            "negative score"
        )
    return found
