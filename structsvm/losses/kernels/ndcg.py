"""The loss-augmented argmax of NDCG, in the encoding that its parameters name."""

from structsvm.compute.compilation import compiled
from structsvm.losses.kernels.interleaving import interleaving
from structsvm.losses.kernels.position import position
from structsvm.losses.kernels.thresholds import thresholds
from structsvm.types import Vector

PAIRWISE = 0
POSITION = 1
THRESHOLDS = 2

_interleaving = compiled(interleaving)
_position = compiled(position)
_thresholds = compiled(thresholds)


def ndcg(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated output and return its loss.

    The first of ``params`` names the encoding; the others are what its own kernel reads.
    """
    if params[0] == POSITION:
        return _position(scores, labels, params[1:], out)
    if params[0] == THRESHOLDS:
        return _thresholds(scores, labels, params[1:], out)
    return _interleaving(scores, labels, params[1:], out)
