"""Labels of a graph with a bound, and the message passing that finds them."""

import numpy as np
from attrs import frozen

from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.inference.graph import Graph
from structsvm.inference.messages import maximize


@frozen(eq=False)
class Inference:
    """Labels of the nodes of a graph, with their score and a bound of the best score.

    Parameters
    ----------
    labels : label of each node, shape (V,), from 0.
    value : sum of the scores of nodes and edges at these labels.
    bound : upper bound of the sum for any labels. It allows for rounding in its computation, so it may exceed the value
        of the best labels in the last digits.

    Examples
    --------
    >>> Inference(np.array([1, 0]), value=2.0, bound=2.5).gap
    0.5
    """

    labels: IntVector
    value: float
    bound: float

    @property
    def gap(self) -> float:
        """Bound minus value: how much better other labels can be."""
        return self.bound - self.value


def improved(first: Inference, other: Inference) -> Inference:
    """Return the better labels of two, with the lower of both bounds."""
    best = other if other.value > first.value else first
    return Inference(best.labels, best.value, max(best.value, min(first.bound, other.bound)))


def passed(graph: Graph, unary: Matrix, pairwise: Vector, messages: Matrix, sweeps: int, gap: float = 0.0) -> Inference:
    """Pass messages in place, from those given, until the bound is close enough or stays."""
    labels = np.zeros(graph.n_nodes, dtype=np.int64)
    value, bound = maximize(graph.encoded(), unary, pairwise, messages, sweeps, gap, 0.0, labels)
    return Inference(labels, value, bound)
