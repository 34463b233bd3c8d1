"""Graphs whose nodes get labels."""

from typing import Any, NamedTuple, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError, brief
from structsvm.foundation.arrays import numbers
from structsvm.foundation.compute.compilation import compiled_part
from structsvm.foundation.memory import require_memory
from structsvm.foundation.settings import is_integer, require_integer
from structsvm.foundation.types import IntVector

_HEADER = 3


class GraphParts(NamedTuple):
    """The parts of an encoded graph, which compiled code reads; `parts_of` makes them.

    Place ``2 e + side`` is the end of edge e on one side, 0 or 1, so ``place ^ 1`` is the other end of the edge.
    """

    forest: int
    """1 for a graph without cycles, 0 for others."""
    order: IntVector
    """Nodes in the order of forward passes, shape (V,): leaves to roots in forests, 0 to V − 1 in other graphs."""
    ptr: IntVector
    """Node v has the entries ``ptr[v]`` to ``ptr[v + 1] − 1`` of ``places``, shape (V + 1,)."""
    middle: IntVector
    """Entry of ``places`` from which on the neighbors of v come later in ``order``, shape (V,)."""
    places: IntVector
    """Places of each node's own ends of its edges, shape (2 E,)."""
    ends: IntVector
    """Node of each place, shape (2 E,): the edges, row after row."""


@compiled_part
def parts_of(code: IntVector) -> GraphParts:
    """Return the parts of an encoded graph as views."""
    nodes, at = code[0], _HEADER
    order = code[at : at + nodes]
    at += nodes
    ptr = code[at : at + nodes + 1]
    at += nodes + 1
    middle = code[at : at + nodes]
    at += nodes
    places = code[at : at + 2 * code[1]]
    at += 2 * code[1]
    return GraphParts(code[2], order, ptr, middle, places, code[at : at + 2 * code[1]])


@frozen(eq=False)
class Graph:
    """A graph whose nodes get labels, prepared for inference; `Graph.of` makes it.

    Parameters
    ----------
    code : the graph as `encoded` returns it.

    Examples
    --------
    >>> triangle = Graph.of(3, [[0, 1], [1, 2], [0, 2]])
    >>> triangle.n_nodes, triangle.n_edges, triangle.is_forest
    (3, 3, False)
    """

    _code: IntVector = field(repr=False)

    @classmethod
    def of(cls, n_nodes: int, edges: ArrayLike) -> Self:
        """Prepare a graph of nodes 0 to ``n_nodes`` − 1.

        Parameters
        ----------
        n_nodes : number of nodes, at least 1.
        edges : both ends of each edge, shape (E, 2); their order matters for pairwise scores. The scores of several
            edges between two nodes add up; an edge from a node to itself is an error.

        Examples
        --------
        >>> Graph.of(4, [[0, 1], [2, 1]]).is_forest
        True
        """
        require_integer("Graph.of(n_nodes=...)", n_nodes, 1)
        ends = checked_edges(n_nodes, edges).ravel()
        order, forest = _order(n_nodes, ends.reshape(-1, 2))
        position = np.empty(n_nodes, dtype=np.int64)
        position[order] = np.arange(n_nodes)
        others = ends.reshape(-1, 2)[:, ::-1].ravel()
        later = position[others] > position[ends]
        places = np.lexsort((later, ends))
        ptr = np.concatenate(([0], np.cumsum(np.bincount(ends, minlength=n_nodes))))
        middle = ptr[:-1] + np.bincount(ends[~later], minlength=n_nodes)
        header = [n_nodes, len(ends) // 2, forest]
        code = np.concatenate((header, order, ptr, middle, places, ends)).astype(np.int64)
        code.flags.writeable = False
        return cls(code)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self._code[0])

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return int(self._code[1])

    @property
    def is_forest(self) -> bool:
        """True if the graph has no cycle; two edges between the same nodes are a cycle."""
        return bool(self._code[2])

    @property
    def edges(self) -> NDArray[np.int64]:
        """Both ends of each edge, shape (E, 2), as given."""
        return self._code[len(self._code) - 2 * self.n_edges :].reshape(-1, 2)

    def encoded(self) -> IntVector:
        """Return the graph as one vector of integers, shape (4 + 3 V + 4 E,), for compiled code.

        Examples
        --------
        >>> Graph.of(2, [[0, 1]]).encoded().shape
        (14,)
        """
        return self._code


