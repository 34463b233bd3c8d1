"""Rankers to compare SVM-map with: estimators with ``fit(X, y, qid)``, ``predict`` and ``score``."""

from structsvm.rankers.lambda_mart import LambdaMART
from structsvm.rankers.maximum_entropy import MaximumEntropy
from structsvm.rankers.rank_boost import RankBoost
from structsvm.rankers.rank_net import RankNet
from structsvm.rankers.rank_svm import RankSVM
from structsvm.rankers.tree_ranker import TreeRanker, refit
from structsvm.rankers.weight_search import WeightSearch
from structsvm.training.preferences import Preferences

__all__ = [
    "LambdaMART",
    "MaximumEntropy",
    "Preferences",
    "RankBoost",
    "RankNet",
    "RankSVM",
    "TreeRanker",
    "WeightSearch",
    "refit",
]
