"""Documents of the two kinds apart."""

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.compute.sorting import descending
from structsvm.types import IntVector, Vector


@compiled
def by_kind(scores: Vector, labels: Vector) -> tuple[IntVector, IntVector]:
    """Return the numbers of the relevant documents (label above 0) and of the others, largest score first."""
    n = len(scores)
    R = 0
    for document in range(n):
        if labels[document] > 0.0:
            R += 1
    relevant = np.empty(R, np.int64)
    other = np.empty(n - R, np.int64)
    i = 0
    j = 0
    for document in descending(scores):
        if labels[document] > 0.0:
            relevant[i] = document
            i += 1
        else:
            other[j] = document
            j += 1
    return relevant, other
