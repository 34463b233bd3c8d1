"""Best labels of the nodes of a graph, with an upper bound of their score.

`infer` maximizes the sum of the scores of nodes, ``unary[v, y_v]``, and of edges, ``pairwise[e, y_u, y_v]``, over one
of K labels for each node. It is exact on forests; on other graphs its bound tells how much better the best labels can
be than those found.
"""

from structsvm.inference.graph import Graph, grid_edges
from structsvm.inference.infer import infer
from structsvm.inference.messages import Inference

__all__ = ["Graph", "Inference", "grid_edges", "infer"]
