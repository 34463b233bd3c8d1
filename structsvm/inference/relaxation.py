"""Inference by linear and integer programs over HiGHS: the local polytope, and exact search.

The solver's numbers are not trusted. The duals of its linear program are messages, and sweeps of message passing from
them compute labels and a bound in float64. Graphs, scores and messages are as in the module `messages`.
"""

from typing import Any

import numpy as np
from attrs import frozen

from structsvm.foundation.types import Matrix, Vector
from structsvm.inference.graph import Graph, parts_of
from structsvm.inference.messages import Inference, improved, passed

_TOLERANCE = 1e-6
"""Largest tolerance of HiGHS: for integers, and for the gap at which it stops."""

_SWEEPS = 5
"""Sweeps from the duals of a linear program, which are near a fixed point."""


@frozen(eq=False)
class Relaxation:
    """A point of the local polytope with the largest score, messages that are its dual, and labels with a bound.

    ``nodes`` has the share of each label, shape (V, K), and ``pairs`` the share of each pair at each edge, (E, K, K).
    """

    nodes: Matrix
    pairs: Vector
    messages: Matrix
    best: Inference


def dual_point(graph: Graph, unary: Matrix, messages: Matrix) -> Matrix:
    """Return messages whose sum of the largest scores of nodes and edges is the bound of a backward pass.

    They move the shares of beliefs, which the pass adds to edges, from the nodes.
    """
    parts = parts_of(graph.encoded())
    before, after = parts.middle - parts.ptr[:-1], parts.ptr[1:] - parts.middle
    weight = 1.0 / np.maximum(np.maximum(before, after), 1)
    ahead = parts.places[np.arange(len(parts.places)) < parts.middle[parts.ends[parts.places]]]
    nodes, point = parts.ends[ahead], messages.copy()
    point[ahead] -= weight[nodes, np.newaxis] * _beliefs(graph, unary, messages)[nodes]
    return point


def relaxation(graph: Graph, unary: Matrix, pairwise: Vector, start: Matrix) -> Relaxation | None:
    """Solve the relaxation over the local polytope from messages near its dual optimum; None if HiGHS fails."""
    from scipy.optimize import linprog

    V, K = unary.shape
    slacks, _ = _slacks(graph, unary, pairwise, start)
    unit = float(slacks.max(initial=0.0)) or 1.0
    matrix, right = _constraints(graph, K)
    # No cost is negative, so the dual simplex method starts from a feasible point.
    solved = linprog(slacks / unit, A_eq=matrix, b_eq=right, bounds=(0, None), method="highs-ds")
    if solved.status != 0 or solved.x is None:
        return None
    nodes, pairs = solved.x[: V * K].reshape(V, K), solved.x[V * K :].reshape(-1, K, K)
    messages = start - unit * np.asarray(solved.eqlin.marginals)[V:].reshape(-1, K)
    labeled = passed(graph, unary, pairwise, messages.copy(), _SWEEPS)
    return Relaxation(nodes, pairs, messages, improved(labeled, _rounded(graph, unary, pairwise, nodes)))


