"""Programs against enumeration: points of the local polytope, bounds, and exact search."""

from fractions import Fraction

import numpy as np
import pytest

from structsvm.inference import Graph, infer
from structsvm.inference.messages import passed
from structsvm.inference.relaxation import dual_point, relaxation
from tests.inference.small_graphs import check, random_graph, random_scores

METHODS = ("messages", "relaxation", "exact")


def compare(seed, sweeps=50):
    """Every method has a bound above the maximum, programs a lower one than messages, and the search is exact."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, "forest" if seed % 4 == 0 else "any")
    unary, pairwise = random_scores(rng, graph)
    result = {method: infer(graph, unary, pairwise, method, max_sweeps=sweeps) for method in METHODS}
    for one in result.values():
        best, rounding = check(graph, unary, pairwise, one)
    assert max(result["relaxation"].bound, result["exact"].bound) <= result["messages"].bound
    assert result["exact"].value >= best - Fraction(rounding)
    assert result["exact"].gap <= 3e-5 * (result["messages"].gap + 1e6 * rounding)


@pytest.mark.parametrize("seed", range(60))
def test_programs_agree_with_enumeration(seed):
    compare(seed, sweeps=2)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_campaign(part):
    for seed in range(1000 + 100 * part, 1100 + 100 * part):
        compare(seed, sweeps=(1, 50)[seed % 2])


@pytest.mark.parametrize("seed", range(20))
def test_a_relaxation_is_a_point_of_the_local_polytope_with_the_value_of_its_dual(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, "any")
    unary, pairwise = rng.standard_normal((graph.n_nodes, 3)), rng.standard_normal((graph.n_edges, 3, 3))
    point = relaxation(graph, unary, pairwise, rng.standard_normal((2 * graph.n_edges, 3)))
    np.testing.assert_allclose(point.nodes.sum(axis=1), 1.0)
    np.testing.assert_allclose(point.pairs.sum(axis=2), point.nodes[graph.edges[:, 0]], atol=1e-9)
    np.testing.assert_allclose(point.pairs.sum(axis=1), point.nodes[graph.edges[:, 1]], atol=1e-9)
    score = (point.nodes * unary).sum() + (point.pairs * pairwise).sum()
    assert point.best.bound == pytest.approx(score, abs=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_messages_are_a_dual_point_with_their_bound(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, "any")
    unary, pairwise = rng.standard_normal((graph.n_nodes, 3)), rng.standard_normal((graph.n_edges, 3, 3))
    messages = np.zeros((2 * graph.n_edges, 3))
    result = passed(graph, unary, pairwise, messages, 1, gap=-np.inf)
    if result.gap > 1e-9:
        point = dual_point(graph, unary, messages)
        pairs = pairwise - point[0::2, :, np.newaxis] - point[1::2, np.newaxis]
        nodes = [unary[v] + point[graph.edges.ravel() == v].sum(axis=0) for v in range(graph.n_nodes)]
        assert np.max(nodes, axis=1).sum() + pairs.max(axis=(1, 2)).sum() == pytest.approx(result.bound)


def test_exact_search_closes_a_gap_of_the_relaxation():
    """Three nodes that all want to differ, with two labels: the local polytope allows half of each."""
    graph = Graph.of(3, [[0, 1], [1, 2], [2, 0]])
    unary, pairwise = np.zeros((3, 2)), 1.0 - np.eye(2)
    relaxed, exact = (infer(graph, unary, pairwise, method) for method in ("relaxation", "exact"))
    assert (relaxed.value, exact.value) == (2.0, 2.0)
    assert relaxed.bound == pytest.approx(3.0)
    assert exact.bound == pytest.approx(2.0, abs=1e-4)
    assert infer(graph, unary, pairwise, gap=1.0 + 1e-9).bound == pytest.approx(3.0)
    assert infer(graph, unary, pairwise, "exact", max_branches=1).bound >= 2.0
    assert infer(graph, unary, pairwise, gap=0.5).gap <= 0.5
