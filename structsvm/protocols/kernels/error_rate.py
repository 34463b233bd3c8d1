"""The loss-augmented argmax of many signs at once."""

from structsvm.types import Vector


def error_rate(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: a sign is flipped where its margin is below 1.

    The labels hold the signs times the shares of the rows.
    """
    loss = 0.0
    for row in range(len(scores)):
        label = labels[row]
        share = abs(label)
        wrong = label * scores[row] < share
        out[row] = label if wrong else 0.0
        loss += share if wrong else 0.0
    return loss
