"""Graphs: their order, neighbors and encoding, and the edges of grids."""

import numpy as np
import pytest

from structsvm.exceptions import InputError
from structsvm.inference import Graph, grid_edges, infer
from structsvm.inference.graph import parts_of


def test_every_neighbor_is_once_in_the_lists():
    edges = [[2, 0], [0, 1], [1, 2], [2, 0], [4, 2]]
    graph = Graph.of(6, edges)
    parts = parts_of(graph.encoded())
    assert not parts.forest
    assert len(graph.encoded()) == 4 + 3 * 6 + 4 * 5
    np.testing.assert_array_equal(graph.edges, edges)
    assert sorted(parts.places) == list(range(10))
    position = np.argsort(parts.order)
    for v in range(6):
        entries = range(parts.ptr[v], parts.ptr[v + 1])
        assert all(parts.ends[parts.places[at]] == v for at in entries)
        later = [position[parts.ends[parts.places[at] ^ 1]] > position[v] for at in entries]
        assert later == [at >= parts.middle[v] for at in entries]


@pytest.mark.parametrize("edges", [[], [[0, 1]], [[3, 0], [3, 1], [2, 3]], [[4, 0], [1, 3], [4, 1]]])
def test_forests_go_from_leaves_to_roots(edges):
    graph = Graph.of(5, edges)
    parts = parts_of(graph.encoded())
    assert graph.is_forest
    assert sorted(parts.order) == list(range(5))
    assert (parts.ptr[1:] - parts.middle <= 1).all(), "a node has at most one parent"


def test_a_pair_of_edges_is_a_cycle():
    assert not Graph.of(2, [[0, 1], [1, 0]]).is_forest


def test_a_graph_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        Graph.of(2, [[0, 1]]).edges[0, 0] = 1


def test_grids_have_their_edges_in_order():
    assert grid_edges(2, 3).tolist() == [[0, 1], [1, 2], [3, 4], [4, 5], [0, 3], [1, 4], [2, 5]]
    diagonals = [[0, 4], [1, 5], [1, 3], [2, 4]]
    assert grid_edges(2, 3, connectivity=8).tolist() == grid_edges(2, 3).tolist() + diagonals
    assert grid_edges(1, 1).shape == (0, 2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Graph.of(0, []), "at least 1"),
        (lambda: Graph.of(2, [[0, 2]]), "edge 0 has"),
        (lambda: Graph.of(2, [[0, 1], [0.5, 1]]), "edge 1 has"),
        (lambda: Graph.of(2, [[0, 1], [1, 1]]), "edge 1 joins node 1 to itself"),
        (lambda: Graph.of(2, [0, 1]), r"\(E, 2\)"),
        (lambda: grid_edges(2, 2, connectivity=6), "4 or 8"),
        (lambda: infer(Graph.of(2, [[0, 1]]), np.zeros((3, 2)), np.zeros((2, 2))), "each of the 2 nodes"),
        (lambda: infer(Graph.of(2, [[0, 1]]), np.zeros((2, 2)), np.zeros((2, 2, 2))), r"got \(2, 2, 2\)"),
        (lambda: infer(Graph.of(2, [[0, 1]]), [[0.0, np.inf], [0.0, 0.0]], np.zeros((2, 2))), r"entry \[0, 1\]"),
        (lambda: infer(Graph.of(3, [[0, 1], [1, 2], [2, 0]]), np.zeros((3, 2)), np.eye(2), "tree"), "has a cycle"),
        (lambda: infer(Graph.of(2, []), np.full((2, 2), 1e308), np.eye(2)), "too large"),
        (lambda: infer(Graph.of(2, []), np.zeros((2, 2)), np.eye(2), "best"), "'tree'"),
    ],
)
def test_wrong_input_is_named(call, words):
    with pytest.raises(InputError, match=words):
        call()
