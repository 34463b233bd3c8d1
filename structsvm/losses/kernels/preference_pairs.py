"""The loss-augmented argmax of listed pairs, each by itself."""

from structsvm.types import Vector


def preference_pairs(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated set of swapped pairs and return its loss.

    ``labels`` holds the better documents of the pairs, then the worse ones, then the share of each
    pair in the sum of the magnitudes.
    """
    pairs = len(labels) // 3
    out[:] = 0.0
    loss = 0.0
    for pair in range(pairs):
        better = int(labels[pair])
        worse = int(labels[pairs + pair])
        if scores[better] - 1.0 < scores[worse]:
            share = labels[2 * pairs + pair]
            out[better] += share
            out[worse] -= share
            loss += share
    return loss