def searched(
    graph: Graph, unary: Matrix, pairwise: Vector, messages: Matrix, start: Inference, gap: float, max_branches: int
) -> Inference:
    """Search for better labels than the known ones by an integer program over the labels that messages leave.

    The score of any labels is the bound of the messages minus the slacks of their nodes and edges. If the slack of a
    node's label or an edge's pair exceeds the gap, no better output contains it. The objective counts slacks only, so
    that the tolerances of HiGHS are relative to the gap. The search ends once the bound is at most ``gap`` above.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    V, K = unary.shape
    slacks, top = _slacks(graph, unary, pairwise, messages)
    unit = max(top - start.value, 0.0) + _TOLERANCE * score_size(graph, unary, pairwise, messages)
    if unit == 0.0:
        return start
    near = np.flatnonzero(slacks <= unit)
    of_nodes = near < V * K
    matrix, right = _constraints(graph, K)
    solved = milp(
        slacks[near] / unit,
        integrality=of_nodes.astype(np.int64),
        bounds=Bounds(0.0, 1.0),
        constraints=LinearConstraint(matrix[:, near], right, right),
        # The objective of the best labels is at most 1, and the gap of HiGHS is relative to it.
        options={"mip_rel_gap": min(gap / unit, 1.0), "node_limit": max_branches},
    )
    best = start
    if solved.x is not None:
        shares = np.zeros(V * K)
        shares[near[of_nodes]] = solved.x[of_nodes]
        best = improved(best, _rounded(graph, unary, pairwise, shares.reshape(V, K)))
    if solved.mip_dual_bound is not None and np.isfinite(solved.mip_dual_bound):
        # Shares sum to 1 at each node and edge, so an error of all slacks counts V + E times. The size in the unit
        # makes this larger than all rounding errors.
        allowed = _TOLERANCE * (graph.n_nodes + graph.n_edges + 1)
        bound = top + unit * (allowed - solved.mip_dual_bound)
        best = improved(best, Inference(best.labels, best.value, bound))
    return best


def _slacks(graph: Graph, unary: Matrix, pairwise: Vector, messages: Matrix) -> tuple[Vector, float]:
    """Return how much each score after messages is below the largest of its node or edge, and the sum of the largest.

    Nodes come before edges, as in the columns of programs.
    """
    nodes = _beliefs(graph, unary, messages)
    pairs = pairwise - messages[0::2, :, np.newaxis] - messages[1::2, np.newaxis, :]
    highest = nodes.max(axis=1, keepdims=True), pairs.max(axis=(1, 2), keepdims=True)
    slacks = np.concatenate(((highest[0] - nodes).ravel(), (highest[1] - pairs).ravel()))
    return slacks, float(highest[0].sum() + highest[1].sum())


def _beliefs(graph: Graph, unary: Matrix, messages: Matrix) -> Matrix:
    """Return the scores of nodes plus the messages to them."""
    beliefs = unary.copy()
    np.add.at(beliefs, graph.edges.ravel(), messages)
    return beliefs


def score_size(graph: Graph, unary: Matrix, pairwise: Vector, messages: Matrix) -> float:
    """Return the sum of the largest magnitudes of nodes, edges and messages."""
    edges = np.abs(pairwise).max(axis=(1, 2), initial=0.0)
    size = np.abs(unary).max(axis=1).sum() + np.abs(messages).max(axis=1, initial=0.0).sum()
    return float(size + edges.sum() * (graph.n_edges if len(pairwise) == 1 else 1))


def _rounded(graph: Graph, unary: Matrix, pairwise: Vector, shares: Matrix) -> Inference:
    """Return the labels with the largest shares, and their score without a bound."""
    labels, edges = shares.argmax(axis=1), graph.edges
    e = np.arange(graph.n_edges) % max(len(pairwise), 1)
    nodes = unary[np.arange(graph.n_nodes), labels]
    value = float(nodes.sum() + pairwise[e, labels[edges[:, 0]], labels[edges[:, 1]]].sum())
    return Inference(labels, value, np.inf)


def _constraints(graph: Graph, K: int) -> tuple[Any, Vector]:
    """Return rows and right sides: shares of a node sum to 1, shares of pairs to the share of each end's label."""
    from scipy.sparse import csc_array, csr_array, eye_array, hstack, kron, vstack

    V, E = graph.n_nodes, graph.n_edges
    ends = csr_array((np.ones(2 * E), (np.arange(2 * E), graph.edges.ravel())), shape=(2 * E, V))
    ones, units = np.ones((1, K)), eye_array(K)
    nodes = hstack((kron(eye_array(V), ones), csr_array((V, E * K * K))))
    pairs = kron(eye_array(E), vstack((kron(units, ones), kron(ones, units))))
    return csc_array(vstack((nodes, hstack((-kron(ends, units), pairs))))), np.repeat((1.0, 0.0), (V, 2 * E * K))
