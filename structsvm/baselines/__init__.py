"""The systems that SVM-map is compared with: other rankers that learn, and methods of fusion.

Each is an estimator of scikit-learn with ``fit(X, y, qid)``, ``predict`` and ``score``.
"""

from structsvm.baselines.clicks import preferences_from_clicks
from structsvm.baselines.preferences import Preferences
from structsvm.baselines.rank_boost import RankBoost
from structsvm.baselines.rank_svm import RankSVM

__all__ = ["Preferences", "RankBoost", "RankSVM", "preferences_from_clicks"]
