"""Spanning trees of undirected graphs."""

from collections.abc import Iterable, Sequence
from itertools import chain, combinations
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.foundation.compute.compilation import compiled_part
from structsvm.foundation.compute.sorting import descending
from structsvm.foundation.types import IntVector, Vector
from structsvm.inference.sets.base import indicator
from structsvm.inference.sets.edges import EdgeSet, reachable


def best_spanning_tree(scores: Vector, data: Vector, out: Vector) -> None:
    """Mark the edges of the best spanning tree; ``data`` is the number of nodes, then both ends of each edge."""
    parents = np.empty(int(data[0]), np.int64)
    for node in range(len(parents)):
        parents[node] = node
    for part in descending(scores):
        one, other = _root(parents, int(data[1 + 2 * part])), _root(parents, int(data[2 + 2 * part]))
        parents[one] = other
        out[part] = 0.0 if one == other else 1.0


@compiled_part
def _root(parents: IntVector, node: int) -> int:
    """Return the root of a node's tree, and halve the way to it."""
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


def _connected(edges: Sequence[tuple[int, int]]) -> set[int]:
    """Return the nodes that undirected edges connect with node 0."""
    return reachable(0, (*edges, *(edge[::-1] for edge in edges)))


@frozen
class SpanningTree(EdgeSet):
    """The spanning trees of a connected undirected graph.

    The parts are the edges, in their order in ``edges``.

    `maximize` adds the edges by descending score unless they close a cycle, in O(E log E) for E edges (Kruskal, "On the
    Shortest Spanning Subtree of a Graph and the Traveling Salesman Problem", Proceedings of the American Mathematical
    Society 1956). Of edges with equal scores, it prefers the first ones.

    Parameters
    ----------
    nodes : number of nodes, which are numbered from 0.
    edges : both ends of each edge, shape (E, 2). Several edges may join the same nodes.

    Raises
    ------
    InputError : the graph is not connected.

    Examples
    --------
    >>> SpanningTree(3, [[0, 1], [1, 2], [0, 2]]).maximize([1.0, -2.0, -1.0])
    array([1., 0., 1.])
    """

    kernel: ClassVar[Any] = staticmethod(best_spanning_tree)

    def __attrs_post_init__(self) -> None:
        """Reject a graph that is not connected."""
        connected = _connected(self.edges)
        if len(connected) < self.nodes:
            lonely = next(node for node in range(self.nodes) if node not in connected)
            raise InputError(
                f"SpanningTree needs a connected graph: no edges lead from node 0 to node {lonely}. Add them"
            )

    def _numbers(self) -> list[int]:
        return [self.nodes, *chain(*self.edges)]

    def outputs(self) -> Iterable[Vector]:
        for parts in combinations(range(self.size), self.nodes - 1):
            if len(_connected([self.edges[part] for part in parts])) == self.nodes:
                yield indicator(self.size, parts)
