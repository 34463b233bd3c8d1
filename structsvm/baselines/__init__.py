"""The systems that SVM-map is compared with: other rankers that learn, and methods of fusion.

Each is an estimator of scikit-learn with ``fit(X, y, qid)``, ``predict`` and ``score``.
"""

from structsvm.baselines.lambda_mart import LambdaMART
from structsvm.baselines.maximum_entropy import MaximumEntropy
from structsvm.baselines.preferences import Preferences
from structsvm.baselines.rank_net import RankNet

__all__ = ["LambdaMART", "MaximumEntropy", "Preferences", "RankNet"]
