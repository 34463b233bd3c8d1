"""Estimators for scikit-learn."""

from typing import TYPE_CHECKING

from structsvm.foundation import lazy

if TYPE_CHECKING:
    from structsvm.estimators.feature_elimination_cv import FeatureEliminationCV
    from structsvm.estimators.latent_structural_svm import LatentStructuralSVM
    from structsvm.estimators.ramp_ranker import RampRanker
    from structsvm.estimators.ranker import Ranker
    from structsvm.estimators.ranker_cv import RankerCV
    from structsvm.estimators.structural_svm import StructuralSVM
    from structsvm.estimators.structural_svm_cv import StructuralSVMCV

__all__ = [
    "FeatureEliminationCV",
    "LatentStructuralSVM",
    "RampRanker",
    "Ranker",
    "RankerCV",
    "StructuralSVM",
    "StructuralSVMCV",
]

__getattr__, __dir__ = lazy.exports(
    __name__,
    {
        "structsvm.estimators.feature_elimination_cv": ["FeatureEliminationCV"],
        "structsvm.estimators.latent_structural_svm": ["LatentStructuralSVM"],
        "structsvm.estimators.ramp_ranker": ["RampRanker"],
        "structsvm.estimators.ranker": ["Ranker"],
        "structsvm.estimators.ranker_cv": ["RankerCV"],
        "structsvm.estimators.structural_svm": ["StructuralSVM"],
        "structsvm.estimators.structural_svm_cv": ["StructuralSVMCV"],
    },
)
