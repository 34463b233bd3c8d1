"""Any estimator as a model, with a candidate for each point of a grid of its parameters."""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from inspect import signature
from itertools import product
from typing import Any

import numpy as np
from attrs import field, frozen
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from structsvm.exceptions import InputError
from structsvm.models.base import Candidate, Model, Value
from structsvm.models.feature_maps import FeatureMap
from structsvm.operators import BinnedMatrix
from structsvm.result import Status
from structsvm.types import IntVector, Vector
from structsvm.validation import truth_value

Grid = tuple[tuple[str, tuple[Any, ...]], ...]


def as_grid(grid: Mapping[str, Sequence[Any]] | Grid) -> Grid:
    """Return a grid as a value that does not change."""
    pairs = grid.items() if isinstance(grid, Mapping) else grid
    return tuple((name, tuple(values)) for name, values in pairs)


def require_grid(model: Any, attribute: Any, grid: Grid) -> None:
    """Refuse a grid of parameters that the estimator does not have, or without values for one of them."""
    known = model.estimator.get_params()
    for name, values in grid:
        if name not in known:
            raise InputError(
                f"{model.name}: {type(model.estimator).__name__} has no parameter {name!r}; it has {', '.join(known)}"
            )
        if not values:
            raise InputError(f"{model.name}: the grid has no values for {name!r}")


@frozen(kw_only=True)
class EstimatorModel(Model):
    """An estimator of scikit-learn's kind, fitted anew for every point of a grid.

    Its ``fit(X, y)`` gets ``qid`` too where it takes it (in a pipeline, where the last step does), and so
    does ``predict``. A classifier learns to tell relevant documents (y > 0) from others; the score of a
    document is its ``decision_function``, or the probability that it is relevant.

    Parameters
    ----------
    name, features : see `Model`.
    estimator : what is cloned and fitted; it is not changed.
    grid : values for parameters of the estimator by name, the simplest first: all combinations are
        fitted, the last parameter changing fastest. None by default: one candidate.
    sparse : give indicators (`Indicators`) to an estimator that knows only arrays as a CSR matrix.
    """

    name: str
    features: FeatureMap
    estimator: BaseEstimator
    grid: Grid = field(default=(), converter=as_grid, validator=require_grid)
    sparse: bool = field(default=False, validator=truth_value)

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every point of the grid; see `Model.candidates`."""
        found = []
        for settings in points(self.grid):
            fitted, seconds = fit(self.estimator, settings, expanded(X, self.sparse), y, qid)
            found.append(Candidate(value_of(settings), partial(_scores, fitted, self.sparse), seconds))
        return found


def points(grid: Grid) -> Iterator[dict[str, Any]]:
    """Yield all combinations of the values of a grid; one without settings for a grid of no parameters."""
    names = [name for name, _ in grid]
    for values in product(*(values for _, values in grid)):
        yield dict(zip(names, values, strict=True))


def value_of(settings: Mapping[str, Any]) -> Value:
    """Return a single number as it is, and other settings in words: "C=10, gamma=0.1"."""
    if len(settings) == 1:
        (value,) = settings.values()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def fit(
    estimator: BaseEstimator, settings: Mapping[str, Any], X: Any, y: Vector, qid: IntVector
) -> tuple[BaseEstimator, float]:
    """Fit a clone of an estimator with other settings; return it, and how many seconds it took."""
    fitted: Any = clone(estimator).set_params(**settings)
    labels = (y > 0).astype(np.float64) if is_classifier(fitted) else y
    last = fitted.steps[-1] if isinstance(fitted, Pipeline) else ("", fitted)
    routed = {f"{last[0]}__qid".removeprefix("__"): qid} if has_fit_parameter(last[1], "qid") else {}
    began = time.perf_counter()
    fitted.fit(X, labels, **routed)
    if getattr(getattr(last[1], "result_", None), "status", None) is Status.INTERRUPTED:
        raise KeyboardInterrupt  # a solver that was interrupted keeps its best so far: that is not its result
    return fitted, time.perf_counter() - began


def expanded(X: Any, sparse: bool) -> Any:
    """Return indicators as CSR if that is asked for."""
    return X.tocsr() if sparse and isinstance(X, BinnedMatrix) else X


def _scores(fitted: Any, sparse: bool, X: Any, qid: IntVector) -> Vector:
    X = expanded(X, sparse)
    if not is_classifier(fitted):
        scores = fitted.predict(X, qid=qid) if _takes_qid(fitted) else fitted.predict(X)
    elif hasattr(fitted, "decision_function"):
        scores = fitted.decision_function(X)
    else:
        scores = fitted.predict_proba(X)[:, 1]
    return np.asarray(scores, dtype=np.float64)


def _takes_qid(fitted: Any) -> bool:
    return "qid" in signature(fitted.predict).parameters
