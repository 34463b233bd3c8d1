"""Voting: each system ranks the documents of a query, and the scores have no other meaning."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

import numpy as np

from structsvm.features.places import count_places
from structsvm.fusion.base import Fusion
from structsvm.fusion.contests import count_contests
from structsvm.types import IntVector, Matrix, Vector


class BordaCount(Fusion):
    """The Borda count: each system gives its first document of N candidates N points, the second N − 1, the last 1.

    Documents of equal score share the points of their places, and those that a system did not retrieve
    share the points that are left (Aslam and Montague, SIGIR 2001): with a ranked and b tied among N
    candidates, each gets ``N − a − (b − 1) / 2``. O(m N log N) for m systems.

    Parameters
    ----------
    measure : see `Fusion`.

    Examples
    --------
    >>> from structsvm.fusion import BordaCount
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
    """Wins over all systems: the number of pairs of a system and another document, which it ranks behind this one.

    A document that a system retrieved wins against each that it did not; equal scores, and two documents
    that it did not retrieve, are no win for either. This is the Condorcet count of lectures on
    metasearch; it is the Borda count less a point a system and half a point for each tie. The method
    in which the majority decides each pair is `Copeland`. O(m N log N) for m systems.

    Parameters
    ----------
    measure : see `Fusion`.

    Examples
    --------
    >>> from structsvm.fusion import Condorcet
    >>> scores = [[3.0, 1.0], [2.0, float("nan")], [1.0, float("nan")]]
    >>> Condorcet().fit(scores).predict(scores)
    array([4., 1., 0.])
    """

    _points = True

    def _fused(self, scores: Matrix, ptr: IntVector) -> Vector:
        _, behind = count_places(scores, ptr)
        return behind.astype(np.float64)


class Copeland(Fusion):
    """Pairwise contests won, and half for a draw: Condorcet voting by majority, in Copeland's form.

    In a contest of two documents each system votes for the one that it ranks ahead; one that it
    retrieved is ahead of one that it did not, and equal scores, and two documents that it did not
    retrieve, are no vote. The document with more votes wins. A document that wins all contests, the
    Condorcet winner, is first. More generally, if each document of one set beats each of the others,
    the set is ahead, as with Condorcet-fuse (Montague and Aslam, CIKM 2002), which puts documents that
    beat each other in a circle in an order that depends on that of the input. ``O(N Σ_i |S_i|)`` at most, for
    N documents, retrieved by ``|S_i|`` systems each.

    Parameters
    ----------
    measure : see `Fusion`.

    Examples
    --------
    >>> from structsvm.fusion import Copeland
    >>> scores = [[3.0, 1.0], [2.0, float("nan")], [1.0, float("nan")]]
    >>> Copeland().fit(scores).predict(scores)
    array([2., 1., 0.])
    """

    _points = True

    def _fused(self, scores: Matrix, ptr: IntVector) -> Vector:
        return count_contests(scores, ptr)
