"""The loss-augmented argmax of a chain of labels."""

import numpy as np

from structsvm.types import Vector


def chain_hamming(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and return the loss: the Viterbi algorithm, O(T K²) steps.

    ``scores`` are those of each position's K states, then those of the K² steps between them;
    ``labels`` the numbers of the true states; ``params`` K. Until the path is known, ``out``
    holds the best state before each state.
    """
    states = int(params[0])
    length = len(labels)
    steps = length * states
    share = 1.0 / length
    best = np.empty(states)
    reached = np.empty(states)
    truth = int(labels[0])
    for k in range(states):
        best[k] = scores[k] + (share if k != truth else 0.0)
    for t in range(1, length):
        row = t * states
        for k in range(states):
            reached[k] = best[0] + scores[steps + k]
            out[row + k] = 0.0
        for j in range(1, states):
            before = float(j)
            for k in range(states):
                value = best[j] + scores[steps + j * states + k]
                better = value > reached[k]
                reached[k] = value if better else reached[k]
                out[row + k] = before if better else out[row + k]
        truth = int(labels[t])
        for k in range(states):
            best[k] = reached[k] + (scores[row + k] + (share if k != truth else 0.0))
    state = int(np.argmax(best))
    out[steps:] = 0.0
    wrong = 0
    for t in range(length - 1, -1, -1):
        row = t * states
        truth = int(labels[t])
        before = int(out[row + state]) if t > 0 else 0
        out[row : row + states] = 0.0
        if state != truth:
            out[row + truth] = 1.0
            out[row + state] = -1.0
            wrong += 1
        if t > 0:
            out[steps + int(labels[t - 1]) * states + truth] += 1.0
            out[steps + before * states + state] -= 1.0
        state = before
    return wrong / length
