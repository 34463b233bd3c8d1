"""Models of an experiment or a benchmark: a way to read features, and what is fitted to them for a grid of settings.

Two protocols train, pick and test them: `structsvm.protocols.experiment`, that of the paper on SVM-map, and
`structsvm.protocols.letor`.
"""

from structsvm.protocols.catalogue import (
    create_model,
    find_model,
    is_installed,
    model_names,
    needed_package,
    other_systems,
    paper_model_names,
)
from structsvm.protocols.estimator_model import EstimatorModel, StagedModel
from structsvm.protocols.feature_maps import AsGiven, FeatureMap, Indicators, Scores
from structsvm.protocols.model import Candidate, Model, Value
from structsvm.protocols.svm_models import ClassificationSVM, RankingSVM

__all__ = [
    "AsGiven",
    "Candidate",
    "ClassificationSVM",
    "EstimatorModel",
    "FeatureMap",
    "Indicators",
    "Model",
    "RankingSVM",
    "Scores",
    "StagedModel",
    "Value",
    "create_model",
    "find_model",
    "is_installed",
    "model_names",
    "needed_package",
    "other_systems",
    "paper_model_names",
]
