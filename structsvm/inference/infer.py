"""Find the best labels of a graph's nodes by the method that suits the graph."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import require_choice, require_integer, require_kind, require_number
from structsvm.foundation.types import Matrix, Vector
from structsvm.inference.graph import Graph
from structsvm.inference.messages import Inference, improved, passed
from structsvm.inference.relaxation import dual_point, relaxation, score_size, searched

METHODS = ("auto", "tree", "messages", "relaxation", "exact")

_SMALL = 100_000
"""Largest number of pairs of labels, over all edges, for which ``"auto"`` searches."""

_ROUNDING = 1e-9
"""Gap, relative to the size of scores and messages, that no program can close in float64."""


def infer(
    graph: Graph,
    unary: ArrayLike,
    pairwise: ArrayLike,
    method: str = "auto",
    *,
    gap: float | None = None,
    max_sweeps: int = 100,
    max_branches: int = 1000,
) -> Inference:
    """Find labels of a graph's nodes with the largest score, or good labels and an upper bound of the largest score.

    Parameters
    ----------
    graph : V nodes and E edges.
    unary : score of each label at each node, shape (V, K).
    pairwise : score of each pair of labels at the first and second end of an edge, shape (E, K, K), or (K, K) if all
        edges have the same scores.
    method : ``"tree"`` is exact on forests, in O(V K²). ``"messages"`` is TRW-S (Kolmogorov, PAMI 2006), O(E K²) per
        sweep. ``"relaxation"`` passes messages and then solves the linear program over the local polytope. ``"exact"``
        adds branch and bound. ``"auto"`` is ``"tree"`` for forests, ``"exact"`` for other small graphs if ``gap`` is
        given, and else ``"messages"``.
    gap : stop once bound − value is at most this, up to rounding. Default: 0.
    max_sweeps : largest number of sweeps of message passing.
    max_branches : largest number of branches of the exact search, which then returns the best labels so far.

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
    require_integer("infer(max_branches=...)", max_branches, 1)
    if method == "tree" and not graph.is_forest:
        raise InputError("infer(method='tree') needs a forest, but the graph has a cycle: use 'messages' or 'auto'")
    scores = _unary(graph, unary)
    K = scores.shape[1]
    tables = _pairwise(graph, K, pairwise)
    if method == "auto":
        small = gap is not None and graph.n_edges * K * K <= _SMALL
        method = "exact" if small else "messages"
    messages, allowed = np.zeros((2 * graph.n_edges, K)), gap or 0.0
    best = passed(graph, scores, tables, messages, max_sweeps, allowed)
    if not np.isfinite(best.bound):
        raise InputError("unary and pairwise are too large: their sum exceeds the range of float64. Divide both")
    if graph.is_forest or method in ("tree", "messages"):
        return best
    if best.gap <= allowed + _ROUNDING * score_size(graph, scores, tables, messages):
        return best
    messages = dual_point(graph, scores, messages)
    relaxed = relaxation(graph, scores, tables, messages)
    if relaxed:
        best, messages = improved(best, relaxed.best), relaxed.messages
    if method == "relaxation" or best.gap <= allowed + _ROUNDING * score_size(graph, scores, tables, messages):
        return best
    # The duals of the relaxation leave fewer labels to the search.
    return searched(graph, scores, tables, messages, best, allowed, max_branches)


def _unary(graph: Graph, unary: Any) -> Matrix:
    """Return checked scores of nodes, shape (V, K)."""
    array = _finite(unary, "unary")
    if array.ndim != 2 or len(array) != graph.n_nodes or array.shape[1] == 0:
        raise InputError(
            f"unary must have the shape (V, K), a row for each of the {graph.n_nodes} nodes and a column for each "
            f"label; got {array.shape}"
        )
    return array


def _pairwise(graph: Graph, K: int, pairwise: Any) -> Vector:
    """Return checked scores of edges, shape (E, K, K), or (1, K, K) if all edges share them."""
    tables = _finite(pairwise, "pairwise")
    if tables.shape == (K, K):
        return tables[np.newaxis]
    if tables.shape != (graph.n_edges, K, K):
        raise InputError(
            f"pairwise must have the shape ({K}, {K}), or ({graph.n_edges}, {K}, {K}) with a table for each edge; got "
            f"{tables.shape}"
        )
    return tables


def _finite(values: Any, what: str) -> Vector:
    array = np.ascontiguousarray(numbers(values, what))
    if not np.isfinite(array).all():
        place = [int(k) for k in np.argwhere(~np.isfinite(array))[0]]
        raise InputError(
            f"{what} must be finite: the entry {place} is {array[tuple(place)]}. For forbidden labels, use a large "
            "negative score"
        )
    return array
