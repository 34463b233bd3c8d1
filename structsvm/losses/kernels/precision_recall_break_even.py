"""The loss-augmented argmax of the precision-recall break-even point."""

from structsvm.losses.kernels.kinds import by_kind
from structsvm.types import Vector


def precision_recall_break_even(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated set and return its loss.

    The relevant document of the lowest score leaves for the other one of the highest, the next
    lowest for the next highest, as long as that brings something: each brings less than the
    one before.
    """
    relevant, other = by_kind(scores, labels)
    R = len(relevant)
    N = len(other)
    out[:] = 0.0
    missed = 0
    while missed < min(R, N) and 1.0 / R + 2.0 * (scores[other[missed]] - scores[relevant[R - 1 - missed]]) > 0.0:
        out[relevant[R - 1 - missed]] = 2.0
        out[other[missed]] = -2.0
        missed += 1
    return missed / max(R, 1)
