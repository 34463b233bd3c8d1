"""Estimators fitted for the points of a grid, and what may be made a model of."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.pipeline import Pipeline

from structsvm.exceptions import InputError
from structsvm.operators import BinnedMatrix
from structsvm.protocols.model import Value
from structsvm.protocols.routing import call
from structsvm.result import Result, Status
from structsvm.types import IntVector, Vector

Grid = tuple[tuple[str, tuple[Any, ...]], ...]


def as_grid(grid: Mapping[str, Sequence[Any]] | Grid) -> Grid:
    """Return a grid as a value that does not change.

    Raises
    ------
    InputError : it is not values by name.
    """
    if not isinstance(grid, Mapping | tuple):
        raise InputError(f"grid must be a dict of values by the names of parameters, as {{'alpha': [1, 10]}}: {grid!r}")
    pairs = grid.items() if isinstance(grid, Mapping) else grid
    return tuple((name, _several(name, values)) for name, values in pairs)


def _several(name: str, values: Any) -> tuple[Any, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"grid must have a list of values for {name!r}, as [{values!r}]; it has {values!r}")
    return tuple(values)


def require_estimator(model: Any, attribute: Any, estimator: Any) -> None:
    """Refuse what is no estimator, and the class of one."""
    if isinstance(estimator, type):
        raise InputError(
            f"{model.name}: the estimator must be an object, {estimator.__name__}(...); {estimator.__name__} is a class"
        )
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise InputError(f"{model.name}: the estimator must have fit and get_params, as scikit-learn's; {estimator!r}")


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
    """Fit a clone of an estimator with other settings; return it, and how many seconds it took.

    Raises
    ------
    InputError : it is a classifier, and all documents are relevant, or none is.
    """
    fitted: Any = clone(estimator).set_params(**settings)
    labels = _classes(y) if is_classifier(fitted) else y
    began = time.perf_counter()
    call(fitted, "fit", X, labels, qid=qid)
    if getattr(getattr(_last_step(fitted), "result_", None), "status", None) is Status.INTERRUPTED:
        raise KeyboardInterrupt  # a solver that was interrupted keeps its best so far: that is not its result
    return fitted, time.perf_counter() - began


def gap_of(fitted: Any) -> float | None:
    """Return the certified gap of a fitted estimator, None where it has none.

    In units of the loss, ``gap / C``; for `RankSVM` as a share of the pairs, as its ``tol`` is.
    """
    last = _last_step(fitted)
    result = getattr(last, "result_", None)
    if not isinstance(result, Result):
        return None
    return max(result.gap, 0.0) / (result.C * getattr(last, "gap_unit_", 1.0))


def _last_step(fitted: Any) -> Any:
    return fitted.steps[-1][1] if isinstance(fitted, Pipeline) else fitted


def _classes(y: Vector) -> Vector:
    relevant = y > 0
    require_both_classes(float(relevant.mean()))
    return relevant.astype(np.float64)


def require_both_classes(share: float) -> None:
    """Refuse to learn to tell relevant documents from others where there is one kind only; `share` are relevant.

    Raises
    ------
    InputError : the share is 0 or 1.
    """
    if not 0.0 < share < 1.0:
        raise InputError(
            f"{'every' if share else 'no'} training document is relevant (a label above 0): a classifier learns from "
            "relevant documents and others"
        )


def expanded(X: Any, sparse: bool) -> Any:
    """Return indicators as CSR if that is asked for."""
    return X.tocsr() if sparse and isinstance(X, BinnedMatrix) else X
