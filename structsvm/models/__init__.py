"""Trained models, which score documents, explain scores, and are saved and read, with NumPy alone."""

from typing import TYPE_CHECKING

from structsvm.foundation import lazy

if TYPE_CHECKING:
    from structsvm.models.base import TrainedModel
    from structsvm.models.calibration import Calibration
    from structsvm.models.drift import FeatureCheck
    from structsvm.models.ensembles import from_ensemble
    from structsvm.models.explanation import Explanation
    from structsvm.models.linear import LinearModel
    from structsvm.models.ranking import ExplainedRanking

__all__ = [
    "Calibration",
    "ExplainedRanking",
    "Explanation",
    "FeatureCheck",
    "LinearModel",
    "TrainedModel",
    "from_ensemble",
]

__getattr__, __dir__ = lazy.exports(
    __name__,
    {
        "structsvm.models.base": ["TrainedModel"],
        "structsvm.models.calibration": ["Calibration"],
        "structsvm.models.drift": ["FeatureCheck"],
        "structsvm.models.ensembles": ["from_ensemble"],
        "structsvm.models.explanation": ["Explanation"],
        "structsvm.models.linear": ["LinearModel"],
        "structsvm.models.ranking": ["ExplainedRanking"],
    },
)
