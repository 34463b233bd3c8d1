"""Sets whose parts are the edges of a graph."""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from attrs import Converter, field, frozen

from structsvm.foundation.settings import place, require_integer
from structsvm.foundation.types import Vector
from structsvm.inference.graph import checked_edges
from structsvm.inference.sets.base import CompiledSet

Edges: TypeAlias = tuple[tuple[int, int], ...]
"""Both ends of each edge."""


def _pairs(edges: Any, owner: Any) -> Edges:
    require_integer(place(owner, "nodes"), owner.nodes, 1)
    return tuple((tail, head) for tail, head in checked_edges(owner.nodes, edges).tolist())


@frozen
class EdgeSet(CompiledSet):
    """Base of sets whose parts are the edges of a graph, in the order of ``edges``, between ``nodes`` nodes."""

    nodes: int
    edges: Edges = field(converter=Converter(_pairs, takes_self=True))  # type: ignore[misc]

    @property
    def size(self) -> int:
        return len(self.edges)

    def data(self) -> Vector:
        return self._data

    @cached_property
    def _data(self) -> Vector:
        return np.array(self._numbers(), dtype=np.float64)

    @abstractmethod
    def _numbers(self) -> list[int]:
        """Return the numbers that the kernel reads."""


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
