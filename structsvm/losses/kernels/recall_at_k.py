"""The loss-augmented argmax of recall at k."""

from structsvm.losses.kernels.top_k import missed_in_top
from structsvm.types import Vector


def recall_at_k(scores: Vector, labels: Vector, k: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: 1/R for each relevant document that is missed."""
    R = 0
    for document in range(len(labels)):
        if labels[document] > 0.0:
            R += 1
    return missed_in_top(scores, labels, int(k[0]), 1.0 / max(R, 1), out)
