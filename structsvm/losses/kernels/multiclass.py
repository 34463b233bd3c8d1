"""The loss-augmented argmax of one of K classes."""

from structsvm.types import Vector


def multiclass(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: the best wrong class, or none within the margin."""
    truth = int(labels[0])
    best = truth
    best_value = scores[truth]
    for k in range(len(scores)):
        if k != truth and scores[k] + 1.0 > best_value:
            best = k
            best_value = scores[k] + 1.0
    out[:] = 0.0
    if best == truth:
        return 0.0
    out[truth] = 1.0
    out[best] = -1.0
    return 1.0
