"""Paths in acyclic directed graphs."""

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.foundation.settings import at_least, require_integer
from structsvm.foundation.types import Vector
from structsvm.inference.sets.base import indicator
from structsvm.inference.sets.edges import EdgeSet, reachable


def best_path(scores: Vector, data: Vector, out: Vector) -> None:
    """Mark the edges of the best path from the first to the last node.

    ``data`` is the number of nodes, then part, tail and head of each edge. Nodes are numbered in topological order, the
    edges sorted by their tails, and each is on a path.
    """
    nodes = int(data[0])
    value, last = np.empty(nodes), np.empty(nodes, np.int64)
    for node in range(nodes):
        value[node], last[node] = 0.0, -1
    for at in range(1, len(data), 3):
        head = int(data[at + 2])
        through = value[int(data[at + 1])] + scores[int(data[at])]
        if last[head] < 0 or through > value[head]:
            value[head], last[head] = through, at
    out[:] = 0.0
    node = nodes - 1
    while node > 0:
        at = last[node]
        out[int(data[at])] = 1.0
        node = int(data[at + 1])


@frozen
class DirectedPath(EdgeSet):
    """The paths from a source to a target in an acyclic directed graph.

    The parts are the edges, in their order in ``edges``. The best path is the shortest path if lengths are minus the
    scores.

    `maximize` is a dynamic program over the nodes in topological order, with an operation for each edge (Bellman, "On
    a Routing Problem", Quarterly of Applied Mathematics 1958).

    Parameters
    ----------
    nodes : number of nodes, which are numbered from 0.
    edges : tail and head of each edge, shape (E, 2). Several edges may join the same nodes.
    source : node at which paths start.
    target : node at which paths end.

    Raises
    ------
    InputError : the graph has a cycle, or no path leads to the target.

    Examples
    --------
    >>> DirectedPath(4, [[0, 1], [0, 2], [1, 3], [2, 3]], source=0, target=3).maximize([1.0, 2.0, 0.5, 0.5])
    array([0., 1., 0., 1.])
    """

    source: int = field(validator=at_least(0))
    target: int = field(validator=at_least(0))

    kernel: ClassVar[Any] = staticmethod(best_path)

    def __attrs_post_init__(self) -> None:
        """Reject graphs with cycles, and graphs without a path."""
        self.data()

    @classmethod
    def grid(cls, rows: int, columns: int) -> Self:
        """Return the paths through a grid from the upper left cell to the lower right one, by steps right and down.

        The parts have PyEPO's order: for each row from the top, the edges to the right, then the edges down, both from
        left to right.

        Parameters
        ----------
        rows : number of rows.
        columns : number of columns.

        Examples
        --------
        >>> DirectedPath.grid(2, 2).edges
        ((0, 1), (0, 2), (1, 3), (2, 3))
        """
        require_integer("DirectedPath.grid(rows=...)", rows, 1)
        require_integer("DirectedPath.grid(columns=...)", columns, 1)
        nodes = rows * columns
        edges: list[tuple[int, int]] = []
        for first in range(0, nodes, columns):
            edges += [(node, node + 1) for node in range(first, first + columns - 1)]
            edges += [(node, node + columns) for node in range(first, first + columns) if node + columns < nodes]
        return cls(nodes, edges, 0, nodes - 1)

    def _numbers(self) -> list[int]:
        sorter = TopologicalSorter({self.source: ()})
        for tail, head in self.edges:
            sorter.add(head, tail)
        try:
            order = list(sorter.static_order())
        except CycleError as error:
            nodes = " to ".join(map(str, error.args[1]))
            raise InputError(
                f"{type(self).__name__} needs a graph without cycles, but edges lead from {nodes}: remove one of them"
            ) from None
        on_paths = reachable(self.source, self.edges) & reachable(self.target, [edge[::-1] for edge in self.edges])
        if not on_paths:
            raise InputError(
                f"no path leads from node {self.source} to node {self.target}: add edges, or correct source or target"
            )
        place = {node: k for k, node in enumerate(node for node in order if node in on_paths)}
        edges = [
            (part, place[tail], place[head])
            for part, (tail, head) in enumerate(self.edges)
            if tail in on_paths and head in on_paths
        ]
        return [len(place), *chain(*sorted(edges, key=lambda edge: edge[1]))]

    def outputs(self) -> Iterable[Vector]:
        paths: list[tuple[int, tuple[int, ...]]] = [(self.source, ())]
        while paths:
            node, parts = paths.pop()
            if node == self.target:
                yield indicator(self.size, parts)
            paths += [(head, (*parts, part)) for part, (tail, head) in enumerate(self.edges) if tail == node]
