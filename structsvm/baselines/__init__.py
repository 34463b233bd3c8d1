"""The systems that SVM-map is compared with: other rankers that learn, and methods of fusion.

Each is an estimator of scikit-learn with ``fit(X, y, qid)``, ``predict`` and ``score``.
"""

from structsvm.baselines.preferences import Preferences
from structsvm.baselines.weight_search import WeightSearch

__all__ = ["Preferences", "WeightSearch"]
