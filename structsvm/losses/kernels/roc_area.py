"""The loss-augmented argmax of the ROC area, by counting swapped pairs in sorted order."""

import numpy as np

from structsvm.compute.sorting import descending
from structsvm.types import Vector


def roc_area(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking and return its loss.

    Sorted by ``s − ¼`` for relevant and ``s + ¼`` for other documents, a pair is swapped
    where the other document is ahead; both counts come from one walk.
    """
    n = len(scores)
    shifted = np.empty(n)
    R = 0
    for document in range(n):
        if labels[document] > 0.0:
            shifted[document] = scores[document] - 0.25
            R += 1
        else:
            shifted[document] = scores[document] + 0.25
    N = n - R
    out[:] = 0.0
    if R == 0 or N == 0:
        return 0.0

    scale = 2.0 / (R * N)
    others_ahead = 0
    relevant_behind = R
    swapped = 0
    for document in descending(shifted):
        if labels[document] > 0.0:
            relevant_behind -= 1
            swapped += others_ahead
            out[document] = scale * others_ahead
        else:
            others_ahead += 1
            out[document] = -scale * relevant_behind
    return 0.5 * scale * swapped
