"""Sums over the systems of what a rank is worth: the reciprocal of it, or of its square."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

from abc import abstractmethod

import numpy as np

from structsvm.compute.compilation import compiled
from structsvm.features.places import places
from structsvm.fusion.base import Fusion
from structsvm.metrics import Measure
from structsvm.settings import place, require_number
from structsvm.types import IntVector, Matrix, Vector


class _RankSum(Fusion):
    """Gives a document, for each system that retrieved it, what its rank is worth; ties share what theirs are."""

    @abstractmethod
    def _worth(self, ranks: Vector) -> Vector:
        """Return what ranks, from 1, are worth; shape (ranks,)."""

    def _fused(self, scores: Matrix, ptr: IntVector) -> Vector:
        most = int(np.diff(ptr).max(initial=0))
        return np.asarray(_add_worth(scores, ptr, self._worth(np.arange(1.0, most + 1.0))))


class ReciprocalRankFusion(_RankSum):
    """Reciprocal rank fusion: the sum of ``1 / (rank_constant + rank)`` over the systems that retrieved a document.

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods",
    SIGIR 2009. Documents of equal score share what their ranks are worth. O(m N log N) for m systems and N documents.

    Parameters
    ----------
    rank_constant : the paper's k: the larger it is, the more alike are the first ranks; at least 0. 60 is the paper's
        choice, on pilot data.
    measure : what `score` reports, by name ("map", "ndcg@10", "p@5", ...) or as an object; None is "map".

    Examples
    --------
    >>> from structsvm.fusion import ReciprocalRankFusion
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


class InverseSquareRank(_RankSum):
    """Inverse square rank: the number of systems that retrieved the document times the sum of ``1 / rank²`` over them.

    Mourão, Martins and Magalhães, "Multimodal medical information retrieval with unsupervised rank fusion",
    Computerized Medical Imaging and Graphics 39, 2015. Documents of equal score share what their ranks are worth.
    O(m N log N) for m systems and N documents.

    Parameters
    ----------
    measure : see `Fusion`.

    Examples
    --------
    >>> from structsvm.fusion import InverseSquareRank
    >>> scores = [[3.0, 1.0], [2.0, float("nan")], [1.0, 4.0]]
    >>> InverseSquareRank().fit(scores).predict(scores).round(4)
    array([2.5   , 0.25  , 2.2222])
    """

    def _worth(self, ranks: Vector) -> Vector:
        return 1.0 / (ranks * ranks)

    def _fused(self, scores: Matrix, ptr: IntVector) -> Vector:
        return np.asarray(super()._fused(scores, ptr) * (~np.isnan(scores)).sum(axis=1))


@compiled
def _add_worth(scores: Matrix, ptr: IntVector, worth: Vector) -> Vector:
    """Return what the ranks of each document are worth, summed over the systems, shape (rows,).

    Parameters
    ----------
    scores : the rows of each query together, shape (rows, m); NaN where a system did not retrieve a document.
    ptr : where the rows of each query begin, shape (Q + 1,).
    worth : what each rank is worth, from the first on, as many as the longest query has documents.
    """
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
