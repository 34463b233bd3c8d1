"""The loss-augmented argmax of a sign."""

from structsvm.types import Vector


def zero_one(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: the sign is flipped where the margin is below 1."""
    if labels[0] * scores[0] < 1.0:
        out[0] = labels[0]
        return 1.0
    out[0] = 0.0
    return 0.0