def grid_edges(height: int, width: int, connectivity: int = 4) -> NDArray[np.int64]:
    """Return the edges of a grid, shape (E, 2), from each cell to the cells on its right and below.

    Cells are numbered row by row. All horizontal edges come first, then the vertical edges, then the diagonals to the
    lower right, then the diagonals to the lower left; each kind goes row by row.

    Parameters
    ----------
    height : number of rows, at least 1.
    width : number of cells in a row, at least 1.
    connectivity : neighbors of a cell: 4, or 8 with diagonals.

    Examples
    --------
    >>> grid_edges(2, 2)
    array([[0, 1],
           [2, 3],
           [0, 2],
           [1, 3]])
    """
    require_integer("grid_edges(height=...)", height, 1)
    require_integer("grid_edges(width=...)", width, 1)
    if not (is_integer(connectivity) and connectivity in (4, 8)):
        raise InputError(f"grid_edges(connectivity=...) must be 4 or 8, got {brief(connectivity)}")
    require_memory(64.0 * height * width, "The edges of this grid", "choose a smaller grid")
    cells = np.arange(height * width, dtype=np.int64).reshape(height, width)
    kinds = [(cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])]
    if connectivity == 8:
        kinds += [(cells[:-1, :-1], cells[1:, 1:]), (cells[:-1, 1:], cells[1:, :-1])]
    return np.concatenate([np.stack((one.ravel(), other.ravel()), axis=1) for one, other in kinds])


def checked_edges(n_nodes: int, edges: Any) -> NDArray[np.int64]:
    """Return the edges of a graph as integers, shape (E, 2)."""
    array = numbers(edges, "edges")
    if array.size == 0:
        array = array.reshape(0, 2)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(f"edges must have the shape (E, 2), a row with both ends of each edge; got {array.shape}")
    wrong = ~((array >= 0) & (array < n_nodes) & (array == np.floor(array))).all(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"edges must join nodes numbered from 0 to {n_nodes - 1}: edge {row} has {array[row].tolist()}. Number "
            "the nodes from 0, or correct n_nodes"
        )
    pairs = array.astype(np.int64)
    loops = pairs[:, 0] == pairs[:, 1]
    if loops.any():
        row = int(np.argmax(loops))
        raise InputError(
            f"edges must join two nodes: edge {row} joins node {pairs[row, 0]} to itself. Remove it, and add its score "
            "to the node if nodes have scores"
        )
    return pairs


def _order(n_nodes: int, edges: NDArray[np.int64]) -> tuple[IntVector, bool]:
    """Return the order of the nodes, and True if they form a forest."""
    if len(edges) >= n_nodes:
        return np.arange(n_nodes, dtype=np.int64), False
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    def joined(pairs: NDArray[np.int64], nodes: int) -> Any:
        return coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(nodes, nodes)).tocsr()

    trees, tree = connected_components(joined(edges, n_nodes), directed=False)
    if len(edges) != n_nodes - trees:
        return np.arange(n_nodes, dtype=np.int64), False
    # A node above a root of each tree reaches all of them.
    roots = np.unique(tree, return_index=True)[1]
    above = np.concatenate((edges, np.stack((np.full(trees, n_nodes), roots), axis=1)))
    order = breadth_first_order(joined(above, n_nodes + 1), n_nodes, directed=False, return_predecessors=False)
    return order[:0:-1].astype(np.int64), True
