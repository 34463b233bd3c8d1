"""Estimators for scikit-learn."""

from structsvm.estimators.latent_structural_svm import LatentStructuralSVM
from structsvm.estimators.ramp_ranker import RampRanker
from structsvm.estimators.ranker import Ranker
from structsvm.estimators.structural_svm import StructuralSVM

__all__ = ["LatentStructuralSVM", "RampRanker", "Ranker", "StructuralSVM"]
