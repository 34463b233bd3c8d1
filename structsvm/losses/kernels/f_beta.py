"""The loss-augmented argmax of the F-measure."""

import numpy as np

from structsvm.losses.kernels.kinds import by_kind
from structsvm.types import Vector


def f_beta(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` of the most violated set and return its loss.

    For each number tp of true positives, those of the highest scores, the value is concave
    in the number of false positives: halving finds where another one brings nothing. That is
    O(R log N) after the sort. What is read of all examples is ``β²/(1 + β²)``. The set of
    none is the start where no document is relevant: it alone has no loss then.
    """
    relevant, other = by_kind(scores, labels)
    R = len(relevant)
    N = len(other)
    recall_weight = params[0]
    below = np.zeros(N + 1)
    for j in range(N):
        below[j + 1] = below[j] + 2.0 * scores[other[j]]

    best = 0.0
    best_tp = 0
    best_fp = 0
    best_loss = 0.0
    gain = 0.0
    for tp in range(R + 1):
        if tp > 0:
            gain += 2.0 * scores[relevant[tp - 1]]
        size = recall_weight * R + (1.0 - recall_weight) * tp
        low = 0
        high = N
        while low < high:
            fp = (low + high) // 2
            bring = 2.0 * scores[other[fp]]
            if tp > 0:
                wider = size + (1.0 - recall_weight) * fp
                bring += tp / wider - tp / (wider + 1.0 - recall_weight)
            if bring > 0.0:
                low = fp + 1
            else:
                high = fp
        if R == 0:
            low = max(low, 1)
        loss = 1.0
        if tp > 0:
            wrong = (1.0 - recall_weight) * low
            loss = (recall_weight * (R - tp) + wrong) / (size + wrong)
        value = loss + gain + below[low]
        if value > best:
            best = value
            best_tp = tp
            best_fp = low
            best_loss = loss

    out[:] = 0.0
    for i in range(best_tp, R):
        out[relevant[i]] = 2.0
    for j in range(best_fp):
        out[other[j]] = -2.0
    return best_loss
