"""Ranges and deciles of the training features, and new features compared with them."""

from collections.abc import Mapping
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.foundation.storage.archives import finite_numbers
from structsvm.foundation.types import IntVector, Matrix, Vector

_SAMPLED = 2**14
"""Number of training rows, evenly spaced, from which deciles are computed."""

_MOST_FEATURES = 2**12
"""Wider data get no statistics: they would be larger than the model."""

_LEVEL = 0.05
"""Probability of a false alarm for any feature."""

ARRAYS = ("feature_ranges", "feature_deciles", "feature_shares")
"""Names of the statistics in files."""


@frozen(eq=False)
class FeatureStatistics:
    """Range, deciles and shares of training rows, shapes (d, 2), (d, 9) and (d, 11); the last share is of NaN.

    Bin k has the values above decile k−1 and up to decile k; bins between equal deciles are empty.
    """

    ranges: Matrix
    deciles: Matrix
    shares: Matrix

    @classmethod
    def of(cls, X: Any) -> Self | None:
        """Compute the statistics of dense or CSR features; None if there are too many features."""
        if not X.shape[0] or X.shape[1] > _MOST_FEATURES or not (isinstance(X, np.ndarray) or hasattr(X, "indptr")):
            return None
        sample = X[:: -(-X.shape[0] // _SAMPLED)]
        if isinstance(X, np.ndarray):
            ends = [np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)]
        else:
            ends = [end(axis=0).toarray().ravel() for end in (X.tocsr().nanmin, X.tocsr().nanmax)]
            sample = sample.toarray()
        ranges = np.nan_to_num(np.column_stack(ends).astype(np.float64))
        ordered = np.sort(sample.astype(np.float64), axis=0)
        known = len(ordered) - np.isnan(ordered).sum(axis=0)
        # Deciles are values that occur, so that each bin with a value has a share of the training rows.
        place = np.maximum(np.ceil(np.outer(np.arange(1, 10) / 10, known)).astype(np.int64) - 1, 0)
        deciles = np.nan_to_num(np.take_along_axis(ordered, place, axis=0).T)
        return cls(ranges, np.ascontiguousarray(deciles), _shares(sample, deciles))

    @classmethod
    def read(cls, arrays: Mapping[str, Any], d: int) -> Self:
        """Return the statistics in a file; raise ValueError if they are malformed."""
        shapes = ((d, 2), (d, 9), (d, 11))
        return cls(*(finite_numbers(arrays, name, shape) for name, shape in zip(ARRAYS, shapes, strict=True)))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a file."""
        return dict(zip(ARRAYS, (self.ranges, self.deciles, self.shares), strict=True))

    def compared(self, X: NDArray[Any], sizes: Vector, known: float, names: tuple[str, ...] | None) -> "FeatureCheck":
        """Compare dense rows of queries of these sizes with the training rows, of ``known`` queries."""
        shares = _shares(X, self.deciles)
        rows = len(X)
        # No share is 0, or its logarithm would not be finite: half a row.
        old, new = np.maximum(self.shares, 0.5 / max(known, rows)), np.maximum(shares, 0.5 / rows)
        psi = np.where((self.shares > 0.0) | (shares > 0.0), (new - old) * np.log(new / old), 0.0).sum(axis=1)
        bins = np.maximum(((self.shares > 0.0) | (shares > 0.0)).sum(axis=1), 2)
        effective = sizes.sum() ** 2 / (sizes**2).sum()
        threshold = _chi_squared(bins - 1.0, _LEVEL / len(psi)) * (1.0 / effective + 1.0 / known)
        low, high = self.ranges.T
        with np.errstate(over="ignore"):
            width = high - low
            outside = ((low > X) | (high < X)).sum(axis=0)
            far = (((low - width > X) | (high + width < X)) & (width > 0.0)).sum(axis=0)
        return FeatureCheck(psi, threshold, outside, far, rows, names)


@frozen(eq=False)
class FeatureCheck:
    """New features compared with those of the training; ``str`` makes a table, `TrainedModel.check` returns one.

    Parameters
    ----------
    psi : population stability index of each feature over ten bins between deciles, shape (d,).
    threshold : largest index that chance explains, for all features together at level 0.05, shape (d,).
    outside : number of rows outside the range of the training, shape (d,).
    far : number of rows outside it by more than its width, shape (d,).
    rows : number of rows.
    feature_names : names of the features; None if they have numbers only.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> model = Ranker(C=5.0).fit([[1.0], [2.0]], [0, 1], qid=[1, 1]).model_
    >>> checked = model.check([[1.5], [1e12]], qid=[1, 1])
    >>> isinstance(checked, FeatureCheck), checked.far.tolist(), checked.drifted.tolist()
    (True, [1], [0])
    """

    psi: Vector = field(repr=False)
    threshold: Vector = field(repr=False)
    outside: IntVector = field(repr=False)
    far: IntVector = field(repr=False)
    rows: int
    feature_names: tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def drifted(self) -> IntVector:
        """Features, from 0, whose index is above the threshold or that have values far outside, the worst first."""
        found = np.flatnonzero((self.psi > self.threshold) | (self.far > 0))
        return found[np.lexsort((-(self.psi / self.threshold)[found], -self.far[found]))]

    def __str__(self) -> str:
        if not len(self.drifted):
            return f"no feature of {self.rows} rows has drifted"
        lines = [f"{len(self.drifted)} of {len(self.psi)} features have drifted in {self.rows} rows:"]
        for k in self.drifted.tolist():
            name = f"feature {k + 1}" if self.feature_names is None else self.feature_names[k]
            lines.append(
                f"{name}: PSI {self.psi[k]:.3g} (threshold {self.threshold[k]:.3g}), outside the training range "
                f"{self.outside[k]} rows ({self.outside[k] / self.rows:.1%}), far outside {self.far[k]}"
            )
        return "\n".join(lines)


def statistics_of(arrays: Mapping[str, Any], d: int, title: str) -> FeatureStatistics:
    """Return the statistics of a model's training; raise InputError if it has none."""
    if not set(ARRAYS) <= set(arrays):
        raise InputError(
            f"this {title} has no statistics of its training features to check against: fit it on rows of at most "
            f"{_MOST_FEATURES} features, dense or sparse"
        )
    try:
        return FeatureStatistics.read(arrays, d)
    except ValueError as error:
        raise InputError(
            f"the statistics of the training features are malformed: {error}. Fit the model again"
        ) from None


def _shares(X: NDArray[Any], deciles: Matrix) -> Matrix:
    """Return the share of the rows in each bin, and of NaN, shape (d, 11)."""
    found = np.empty((X.shape[1], 11))
    for k, edges in enumerate(deciles):
        column = X[:, k]
        bins = np.searchsorted(edges, column)
        found[k] = np.bincount(np.where(np.isnan(column), 10, bins), minlength=11) / max(len(X), 1)
    return found


def _chi_squared(df: NDArray[Any], level: float) -> Vector:
    """Return the upper quantile of chi-squared by Wilson and Hilferty's approximation (1931), within 1 %."""
    z = NormalDist().inv_cdf(1.0 - level)
    scale = 2.0 / (9.0 * df)
    found: Vector = df * (1.0 - scale + z * np.sqrt(scale)) ** 3
    return found
