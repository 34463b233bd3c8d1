"""The systems that SVM-map is compared with: other rankers that learn, and methods of fusion.

Each is an estimator of scikit-learn with ``fit(X, y, qid)``, ``predict`` and ``score``.
"""

from structsvm.baselines.clicks import preferences_from_clicks
from structsvm.baselines.fusion import (
    BordaCount,
    CombANZ,
    CombMAX,
    CombMED,
    CombMIN,
    CombMNZ,
    CombSUM,
    Condorcet,
    Copeland,
    fuse_runs,
)
from structsvm.baselines.lambda_mart import LambdaMART
from structsvm.baselines.maximum_entropy import MaximumEntropy
from structsvm.baselines.preferences import Preferences
from structsvm.baselines.rank_boost import RankBoost
from structsvm.baselines.rank_net import RankNet
from structsvm.baselines.rank_svm import RankSVM
from structsvm.baselines.weight_search import WeightSearch

__all__ = [
    "BordaCount",
    "CombANZ",
    "CombMAX",
    "CombMED",
    "CombMIN",
    "CombMNZ",
    "CombSUM",
    "Condorcet",
    "Copeland",
    "LambdaMART",
    "MaximumEntropy",
    "Preferences",
    "RankBoost",
    "RankNet",
    "RankSVM",
    "WeightSearch",
    "fuse_runs",
    "preferences_from_clicks",
]
