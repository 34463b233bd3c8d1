"""Train, tune and test models over many trials: models, feature maps and results.

`structsvm.protocols.experiment` runs the experiment of the paper on SVM-map, and `structsvm.protocols.letor` the
benchmark of LETOR. ``structsvm list models`` shows their models.
"""

from structsvm.protocols.estimator_model import EstimatorModel
from structsvm.protocols.feature_maps import AsGiven, FeatureMap, Indicators, Scores
from structsvm.protocols.model import Candidate, ProtocolModel
from structsvm.protocols.results import Results
from structsvm.protocols.svm_models import RankingSVM

__all__ = [
    "AsGiven",
    "Candidate",
    "EstimatorModel",
    "FeatureMap",
    "Indicators",
    "ProtocolModel",
    "RankingSVM",
    "Results",
    "Scores",
]
