"""Fusion by ranks: only the order of each system's scores counts."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.features.scaling.places import count_places, places
from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.settings import place, require_number
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.fusion.base import Fusion
from structsvm.metrics import Measure

Integers: TypeAlias = NDArray[np.signedinteger[Any]]


class RankSum(Fusion):
    """Base class of methods that sum the worth of a document's ranks; ties share the worth of their ranks."""

    @abstractmethod
    def _worth(self, ranks: Vector) -> Vector:
        """Return the worth of each rank, shape (ranks,); ranks count from 1."""

    def _fused(self, scores: Matrix, ptr: IntVector) -> Vector:
        most = int(np.diff(ptr).max(initial=0))
        return np.asarray(_add_worth(scores, ptr, self._worth(np.arange(1.0, most + 1.0))))


class ReciprocalRankFusion(RankSum):
    """Reciprocal rank fusion: the sum of ``1 / (rank_constant + rank)`` over the systems that retrieved a document.

    It is from Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
    methods", SIGIR 2009. Equal scores get the mean of the terms of their ranks.

    Parameters
    ----------
    rank_constant : the paper's k, at least 0; with larger values the first ranks differ less.
    measure : see `Fusion`.

    Examples
    --------
    >>> scores = [[3.0, 1.0], [2.0, float("nan")], [1.0, 4.0]]
    >>> ReciprocalRankFusion(rank_constant=1).fit(scores).predict(scores).round(4)
    array([0.8333, 0.3333, 0.75  ])
    """

    def __init__(self, rank_constant: float = 60.0, *, measure: str | Measure | None = None) -> None:
        self.rank_constant = rank_constant
        self.measure = measure

    def _require_settings(self) -> None:
        require_number(place(self, "rank_constant"), self.rank_constant, at_least=0.0)

    def _worth(self, ranks: Vector) -> Vector:
        return 1.0 / (self.rank_constant + ranks)


class InverseSquareRank(RankSum):
    """The number of systems that retrieved the document times the sum of ``1 / rank²`` over them.

    Mourão, Martins and Magalhães, "Multimodal medical information retrieval with unsupervised rank fusion",
    Computerized Medical Imaging and Graphics 39, 2015.
    """

    def _worth(self, ranks: Vector) -> Vector:
        return 1.0 / (ranks * ranks)

    def _fused(self, scores: Matrix, ptr: IntVector) -> Vector:
        return np.asarray(super()._fused(scores, ptr) * (~np.isnan(scores)).sum(axis=1))


class BordaCount(Fusion):
    """The Borda count: of N candidates, each system gives the first N points, the second N − 1, ..., the last 1.

    Documents with equal scores share the points of their places, and documents that a system did not retrieve share the
    remaining points (Aslam and Montague, SIGIR 2001).

    Parameters
    ----------
    measure : see `Fusion`.

    Examples
    --------
    >>> scores = [[3.0, 1.0], [2.0, float("nan")], [1.0, float("nan")]]
    >>> BordaCount().fit(scores).predict(scores)
    array([6. , 3.5, 2.5])
    """

    _points = True

    def _fused(self, scores: Matrix, ptr: IntVector) -> Vector:
        ahead, behind = count_places(scores, ptr)
        N = np.repeat(np.diff(ptr), np.diff(ptr))
        return np.asarray(0.5 * (scores.shape[1] * (N + 1) + behind - ahead))


class Condorcet(Fusion):
    """The pairwise wins of a document: how many documents a system ranks below it, summed over systems.

    A retrieved document wins against documents that the system did not retrieve. There is no winner if scores are
    equal, or if the system retrieved neither document. The score is the Borda count minus one point per system and half
    a point per tie. `Copeland` decides each pair by majority.

    Parameters
    ----------
    measure : see `Fusion`.

    Examples
    --------
    >>> scores = [[3.0, 1.0], [2.0, float("nan")], [1.0, float("nan")]]
    >>> Condorcet().fit(scores).predict(scores)
    array([4., 1., 0.])
    """

    _points = True

    def _fused(self, scores: Matrix, ptr: IntVector) -> Vector:
        _, behind = count_places(scores, ptr)
        return behind.astype(np.float64)


class Copeland(Fusion):
    """Contests won by majority, with draws as half: Condorcet voting in Copeland's form.

    In a contest of two documents, each system votes for the document that it ranks higher; retrieved documents rank
    above other documents. The document with more votes wins. A document that wins all contests, the Condorcet winner,
    is first. If each document of a set beats each document outside, the set is first, as with Condorcet-fuse (Montague
    and Aslam, CIKM 2002). Condorcet-fuse orders documents that beat each other in a circle by the input order.

    Parameters
    ----------
    measure : see `Fusion`.

    Examples
    --------
    >>> scores = [[3.0, 1.0], [2.0, float("nan")], [1.0, float("nan")]]
    >>> Copeland().fit(scores).predict(scores)
    array([2., 1., 0.])
    """

    _points = True

    def _fused(self, scores: Matrix, ptr: IntVector) -> Vector:
        return count_contests(scores, ptr)


@compiled
def _add_worth(scores: Matrix, ptr: IntVector, worth: Vector) -> Vector:
    """Return the worth of each document's ranks, summed over the systems, shape (rows,)."""
    rows, m = scores.shape
    total = np.zeros(rows)
    up_to = np.concatenate((np.zeros(1), np.cumsum(worth)))
    for query in range(len(ptr) - 1):
        start, N = ptr[query], ptr[query + 1] - ptr[query]
        ahead, behind = np.empty((m, N), np.int32), np.empty((m, N), np.int32)
        places(scores[start : start + N], ahead, behind)
        for system in range(m):
            for row in range(N):
                if not np.isnan(scores[start + row, system]):
                    first, last = ahead[system, row], N - behind[system, row]
                    if last == first + 1:
                        total[start + row] += worth[first]
                    else:
                        total[start + row] += (up_to[last] - up_to[first]) / (last - first)
    return total


@compiled
def count_contests(scores: Matrix, ptr: IntVector) -> Vector:
    """Return the contests won by each document, plus half of its draws.

    A contest needs only the systems that retrieved the document with fewer systems.
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
        # A smaller type lets vector units process more numbers at once.
        if max(N, 2 * m) < 32768:
            won = _count(ahead.astype(np.int16), ranked.astype(np.int16), systems.astype(np.int16))
        else:
            won = _count(ahead, ranked.astype(np.int32), systems.astype(np.int32))
        for i in range(N):
            points[start + order[i]] = won[i]
    return points


@compiled
def _count(ahead: Integers, ranked: Integers, systems: Integers) -> Vector:
    """Count the contests of one query, given the documents ``ahead`` of each, shape (m, N), for each system."""
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
def _add_votes(votes: Integers, ahead: Integers, place_of_i: int, ranked: int) -> None:
    """Add a system's term of the sum for each document j after i; ``place_of_i`` documents are ahead of i."""
    for j in range(len(votes)):
        place = ahead[j]
        votes[j] += (place > place_of_i) - (place < place_of_i) + (place < ranked)


@compiled
def _settle(votes: Integers, systems: Integers, balance: Integers) -> int:
    """Return the number of contests that i wins minus the number that it loses; update the balance of each j."""
    won = 0
    for j in range(len(votes)):
        votes[j] = (votes[j] > systems[j]) - (votes[j] < systems[j])
        balance[j] -= votes[j]
    for j in range(len(votes)):
        won += votes[j]
    return won
