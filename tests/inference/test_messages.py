"""Inference against enumeration: values, bounds, and the plain functions that are compiled."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from structsvm.inference import Graph, infer
from structsvm.inference.messages import best_labels, maximise


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


@pytest.mark.parametrize("seed", range(60))
def test_forests_are_exact(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, "forest")
    assert graph.is_forest
    unary, pairwise = random_scores(rng, graph)
    for method in ("auto", "tree", "messages"):
        found = infer(graph, unary, pairwise, method)
        best, rounding = check(graph, unary, pairwise, found)
        assert found.value >= best - Fraction(rounding)
        assert found.gap <= rounding


@pytest.mark.parametrize("seed", range(60))
def test_bounds_of_messages_are_above_the_maximum(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, "any")
    unary, pairwise = random_scores(rng, graph)
    bounds = []
    for sweeps in (1, 2, 5, 50):
        found = infer(graph, unary, pairwise, "messages", max_sweeps=sweeps)
        _, rounding = check(graph, unary, pairwise, found)
        bounds.append(found.bound)
    assert (np.diff(bounds) <= rounding).all()


@pytest.mark.parametrize("seed", range(10))
def test_compiled_and_plain_functions_agree(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, "forest" if seed % 3 == 0 else "any")
    unary, pairwise = random_scores(rng, graph)
    pairwise = pairwise.reshape(-1, *pairwise.shape[-2:])
    results = []
    for function in (best_labels, maximise):
        messages, labels = np.zeros((2 * graph.n_edges, unary.shape[1])), np.zeros(graph.n_nodes, dtype=np.int64)
        values = function(graph.encoded(), unary, pairwise, messages, 7, 0.0, 0.0, labels)
        results.append((values, messages, labels))
    (plain, messages, labels), (fast, fast_messages, fast_labels) = results
    assert fast == pytest.approx(plain, rel=1e-14)
    np.testing.assert_allclose(fast_messages, messages, rtol=1e-12, atol=1e-300)
    np.testing.assert_array_equal(fast_labels, labels)


@pytest.mark.parametrize("seed", range(10))
def test_a_warm_start_continues_and_any_start_has_a_bound(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, "any")
    unary, pairwise = random_scores(rng, graph)
    stack = pairwise.reshape(-1, *pairwise.shape[-2:])
    labels, messages = np.zeros(graph.n_nodes, dtype=np.int64), np.zeros((2 * graph.n_edges, unary.shape[1]))
    size = max(np.abs(unary).max(), np.abs(pairwise).max(initial=0.0))

    def run(messages, sweeps):
        return maximise(graph.encoded(), unary, stack, messages, sweeps, 0.0, -np.inf, labels)

    _, together = run(messages.copy(), 4)
    run(messages, 2)
    assert run(messages, 2)[1] == pytest.approx(together, rel=0, abs=1e-12 * size * (1 + len(messages)))
    wild = size * rng.standard_normal(messages.shape)
    assert Fraction(run(wild, 1)[1]) >= maximum(graph, unary, pairwise)


def test_more_sweeps_stop_at_the_slack():
    rng = np.random.default_rng(0)
    graph = Graph.of(3, [[0, 1], [1, 2], [2, 0]])
    unary, pairwise = rng.standard_normal((3, 3)), rng.standard_normal((3, 3, 3))
    loose = infer(graph, unary, pairwise, gap=100.0)
    assert loose.gap <= 100.0
    assert infer(graph, unary, pairwise).bound <= loose.bound


def test_one_label_and_one_node():
    found = infer(Graph.of(1, []), [[1.0, 4.0, 4.0]], np.zeros((3, 3)))
    assert (found.labels.tolist(), found.value) == ([1], 4.0)
    assert infer(Graph.of(2, [[0, 1]]), [[1.0], [2.0]], [[[3.0]]]).value == 6.0
