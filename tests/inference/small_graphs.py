"""Random small graphs with scores, and their best labels by enumeration."""

from fractions import Fraction
from itertools import product

import numpy as np

from structsvm.inference import Graph


def random_graph(rng, kind):
    """A forest, or any graph with parallel edges; with edges in both directions, and often isolated nodes."""
    V = int(rng.integers(1, 9))
    if kind == "forest":
        names = rng.permutation(V)
        edges = [(names[v], names[rng.integers(v)]) for v in range(1, V) if rng.random() < 0.8]
    else:
        pairs = rng.integers(V, size=(int(rng.integers(2 * V + 1)), 2))
        edges = [tuple(pair) for pair in pairs if pair[0] != pair[1]]
    edges = [edge if rng.random() < 0.5 else edge[::-1] for edge in edges]
    return Graph.of(V, np.array(edges, dtype=int).reshape(-1, 2))


def random_scores(rng, graph):
    K = int(rng.integers(1, 4)) if graph.n_nodes > 5 else int(rng.integers(1, 7))
    shape = (K, K) if rng.random() < 0.5 else (graph.n_edges, K, K)
    unary, pairwise = rng.standard_normal((graph.n_nodes, K)), rng.standard_normal(shape)
    kind = rng.integers(4)
    if kind == 0:
        return np.round(3 * unary), np.round(3 * pairwise)
    if kind == 1:
        return unary * 10.0 ** rng.integers(-9, 9), pairwise * 10.0 ** rng.integers(-9, 9)
    if kind == 2:
        return np.round(unary), -np.abs(np.round(pairwise))
    return unary, pairwise


def exact(graph, unary, pairwise, labels):
    """The sum of scores without rounding."""
    tables = np.broadcast_to(pairwise, (graph.n_edges, *pairwise.shape[-2:]))
    nodes = [Fraction(unary[v, label]) for v, label in enumerate(labels)]
    ends = [Fraction(tables[e, labels[u], labels[v]]) for e, (u, v) in enumerate(graph.edges)]
    return sum(nodes + ends, Fraction(0))


def maximum(graph, unary, pairwise):
    """The largest sum of scores, without rounding; only outputs near the largest rounded sum are summed exactly."""
    V, K = unary.shape
    tables = np.broadcast_to(pairwise, (graph.n_edges, K, K))
    outputs = np.array(list(product(range(K), repeat=V)))
    sums = unary[np.arange(V), outputs].sum(axis=1)
    for e, (u, v) in enumerate(graph.edges):
        sums += tables[e, outputs[:, u], outputs[:, v]]
    size = np.abs(unary).sum() + np.abs(tables).sum()
    near = outputs[sums >= sums.max() - 1e-12 * size]
    return max(exact(graph, unary, pairwise, labels) for labels in near[:200])


def check(graph, unary, pairwise, found):
    """The labels have the value, and the bound is above all outputs."""
    best = maximum(graph, unary, pairwise)
    rounding = 1e-12 * (np.abs(unary).sum() + np.abs(pairwise).sum() * max(graph.n_edges, 1))
    assert abs(exact(graph, unary, pairwise, found.labels) - Fraction(found.value)) <= rounding
    assert found.value <= best + Fraction(rounding)
    assert Fraction(found.bound) >= best
    assert found.bound >= found.value
    return best, rounding
