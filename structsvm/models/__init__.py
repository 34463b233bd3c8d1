"""Models of an experiment or a benchmark: a way to read features, and what is fitted to them for a grid of settings."""

from structsvm.models.base import Candidate, Model, Value
from structsvm.models.catalogue import create_model, find_model, model_names
from structsvm.models.feature_maps import FeatureMap, Indicators
from structsvm.models.svm import ClassificationSVM, RankingSVM

__all__ = [
    "Candidate",
    "ClassificationSVM",
    "FeatureMap",
    "Indicators",
    "Model",
    "RankingSVM",
    "Value",
    "create_model",
    "find_model",
    "model_names",
]
