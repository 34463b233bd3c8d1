"""Spanning trees of directed graphs from a root."""

from collections.abc import Iterable
from itertools import chain, product
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.foundation.compute.compilation import compiled_part
from structsvm.foundation.settings import at_least
from structsvm.foundation.types import IntVector, Vector
from structsvm.inference.sets.base import indicator
from structsvm.inference.sets.edges import EdgeSet, reachable
from structsvm.inference.sets.forbidden import finite_scores


def best_arborescence(scores: Vector, data: Vector, out: Vector) -> None:
    """Mark the edges of the best arborescence; ``data`` is (nodes, root), then tail and head of each edge.

    Each level chooses the best edge into each node and contracts the cycles of these edges to nodes of the next level.
    """
    nodes, root, parts = int(data[0]), int(data[1]), len(scores)
    value = finite_scores(scores, nodes - 1)
    tails, heads = np.empty(parts, np.int64), np.empty(parts, np.int64)
    for part in range(parts):
        tails[part], heads[part] = int(data[2 + 2 * part]), int(data[3 + 2 * part])
        out[part] = 0.0
    # Row by level: the node of each original node, and the best edge into each node.
    node_of, best = np.empty((nodes, nodes), np.int64), np.empty((nodes, nodes), np.int64)
    for node in range(nodes):
        node_of[0, node] = node
    level, count = 0, nodes
    while True:
        into, highest, contracted = best[level], np.empty(nodes), np.empty(count, np.int64)
        for node in range(nodes):
            into[node], highest[node] = -1, 0.0
        for part in range(parts):
            head = heads[part]
            if head != root and tails[part] != head and (into[head] < 0 or value[part] > highest[head]):
                into[head], highest[head] = part, value[part]
        cycles, count = _contracted(into, tails, root, contracted)
        if cycles == 0:
            break
        for part in range(parts):
            head = heads[part]
            # An edge into a cycle replaces the cycle's edge into its head.
            if contracted[head] < cycles:
                value[part] -= highest[head]
            tails[part], heads[part] = contracted[tails[part]], contracted[head]
        for node in range(nodes):
            node_of[level + 1, node] = contracted[node_of[level, node]]
        root = contracted[root]
        level += 1
    while level > 0:
        level -= 1
        for node in range(nodes):
            part = best[level + 1, node]
            if part >= 0:
                best[level, node_of[level, int(data[3 + 2 * part])]] = part
    for node in range(nodes):
        if best[0, node] >= 0:
            out[best[0, node]] = 1.0


@compiled_part
def _contracted(into: IntVector, tails: IntVector, root: int, contracted: IntVector) -> tuple[int, int]:
    """Number the nodes after the contraction of cycles, cycles first; return the numbers of cycles and of nodes."""
    count = len(contracted)
    walk = np.empty(count, np.int64)
    for node in range(count):
        walk[node], contracted[node] = -1, -1
    number = 0
    for start in range(count):
        node = start
        while node != root and walk[node] < 0:
            walk[node] = start
            node = tails[into[node]]
        if node != root and walk[node] == start and contracted[node] < 0:
            while contracted[node] < 0:
                contracted[node] = number
                node = tails[into[node]]
            number += 1
    cycles = number
    for node in range(count):
        if contracted[node] < 0:
            contracted[node] = number
            number += 1
    return cycles, number


@frozen
class Arborescence(EdgeSet):
    """The directed spanning trees from a root, such as dependency trees.

    The parts are the edges, in their order in ``edges``. Each node but the root is the head of one edge of a tree. If
    edges must not cross, use `ProjectiveTree`.

    `maximize` contracts the cycles of best edges, in at most ``nodes`` rounds of O(E) operations. See Chu and Liu, "On
    the Shortest Arborescence of a Directed Graph", Science Sinica 1965; Edmonds, "Optimum Branchings", Journal of
    Research of the National Bureau of Standards 1967.

    Parameters
    ----------
    nodes : number of nodes, which are numbered from 0.
    edges : tail and head of each edge, shape (E, 2). Several edges may join the same nodes; edges into the root are in
        no tree.
    root : node from which edges lead to all others.

    Raises
    ------
    InputError : edges do not lead from the root to all nodes.

    Examples
    --------
    >>> Arborescence(3, [[0, 1], [0, 2], [1, 2], [2, 1]], root=0).maximize([1.0, 2.0, 5.0, 5.0])
    array([0., 1., 0., 1.])
    """

    root: int = field(default=0, validator=at_least(0))

    kernel: ClassVar[Any] = staticmethod(best_arborescence)

    def __attrs_post_init__(self) -> None:
        """Reject a graph with nodes that the root does not reach."""
        nodes = reachable(self.root, self.edges)
        if len(nodes) < self.nodes:
            missing = next(node for node in range(self.nodes) if node not in nodes)
            raise InputError(
                f"Arborescence needs edges from its root to all nodes: none lead from node {self.root} to node "
                f"{missing}. Add edges, or correct root"
            )

    def _numbers(self) -> list[int]:
        return [self.nodes, self.root, *chain(*self.edges)]

    def outputs(self) -> Iterable[Vector]:
        entering = [
            [part for part, (_, head) in enumerate(self.edges) if head == node]
            for node in range(self.nodes)
            if node != self.root
        ]
        for parts in product(*entering):
            if len(reachable(self.root, [self.edges[part] for part in parts])) == self.nodes:
                yield indicator(self.size, parts)
