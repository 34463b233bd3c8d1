"""Features as small integers: how many thresholds are below each value."""

from typing import Any, Self

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.types import BoolVector, IntVector, Vector

_COLUMNS = 16
"""Columns that are copied at a time: a look at a row is a look at all that is near in memory."""


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
    def of(cls, X: NDArray[Any], rows: IntVector, max_thresholds: int | None) -> Self:
        """Choose the thresholds of each feature among its values and code rows.

        Parameters
        ----------
        X : features, NaN where missing, a document a row.
        rows : the rows to code, shape (n,); only their values are thresholds.
        max_thresholds : number of thresholds of a feature, at most; where there could be more, quantiles are chosen
            among values, each counted for one part of ``max_thresholds + 1`` at most. None: all values but the
            largest.
        """
        features, codes, thresholds, missing = [], [], [], []
        for first in range(0, X.shape[1], _COLUMNS):
            columns = np.ascontiguousarray(X[rows, first : first + _COLUMNS].T)
            for f, column in enumerate(columns, first):
                present = np.sort(column)[: len(column) - np.count_nonzero(np.isnan(column))]  # NaN is last
                chosen, lacks = _thresholds(present, max_thresholds), 0 < len(present) < len(column)
                if len(chosen) > 0 or lacks:
                    features.append(f)
                    codes.append(_code(column, chosen, lacks))
                    thresholds.append(chosen.astype(np.float64))
                    missing.append(lacks)
        coded = np.stack(codes) if codes else np.empty((0, len(rows)), dtype=np.uint8)
        return cls(np.array(features, dtype=np.int64), coded, thresholds, np.array(missing, dtype=np.bool_))


def _code(column: NDArray[Any], thresholds: NDArray[Any], lacks: bool) -> NDArray[Any]:
    code = np.searchsorted(thresholds, column, side="left").astype(np.min_scalar_type(len(thresholds) + lacks))
    if lacks:
        code[np.isnan(column)] = len(thresholds) + 1
    return code


def _thresholds(ascending: NDArray[Any], most: int | None) -> NDArray[Any]:
    """Choose thresholds among sorted values: all but the largest, or ``most`` of them if these are too many.

    These are the quantiles of the values, none of which counts for more than one part of ``most + 1`` equal ones: a
    value that more rows have is a threshold by itself, and the rest is divided by count, as in LightGBM's bins.
    """
    ends = np.flatnonzero(ascending[:-1] != ascending[1:])
    if most is None or len(ends) <= most:
        return ascending[ends]
    counts = np.diff(np.append(ends, len(ascending) - 1), prepend=-1)
    parts, rest = most + 1, len(ascending)
    frequent = np.zeros(len(counts), dtype=np.bool_)
    while (more := ~frequent & (counts * parts > rest)).any():
        frequent |= more
        parts, rest = most + 1 - int(frequent.sum()), int(counts[~frequent].sum())
    limited = np.where(frequent, rest, counts * parts)  # in whole numbers: a part is ``rest``
    quantiles = np.searchsorted(np.cumsum(limited), rest * np.arange(1, most + 1))
    return ascending[ends[quantiles]]
