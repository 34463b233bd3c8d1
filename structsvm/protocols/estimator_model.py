"""Any estimator as a model, with a candidate for each point of a grid of its parameters."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from attrs import field, frozen
from sklearn.base import BaseEstimator, is_classifier

from structsvm.protocols.feature_maps import FeatureMap
from structsvm.protocols.fitting import (
    Grid,
    as_grid,
    expanded,
    fit,
    gap_of,
    points,
    require_estimator,
    require_grid,
    value_of,
)
from structsvm.protocols.model import Candidate, Model, require_features
from structsvm.protocols.routing import call
from structsvm.settings import truth_value
from structsvm.types import IntVector, Vector


@frozen(kw_only=True)
class EstimatorModel(Model):
    """An estimator of scikit-learn's kind, fitted anew for every point of a grid.

    Its ``fit(X, y)`` gets ``qid`` too where it takes it, and so does its ``predict``; of a pipeline, the last
    step and all others that request it, as the transformers of `structsvm.features` do. A classifier
    learns to tell relevant documents (y > 0) from others; the score of a document is its
    ``decision_function``, or the probability that it is relevant.

    Parameters
    ----------
    name, features : see `Model`.
    estimator : what is cloned and fitted; it is not changed.
    grid : values for parameters of the estimator by name, the simplest first: all combinations are
        fitted, the last parameter changing fastest. None by default: one candidate.
    sparse : give indicators (`Indicators`) to an estimator that knows only arrays as a CSR matrix.
    """

    name: str
    features: FeatureMap = field(validator=require_features)
    estimator: BaseEstimator = field(validator=require_estimator)
    grid: Grid = field(default=(), converter=as_grid, validator=require_grid)
    sparse: bool = field(default=False, validator=truth_value)

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every point of the grid; see `Model.candidates`."""
        found = []
        for settings in points(self.grid):
            fitted, seconds = fit(self.estimator, settings, expanded(X, self.sparse), y, qid)
            scores = partial(_scores, fitted, self.sparse)
            found.append(Candidate(value_of(settings), scores, seconds, gap_of(fitted)))
        return found


def _scores(fitted: Any, sparse: bool, X: Any, qid: IntVector) -> Vector:
    X = expanded(X, sparse)
    if not is_classifier(fitted):
        scores = call(fitted, "predict", X, qid=qid)
    elif hasattr(fitted, "decision_function"):
        scores = call(fitted, "decision_function", X, qid=qid)
    else:
        scores = call(fitted, "predict_proba", X, qid=qid)[:, 1]
    return np.asarray(scores, dtype=np.float64)
