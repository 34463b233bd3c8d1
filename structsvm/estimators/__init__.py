"""Estimators for scikit-learn."""

from structsvm.estimators.ranker import Ranker
from structsvm.estimators.structural_svm import StructuralSVM

__all__ = ["Ranker", "StructuralSVM"]
