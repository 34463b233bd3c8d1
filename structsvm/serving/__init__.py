"""Trained models for serving: they are read from files and score documents, with NumPy alone.

Nothing here loads numba, scikit-learn or SciPy.
"""

from structsvm.serving.linear import LinearScorer
from structsvm.serving.network import NetworkScorer
from structsvm.serving.reading import load
from structsvm.serving.scorer import Description, Scorer
from structsvm.serving.stumps import StumpScorer
from structsvm.serving.trees import TreeScorer

__all__ = ["Description", "LinearScorer", "NetworkScorer", "Scorer", "StumpScorer", "TreeScorer", "load"]
