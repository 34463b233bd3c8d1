"""Compiled: contests between the documents of a query, each decided by the majority of the systems."""

import numpy as np
from numpy.typing import NDArray

from structsvm.baselines.fusion.places import places
from structsvm.compilation import compiled
from structsvm.types import IntVector, Matrix, Vector


@compiled
def count_contests(scores: Matrix, ptr: IntVector, points: Vector) -> None:
    """Count the contests that each document wins, and half of those that end in a draw.

    With S_i the systems that retrieved document i, the systems for i less those for j are

        Σ_{s ∈ S_i} ([j behind i] − [j ahead of i] + [s retrieved j]) − |S_j|,

    since each of the others is against i if it retrieved j, and undecided if not. So only systems that
    retrieved i are looked at: O(N Σ_i |S_i|) for N documents, in loops over all j that use vector units.

    Parameters
    ----------
    scores : the rows of each query together; NaN where a system did not retrieve a document; shape (rows, m).
    ptr : where the rows of each query begin, shape (Q + 1,).
    points : what is written, shape (rows,).
    """
    m = scores.shape[1]
    for query in range(len(ptr) - 1):
        start, stop = ptr[query], ptr[query + 1]
        N = stop - start
        ahead, behind = np.empty((m, N), np.int32), np.empty((m, N), np.int32)
        places(scores[start:stop], ahead, behind)
        retrieved = ~np.isnan(scores[start:stop])
        if max(N, 2 * m) < 32768:
            _count(ahead.astype(np.int16), retrieved, np.empty(N, np.int16), points[start:stop])
        else:
            _count(ahead, retrieved, np.empty(N, np.int32), points[start:stop])


@compiled
def _count(ahead: NDArray[np.int32], retrieved: NDArray[np.bool_], margin: NDArray[np.int32], points: Vector) -> None:
    """Count the contests of one query; ranks and margins are of one type, the smallest that holds them."""
    m, N = ahead.shape
    ranked, systems = np.empty_like(ahead[:, 0]), np.empty_like(margin)
    for system in range(m):
        ranked[system] = retrieved[:, system].sum()
    for row in range(N):
        systems[row] = retrieved[row].sum()
    for i in range(N):
        for j in range(N):
            margin[j] = -systems[j]
        for system in range(m):
            if retrieved[i, system]:
                _add(ahead[system], ahead[system, i], ranked[system], margin)
        won, lost = 0, 0
        for j in range(N):
            won += margin[j] > 0
            lost += margin[j] < 0
        points[i] = 0.5 * (N - 1 + won - lost)


@compiled
def _add(ahead: NDArray[np.int32], own: int, ranked: int, margin: NDArray[np.int32]) -> None:
    for j in range(len(ahead)):
        place = ahead[j]
        margin[j] += (place > own) - (place < own) + (place < ranked)
