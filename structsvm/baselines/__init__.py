"""The systems that SVM-map is compared with: other rankers that learn, and methods of fusion.

Each is an estimator of scikit-learn with ``fit(X, y, qid)``, ``predict`` and ``score``.
"""

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
from structsvm.baselines.preferences import Preferences

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
    "Preferences",
    "fuse_runs",
]
