"""Compiled: contests between the documents of a query, each decided by the majority of the systems."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled
from structsvm.features.places import places
from structsvm.types import IntVector, Matrix, Vector

Integers: TypeAlias = NDArray[np.signedinteger[Any]]


@compiled
def count_contests(scores: Matrix, ptr: IntVector) -> Vector:
    """Return how many contests each document wins, and half of those that end in a draw, shape (rows,).

    With S_i the systems that retrieved document i, the systems for i less those for j are

        Σ_{s ∈ S_i} ([j behind i] − [j ahead of i] + [s retrieved j]) − |S_j|,

    since each of the others is against i if it retrieved j, and undecided if not. So each contest needs
    only the systems that retrieved the one of its documents that fewer did: with the documents in
    ascending order of |S_i|, O(Σ_i |S_i| (N − i)) for N documents, in loops over j > i that use vector units.

    Parameters
    ----------
    scores : the rows of each query together; NaN where a system did not retrieve a document; shape (rows, m).
    ptr : where the rows of each query begin, shape (Q + 1,).
    """
    rows, m = scores.shape
    points = np.empty(rows)
    for query in range(len(ptr) - 1):
        start, N = ptr[query], ptr[query + 1] - ptr[query]
        systems, ranked = np.zeros(N, np.int64), np.zeros(m, np.int64)
        for i in range(N):
            for system in range(m):
                retrieved = not np.isnan(scores[start + i, system])
                systems[i] += retrieved
                ranked[system] += retrieved
        order = np.argsort(systems, kind="mergesort")
        ahead, behind = np.empty((m, N), np.int32), np.empty((m, N), np.int32)
        places(scores[start + order], ahead, behind)
        systems = systems[order]
        # The smallest type that holds all numbers: vector units take the more of them at once.
        if max(N, 2 * m) < 32768:
            won = _count(ahead.astype(np.int16), ranked.astype(np.int16), systems.astype(np.int16))
        else:
            won = _count(ahead, ranked.astype(np.int32), systems.astype(np.int32))
        for i in range(N):
            points[start + order[i]] = won[i]
    return points


@compiled
def _count(ahead: Integers, ranked: Integers, systems: Integers) -> Vector:
    """Count the contests of one query, whose documents are in ascending order of the systems that retrieved them.

    Parameters
    ----------
    ahead : how many documents are ahead of each by each system; for those that a system did not retrieve, the
        number of those that it did; shape (m, N).
    ranked : how many documents each system retrieved, shape (m,).
    systems : how many systems retrieved each document, shape (N,).
    """
    m, N = ahead.shape
    votes, balance = np.empty_like(systems), np.zeros_like(systems)
    for i in range(N):
        later = slice(i + 1, N)
        votes[later] = 0
        for system in range(m):
            if ahead[system, i] < ranked[system]:
                _add_votes(votes[later], ahead[system, later], ahead[system, i], ranked[system])
        balance[i] += _settle(votes[later], systems[later], balance[later])
    return np.asarray(0.5 * (N - 1.0 + balance))


@compiled
def _add_votes(votes: Integers, ahead: Integers, own: int, ranked: int) -> None:
    """Add a system's term of the sum, for each document j after i, which has ``own`` documents ahead."""
    for j in range(len(votes)):
        place = ahead[j]
        votes[j] += (place > own) - (place < own) + (place < ranked)


@compiled
def _settle(votes: Integers, systems: Integers, balance: Integers) -> int:
    """Count the contests that i wins less those that it loses, and the other way round for each j."""
    won = 0
    for j in range(len(votes)):
        votes[j] = (votes[j] > systems[j]) - (votes[j] < systems[j])
        balance[j] -= votes[j]
    for j in range(len(votes)):
        won += votes[j]
    return won
