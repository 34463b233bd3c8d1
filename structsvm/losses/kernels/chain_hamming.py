"""The loss-augmented argmax of a chain of labels."""

import numpy as np

from structsvm.types import Vector


def chain_hamming(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: the Viterbi algorithm, O(T K²) steps.

    ``scores`` are those of each position's K states, then those of the K² steps between them;
    ``labels`` the numbers of the true states; ``params`` K. Until the path is known, ``out``
    holds the best state before each state. Inner loops run over slices, so that they can use
    vector units.
    """
    K = int(params[0])
    length = len(labels)
    share = 1.0 / length
    transitions = scores[length * K :]
    best = np.empty(K)
    reached = np.empty(K)
    truth = int(labels[0])
    for k in range(K):
        best[k] = scores[k] + (share if k != truth else 0.0)
    for t in range(1, length):
        before = out[t * K : (t + 1) * K]
        emissions = scores[t * K : (t + 1) * K]
        for j in range(K):
            steps = transitions[j * K : (j + 1) * K]
            value = best[j]
            state = float(j)
            for k in range(K):
                better = j == 0 or value + steps[k] > reached[k]
                reached[k] = value + steps[k] if better else reached[k]
                before[k] = state if better else before[k]
        truth = int(labels[t])
        for k in range(K):
            best[k] = reached[k] + (emissions[k] + (share if k != truth else 0.0))

    found = int(np.argmax(best))
    out[length * K :] = 0.0
    wrong = 0
    for t in range(length - 1, -1, -1):
        truth = int(labels[t])
        previous = int(out[t * K + found]) if t > 0 else -1
        out[t * K : (t + 1) * K] = 0.0
        if found != truth:
            out[t * K + truth] = 1.0
            out[t * K + found] = -1.0
            wrong += 1
        if t > 0:
            out[(length + int(labels[t - 1])) * K + truth] += 1.0
            out[(length + previous) * K + found] -= 1.0
        found = previous
    return wrong / length
