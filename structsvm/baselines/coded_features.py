"""Features as small integers: how many thresholds are below each value."""

from typing import Any, Self

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.types import BoolVector, Vector


@frozen(eq=False)
class CodedFeatures:
    """Training rows, of which each value is replaced by the number of thresholds below it.

    Parameters
    ----------
    codes : shape (d, n); one more than there are thresholds where the value is missing.
    thresholds : those of each feature, ascending.
    missing : whether a value of the feature is missing in any row, shape (d,).
    """

    codes: NDArray[Any]
    thresholds: list[Vector]
    missing: BoolVector

    @classmethod
    def of(cls, X: NDArray[Any], max_thresholds: int | None) -> Self:
        """Choose the thresholds of each feature among its values and code all rows.

        Parameters
        ----------
        X : features, shape (n, d), NaN where missing.
        max_thresholds : largest number of thresholds of a feature; None: as many as it has different values, but one.
        """
        lacks = np.isnan(X)
        thresholds = [
            _thresholds(column[~lacking].astype(np.float64), max_thresholds)
            for column, lacking in zip(X.T, lacks.T, strict=True)
        ]
        most = max(len(each) for each in thresholds) + 1
        codes = np.empty((X.shape[1], X.shape[0]), dtype=np.min_scalar_type(most))
        for f, (each, column) in enumerate(zip(thresholds, X.T, strict=True)):
            codes[f] = np.where(lacks[:, f], len(each) + 1, np.searchsorted(each, column, side="left"))
        return cls(codes, thresholds, lacks.any(axis=0))


def _thresholds(values: Vector, most: int | None) -> Vector:
    """Choose thresholds among values: all but the largest, or, if these are too many, quantiles."""
    different = np.unique(values)
    if most is None or len(different) - 1 <= most:
        return different[:-1]
    quantiles = np.unique(np.sort(values)[np.arange(1, most + 1) * len(values) // (most + 1)])
    return quantiles[quantiles < different[-1]]
