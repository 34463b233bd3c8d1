"""The loss-augmented argmax of precision at k."""

from structsvm.losses.kernels.top_k import missed_in_top
from structsvm.types import Vector


def precision_at_k(scores: Vector, labels: Vector, k: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: 1/k for each relevant document that is missed."""
    return missed_in_top(scores, labels, int(k[0]), 1.0 / k[0], out)
