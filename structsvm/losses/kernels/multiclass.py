"""The loss-augmented argmax of one of K classes."""

from structsvm.types import Vector


def multiclass(scores: Vector, labels: Vector, costs: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: the best wrong class, or none within the margin.

    ``costs`` is the K x K table, row after row; where it is empty, every wrong class costs 1.
    """
    K = len(scores)
    truth = int(labels[0])
    best = truth
    best_value = scores[truth]
    best_cost = 0.0
    for k in range(K):
        if k == truth:
            continue
        cost = 1.0 if len(costs) == 0 else costs[truth * K + k]
        if scores[k] + cost > best_value:
            best = k
            best_value = scores[k] + cost
            best_cost = cost
    out[:] = 0.0
    if best != truth:
        out[truth] = 1.0
        out[best] = -1.0
    return best_cost
