"""Features as small integers: how many thresholds are below each value."""

from typing import Any, Self

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.types import BoolVector, IntVector, Vector


@frozen(eq=False)
class CodedFeatures:
    """Training rows, of which each value is replaced by the number of thresholds below it.

    Parameters
    ----------
    features : columns that differ between rows, shape (m,). Only they are coded.
    codes : shape (m, n); one more than there are thresholds where the value is missing.
    thresholds : those of each, ascending.
    missing : whether a value is missing in any row, shape (m,).
    """

    features: IntVector
    codes: NDArray[Any]
    thresholds: list[Vector]
    missing: BoolVector

    @classmethod
    def of(cls, X: NDArray[Any], max_thresholds: int | None) -> Self:
        """Choose the thresholds of each feature among its values and code all rows.

        Parameters
        ----------
        X : features, shape (n, d), NaN where missing.
        max_thresholds : number of thresholds of a feature, at most; quantiles are chosen where there could be more.
            None: all values but the largest.
        """
        columns = np.ascontiguousarray(X.T)
        features, thresholds, missing = [], [], []
        for f, column in enumerate(columns):
            ascending = np.sort(column)  # NaN is last
            present = ascending[: len(column) - np.count_nonzero(np.isnan(column))]
            chosen = _thresholds(present, max_thresholds)
            lacks = 0 < len(present) < len(column)
            if len(chosen) > 0 or lacks:
                features.append(f)
                thresholds.append(chosen)
                missing.append(lacks)
        largest = max((len(each) + lacks for each, lacks in zip(thresholds, missing, strict=True)), default=0)
        codes = np.empty((len(features), len(X)), dtype=np.min_scalar_type(largest))
        for code, f, chosen, lacks in zip(codes, features, thresholds, missing, strict=True):
            code[:] = np.searchsorted(chosen, columns[f], side="left")
            if lacks:
                code[np.isnan(columns[f])] = len(chosen) + 1
        return cls(
            np.array(features, dtype=np.int64),
            codes,
            [chosen.astype(np.float64) for chosen in thresholds],
            np.array(missing, dtype=np.bool_),
        )


def _thresholds(ascending: NDArray[Any], most: int | None) -> NDArray[Any]:
    """Choose thresholds among sorted values: all but the largest, or quantiles if these are too many."""
    below: NDArray[Any] = ascending[:-1][ascending[:-1] != ascending[1:]]
    if most is not None and len(below) > most:
        quantiles = ascending[np.arange(1, most + 1) * len(ascending) // (most + 1)]
        below = np.unique(np.minimum(quantiles, below[-1]))  # nothing is above the largest value
    return below
