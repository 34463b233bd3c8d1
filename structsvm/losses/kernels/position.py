"""The loss-augmented argmax where a document is encoded by the discount of its position."""

from structsvm.compute.sorting import descending
from structsvm.types import Vector


def position(scores: Vector, labels: Vector, discounts: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking and return its loss.

    ``labels`` holds ``c(y)`` and, behind it, the gain of each document over the ideal DCG.
    Sorting by score less gain maximises ``1 − Σ gain · discount + Σ score · discount``.
    """
    n = len(scores)
    gain = labels[n:]
    loss = 1.0
    for rank, document in enumerate(descending(scores - gain)):
        loss -= gain[document] * discounts[rank]
        out[document] = labels[document] - discounts[rank]
    return max(loss, 0.0)
