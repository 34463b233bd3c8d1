"""Models of an experiment or a benchmark: a way to read features, and what is fitted to them for a grid of settings."""

from structsvm.models.base import Candidate, Model, Value
from structsvm.models.catalogue import create_model, find_model, model_names, paper_model_names
from structsvm.models.estimators import EstimatorModel
from structsvm.models.feature_maps import AsGiven, FeatureMap, Indicators, Scores
from structsvm.models.staged import StagedModel
from structsvm.models.svm import ClassificationSVM, RankingSVM
from structsvm.models.systems import is_installed, needed_package, other_systems

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
