"""Fusion (metasearch): combine the rankings of several systems.

A method is an estimator whose `predict` takes ``qid``: ``CombMNZ().fit(X, qid=qid).predict(X, qid=qid)``.
X has the score of each document (a row) by each system (a column), NaN if the system did not retrieve it.
`fuse_runs` combines TREC runs. `structsvm.registry.fusions` has all methods by name.
"""

from structsvm.fusion.base import Fusion
from structsvm.fusion.comb import CombMNZ, CombSUM
from structsvm.fusion.ranks import BordaCount, Condorcet, Copeland, ReciprocalRankFusion
from structsvm.fusion.runs import fuse_runs
from structsvm.fusion.weighted import WeightedCombSUM

__all__ = [
    "BordaCount",
    "CombMNZ",
    "CombSUM",
    "Condorcet",
    "Copeland",
    "Fusion",
    "ReciprocalRankFusion",
    "WeightedCombSUM",
    "fuse_runs",
]
