"""The loss-augmented argmax of graded documents: that of two kinds, for each threshold between the grades."""

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.losses.kernels.interleaving import interleaving
from structsvm.types import Vector

_interleaving = compiled(interleaving)


def thresholds(scores: Vector, labels: Vector, tables: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated ranking for each threshold, and return the loss of them.

    ``labels`` holds the weight of each threshold and, behind these, how many of them each document
    reaches; ``tables`` is what the kernel of two kinds of document reads.
    """
    n = len(scores)
    T = len(labels) - n
    level = labels[T:]
    relevant = np.empty(n)
    part = np.empty(n)
    loss = 0.0
    out[:] = 0.0
    for t in range(T):
        weight = labels[t]
        for document in range(n):
            relevant[document] = 1.0 if level[document] > t else 0.0
        loss += weight * _interleaving(scores, relevant, tables, part)
        for document in range(n):
            out[document] += weight * part[document]
    return loss
