"""Fits as functions: check data, make the objective of a specification, and fit it, along a path of C, or on folds."""

from structsvm.training.data import TrainingData
from structsvm.training.examples import ExampleData
from structsvm.training.objective import Fit, Objective, Spec, fit, path
from structsvm.training.regularizer import Regularizer

__all__ = ["ExampleData", "Fit", "Objective", "Regularizer", "Spec", "TrainingData", "fit", "path"]
