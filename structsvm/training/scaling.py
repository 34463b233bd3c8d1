"""Normalize features for a fit, or warn of columns on very different scales, which a regularizer treats unequally."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from structsvm.exceptions import FeatureScaleWarning, stacklevel_of_user
from structsvm.features.scaling.names import FEATURE_SCALINGS, scaling_named
from structsvm.features.scaling.scalings import Scaling, learn_scaling
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import place
from structsvm.foundation.types import IntVector, Vector

FAR_APART = 1000.0
"""Warn if ranges of columns differ by a larger factor s: C then acts s² times as much on one, so no C suits both."""

_ROWS = 2**12
"""Number of rows that are sampled."""


def scaled(
    owner: str,
    normalize: Any,
    X: Any,
    queries: Callable[[], Queries],
    weights: Vector | None,
    names: Sequence[str] | None = None,
    *,
    warn: bool = True,
) -> tuple[Any, Scaling | None]:
    """Return training rows after ``normalize``, and the scaling; without one, ``warn`` of columns that need it.

    ``weights`` are the weights of rows, shape (rows,); None: all 1.
    """
    name = scaling_named(place(owner, "normalize"), normalize)
    if name is None:
        if warn and (isinstance(X, np.ndarray) or hasattr(X, "indptr")):
            warn_of_ranges(ColumnRanges.of(X), names)
        return X, None
    scaling = learn_scaling(name, X, weights)
    return scaling.rows(X, queries() if scaling.by_query else None), scaling


def warn_of_ranges(ranges: "ColumnRanges", names: Sequence[str] | None) -> None:
    """Warn if ranges of columns are far apart."""
    if ranges.far_apart:
        label = "column {}".format if names is None else lambda k: repr(str(names[k]))
        warnings.warn(
            f"{ranges.description(label)}: try normalize={' or '.join(map(repr, FEATURE_SCALINGS))}",
            FeatureScaleWarning,
            stacklevel=stacklevel_of_user(),
        )


@frozen(eq=False)
class ColumnRanges:
    """The range (maximum minus minimum) of each sampled column, by ascending number; the other columns do not vary."""

    columns: IntVector = field(repr=False)
    ranges: Vector = field(repr=False)

    @classmethod
    def of(cls, X: Any) -> "ColumnRanges":
        """Sample a few thousand evenly spaced rows, dense or CSR; a column that rarely varies may be missed."""
        rows = X[:: -(-X.shape[0] // _ROWS)] if X.shape[0] > _ROWS else X
        if hasattr(rows, "indptr"):
            return cls(*_of_entries(rows))
        with np.errstate(over="ignore"):
            ranges = np.asarray(rows.max(axis=0) - rows.min(axis=0), dtype=np.float64)
        return cls(np.arange(len(ranges)), ranges)

    @property
    def far_apart(self) -> bool:
        """True if the largest range is more than `FAR_APART` times the smallest positive range."""
        varying = self.ranges[self.ranges > 0.0]
        return len(varying) > 1 and bool(varying.max() / FAR_APART > varying.min())

    def description(self, name: Any) -> str:
        """Describe the columns with the largest and the smallest range; ``name`` maps a column number to its name."""
        order = np.argsort(self.ranges, kind="stable")
        varying = order[self.ranges[order] > 0.0]
        ends = [(name(int(self.columns[k])), self.ranges[k]) for k in (varying[-1], varying[0])]
        (most, large), (least, small) = ends
        return (
            f"ranges of the features differ by a factor of {large / small:.2g}: largest {most} ({large:.2g}), smallest "
            f"{least} ({small:.2g}), median {np.median(self.ranges[varying]):.2g}. At any C, the regularizer hardly "
            "affects the weights of features with large ranges, and suppresses all other weights"
        )


def _of_entries(X: Any) -> tuple[IntVector, Vector]:
    """Return the columns of a CSR matrix that have entries, and their ranges; absent entries are 0."""
    columns, position, counts = np.unique(X.indices, return_inverse=True, return_counts=True)
    low, high = np.zeros(len(columns)), np.zeros(len(columns))
    np.minimum.at(low, position, X.data)
    np.maximum.at(high, position, X.data)
    # These columns have an entry in every row, so 0 does not count.
    for column in np.flatnonzero(counts >= X.shape[0]):
        values = X.data[position == column]
        low[column], high[column] = values.min(), values.max()
    return columns.astype(np.int64), high - low
