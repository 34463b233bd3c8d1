"""Inference against enumeration: values, bounds, and the plain functions that are compiled."""

from fractions import Fraction

import numpy as np
import pytest

from structsvm.inference import Graph, infer
from structsvm.inference.messages import best_labels, maximize
from tests.inference.small_graphs import check, maximum, random_graph, random_scores


@pytest.mark.parametrize("seed", range(60))
def test_forests_are_exact(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, "forest")
    assert graph.is_forest
    unary, pairwise = random_scores(rng, graph)
    for method in ("auto", "tree", "messages"):
        result = infer(graph, unary, pairwise, method)
        best, rounding = check(graph, unary, pairwise, result)
        assert result.value >= best - Fraction(rounding)
        assert result.gap <= rounding


@pytest.mark.parametrize("seed", range(60))
def test_bounds_of_messages_are_above_the_maximum(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, "any")
    unary, pairwise = random_scores(rng, graph)
    bounds = []
    for sweeps in (1, 2, 5, 50):
        result = infer(graph, unary, pairwise, "messages", max_sweeps=sweeps)
        _, rounding = check(graph, unary, pairwise, result)
        bounds.append(result.bound)
    assert (np.diff(bounds) <= rounding).all()


@pytest.mark.parametrize("seed", range(10))
def test_compiled_and_plain_functions_agree(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, "forest" if seed % 3 == 0 else "any")
    unary, pairwise = random_scores(rng, graph)
    pairwise = pairwise.reshape(-1, *pairwise.shape[-2:])
    results = []
    for function in (best_labels, maximize):
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
        return maximize(graph.encoded(), unary, stack, messages, sweeps, 0.0, -np.inf, labels)

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
    result = infer(Graph.of(1, []), [[1.0, 4.0, 4.0]], np.zeros((3, 3)))
    assert (result.labels.tolist(), result.value) == ([1], 4.0)
    assert infer(Graph.of(2, [[0, 1]]), [[1.0], [2.0]], [[[3.0]]]).value == 6.0
