"""Documents of the two kinds apart."""

import numpy as np

from structsvm.compute.compilation import compiled_part
from structsvm.compute.sorting import descending
from structsvm.types import IntVector, Vector


@compiled_part
def by_kind(scores: Vector, labels: Vector) -> tuple[IntVector, IntVector]:
    """Return the numbers of the relevant documents (label above 0) and of the others, largest score first."""
    n = len(scores)
    relevant, other = np.empty(n, np.int64), np.empty(n, np.int64)
    R = 0
    order = descending(scores)
    for place in range(n):  # without a branch, which could not be foreseen
        document = order[place]
        relevant[R] = document
        other[place - R] = document
        R += labels[document] > 0.0
    return relevant[:R], other[: n - R]
