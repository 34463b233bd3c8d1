"""The edges of graphs as settings."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, TypeAlias

from attrs import Converter

from structsvm.foundation.settings import place, require_integer
from structsvm.inference.graph import checked_edges

Edges: TypeAlias = tuple[tuple[int, int], ...]
"""Both ends of each edge."""


def _pairs(edges: Any, owner: Any) -> Edges:
    require_integer(place(owner, "nodes"), owner.nodes, 1)
    return tuple((tail, head) for tail, head in checked_edges(owner.nodes, edges).tolist())


edges_of_nodes: Any = Converter(_pairs, takes_self=True)
"""A converter that requires edges between the nodes of the instance, and a positive number ``nodes``."""


def reachable(start: int, edges: Iterable[tuple[int, int]]) -> set[int]:
    """Return the nodes that directed edges reach from a node, with the node itself."""
    heads = defaultdict(list)
    for tail, head in edges:
        heads[tail].append(head)
    nodes, waiting = {start}, [start]
    while waiting:
        ahead = {*heads[waiting.pop()]} - nodes
        nodes |= ahead
        waiting += ahead
    return nodes
