"""Linear models: `Ranker`, `RankSVM`, `MaximumEntropy` and `WeightSearch`."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.result import columns_of, wide
from structsvm.serving.scorer import Scorer
from structsvm.settings import require_number
from structsvm.storage.archives import finite_numbers, require_numbers, shape
from structsvm.types import Vector


@frozen(eq=False)
class LinearScorer(Scorer):
    """Scores ``X w + b``.

    Parameters
    ----------
    about : see `Scorer`.
    coef : w, shape (d,).
    intercept : b.
    """

    takes_sparse: ClassVar[bool] = True
    spreads: ClassVar[bool] = True

    coef: Vector = field(repr=False)
    intercept: float = 0.0

    def _scores(self, X: Any) -> Vector:
        # Not X @ w, by which BLAS sums the last rows in another order: equal rows would get unequal scores.
        scores: Vector = np.vecdot(X, self.coef) if type(X) is np.ndarray else X @ self.coef
        return scores + self.intercept if self.intercept else scores


def weights_of_result(arrays: Mapping[str, Any], n_features: int, scaling: float) -> tuple[Vector, float]:
    """Return the weights and the intercept that are in the arrays of a `Result`, of which nothing is believed.

    Parameters
    ----------
    arrays : those of the file.
    n_features : number of features.
    scaling : value of the constant feature; 0 without one.
    """
    columns = columns_of(arrays)
    if columns is not None and columns[-1] >= n_features:
        raise ValueError(f"its weights are of feature {columns[-1] + 1}, and it has {n_features}")
    require_numbers(arrays, "w", ((n_features if columns is None else len(columns)) + bool(scaling),))
    w = wide(finite_numbers(arrays, "w"), columns, n_features)
    return (w[:-1], float(w[-1]) * scaling) if scaling else (w, 0.0)


def weights_and_intercept(
    arrays: Mapping[str, Any], n_features: int, fitted: Mapping[str, Any]
) -> tuple[Vector, float]:
    """Return ``coef`` and the intercept of a model that has no certificate; see `weights_of_result`."""
    intercept = fitted["intercept_"]
    require_number("intercept_", intercept)
    require_numbers(arrays, "coef", (n_features,))
    return finite_numbers(arrays, "coef"), float(intercept)


def weights_of_path(arrays: Mapping[str, Any], n_features: int) -> tuple[Vector, Vector]:
    """Return the weights of each stage of a search, whose last are those of the model, and what each was worth."""
    stages = shape(arrays, "coef_path")[0]
    if stages < 1:
        raise ValueError("'coef_path' has no weights")
    require_numbers(arrays, "coef_path", (stages, n_features))
    require_numbers(arrays, "map_path", (stages,))
    return finite_numbers(arrays, "coef_path"), finite_numbers(arrays, "map_path")
