"""Fusion (metasearch): one ranking from those of several systems.

Each method is an estimator whose `predict` takes ``qid``: ``CombMNZ().fit(X, qid=qid).predict(X, qid=qid)``,
where X has the score of each document (a row) by each system (a column), NaN where it was not
retrieved. `fuse_runs` makes a TREC run of several.
"""

from structsvm.fusion.base import Fusion
from structsvm.fusion.comb import Comb, CombANZ, CombMAX, CombMED, CombMIN, CombMNZ, CombSUM
from structsvm.fusion.methods import fusion_method
from structsvm.fusion.reciprocal import InverseSquareRank, ReciprocalRankFusion
from structsvm.fusion.runs import fuse_runs
from structsvm.fusion.voting import BordaCount, Condorcet, Copeland
from structsvm.fusion.weighted import WeightedCombSUM

__all__ = [
    "BordaCount",
    "Comb",
    "CombANZ",
    "CombMAX",
    "CombMED",
    "CombMIN",
    "CombMNZ",
    "CombSUM",
    "Condorcet",
    "Copeland",
    "Fusion",
    "InverseSquareRank",
    "ReciprocalRankFusion",
    "WeightedCombSUM",
    "fuse_runs",
    "fusion_method",
]
