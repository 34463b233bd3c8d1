"""Small labeled graphs, and all their outputs as planes, written out without code of the package."""

from itertools import product
from typing import Any

import numpy as np

from structsvm.foundation.types import Matrix, Vector
from tests.inference.small_graphs import random_graph

COST = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.5], [1.0, 1.0, 0.0]])


def labeled_graphs(
    rng: np.random.Generator, n: int, K: int, kind: str, of_edges: bool, most: int = 8
) -> tuple[list[Any], list[Any]]:
    """Return inputs of random graphs (a "forest" or "any" graph) of limited size, with random labels."""
    xs: list[Any] = []
    ys: list[Any] = []
    while len(xs) < n:
        graph = random_graph(rng, kind)
        if graph.n_nodes > most or (of_edges and not graph.n_edges):
            continue
        nodes, edges = rng.standard_normal((graph.n_nodes, 2)), graph.edges
        xs.append((nodes, edges, rng.standard_normal((len(edges), 2))) if of_edges else (nodes, edges))
        ys.append(rng.integers(K, size=graph.n_nodes))
    return xs, ys


def planes(x: Any, y: Any, loss: Any, outputs: Any = None) -> tuple[Matrix, Vector]:
    """Return ``Ψ(x, y) − Ψ(x, ŷ)`` and Δ(y, ŷ) of outputs ŷ, by default of all, for the settings of a loss."""
    K = len(loss.states)
    outputs = list(product(range(K), repeat=len(y))) if outputs is None else outputs
    table = 1.0 - np.eye(K) if loss.cost is None else np.asarray(loss.cost)
    unit = 1.0 / len(y) if loss.average else 1.0
    truth = _joint_feature(x, y, K, loss.symmetric)
    G = np.stack([truth - _joint_feature(x, each, K, loss.symmetric) for each in outputs])
    return G, np.array([unit * sum(table[a, b] for a, b in zip(y, each, strict=True)) for each in outputs])


def _joint_feature(x: Any, y: Any, K: int, symmetric: bool) -> Vector:
    """Return features of nodes summed by state, then features of edges (1 without features) by pair of states."""
    nodes, edges, of_edges = (*x, np.ones((len(x[1]), 1)))[:3]
    by_state, by_pair = np.zeros((K, nodes.shape[1])), np.zeros((K, K, of_edges.shape[1]))
    for v, state in enumerate(y):
        by_state[state] += nodes[v]
    for e, (u, v) in enumerate(edges):
        a, b = sorted((y[u], y[v])) if symmetric else (y[u], y[v])
        by_pair[a, b] += of_edges[e]
    pairs = by_pair[np.triu_indices(K)] if symmetric else by_pair
    return np.concatenate((by_state.ravel(), pairs.ravel()))
