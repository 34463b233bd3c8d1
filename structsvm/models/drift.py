"""Detect drift: compare new features with the ranges and deciles of the training features."""

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError, counted
from structsvm.foundation.storage.archives import finite_numbers
from structsvm.foundation.types import IntVector, Matrix, Vector

MOST_FEATURES = 2**12
"""Largest number of features with statistics: for wider data, they would be larger than the model."""

_SAMPLED = 2**11
"""Number of training rows, drawn at random, for the computation of deciles."""

_ROWS = 8
"""Number of rows that are read as one for ranges."""

_CHUNK = 2**16
"""Number of values that are read once for both ends of ranges: they fit into a processor's cache."""

_QUANTILES = 201
"""Number of quantiles in the summary of a partition; merged deciles are within 1/200 of the rows."""

_LEVEL = 0.05
"""Probability of a false alarm for any feature."""

ARRAYS = ("feature_ranges", "feature_deciles", "feature_shares", "feature_queries")
"""Names of the statistics in files."""


@frozen(eq=False)
class FeatureStatistics:
    """Range, deciles and shares of training rows, shapes (d, 2), (d, 9) and (d, 11); the last share is of NaN.

    Bin k has the values above decile k−1 and up to decile k. The first of several equal deciles is replaced by the next
    smaller value, so that a frequent value has its own bin. ``queries`` is the `effective_number` of queries.
    """

    ranges: Matrix
    deciles: Matrix
    shares: Matrix
    queries: float

    @classmethod
    def of(cls, X: Any, ends: Matrix | None = None) -> Self | None:
        """Compute the statistics of features, each row as one query; None if they are too many, or of other kinds.

        ``ends`` are the finite `ends_of` features, if they are known.
        """
        if not X.shape[0] or not has_statistics(X):
            return None
        sample = _sample(X)
        ordered = np.sort(sample.T, axis=1).astype(np.float64)
        deciles = _sample_deciles(ordered)
        below = [np.searchsorted(*column, side="right") for column in zip(ordered, deciles, strict=True)]
        ranges = _ranges(X) if ends is None else ends.T.astype(np.float64)
        return cls(ranges, deciles, _as_shares(np.array(below).T, ordered.T), float(len(sample)))

    @classmethod
    def merged(cls, summaries: "Sequence[FeatureSummary]") -> Self:
        """Return the statistics of the rows of several summaries, with shares of 0, which `with_shares` replaces."""
        ranges = np.column_stack(
            [
                np.min([summary.ranges[:, 0] for summary in summaries], axis=0),
                np.max([summary.ranges[:, 1] for summary in summaries], axis=0),
            ]
        )
        values = np.concatenate([summary.quantiles for summary in summaries], axis=1)
        weights = np.repeat([float(summary.rows) for summary in summaries], _QUANTILES)
        deciles = np.array([_deciles(column, weights) for column in values])
        total, squares = np.sum([summary.sizes for summary in summaries], axis=0)
        return cls(ranges, deciles, np.zeros((len(ranges), 11)), float(total**2 / squares))

    @classmethod
    def read(cls, arrays: Mapping[str, Any], d: int) -> Self:
        """Return the statistics in a file; raise ValueError if they are malformed."""
        shapes = ((d, 2), (d, 9), (d, 11), ())
        ranges, deciles, shares, queries = (
            finite_numbers(arrays, name, shape) for name, shape in zip(ARRAYS, shapes, strict=True)
        )
        if not queries >= 1.0:
            raise ValueError(f"'feature_queries' must be at least 1, got {queries}")
        return cls(ranges, deciles, shares, float(queries))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a file."""
        return dict(zip(ARRAYS, (self.ranges, self.deciles, self.shares, np.array(self.queries)), strict=True))

    def with_queries(self, sizes: IntVector | Vector) -> Self:
        """Return the same statistics with the effective number of queries of these sizes, at most the rows read."""
        return evolve(self, queries=min(self.queries, effective_number(sizes)))

    def with_shares(self, shares: Sequence[Matrix], rows: Sequence[int]) -> Self:
        """Return the statistics with the mean of the shares of partitions, weighted by their rows."""
        return evolve(self, shares=np.average(shares, axis=0, weights=rows))

    def shares_of(self, X: Any) -> Matrix:
        """Return the share of rows in each bin, of at most as many rows as `of` reads, shape (d, 11)."""
        return _shares(_sample(X), self.deciles)

    def compared(self, X: NDArray[Any], sizes: Vector, names: tuple[str, ...] | None) -> "FeatureCheck":
        """Compare dense rows of queries of these sizes with the training rows."""
        shares = _shares(X, self.deciles)
        rows, trained = len(X), self.queries
        # No share is 0, or its logarithm would not be finite: half a row.
        old, new = np.maximum(self.shares, 0.5 / max(trained, rows)), np.maximum(shares, 0.5 / rows)
        psi = np.where((self.shares > 0.0) | (shares > 0.0), (new - old) * np.log(new / old), 0.0).sum(axis=1)
        bins = np.maximum(((self.shares > 0.0) | (shares > 0.0)).sum(axis=1), 2)
        threshold = _chi_squared(bins - 1.0, _LEVEL / len(psi)) * (1.0 / effective_number(sizes) + 1.0 / trained)
        low, high = self.ranges.T
        with np.errstate(over="ignore"):
            width = high - low
            outside = ((low > X) | (high < X)).sum(axis=0)
            far = (((low - width > X) | (high + width < X)) & (width > 0.0)).sum(axis=0)
        return FeatureCheck(psi, threshold, outside, far, rows, names)


@frozen(eq=False)
class FeatureSummary:
    """Summary of the rows of a partition, which `FeatureStatistics.merged` merges.

    Ranges have shape (d, 2), quantiles (d, `_QUANTILES`); ``sizes`` are the sums of query sizes and of their squares.
    """

    ranges: Matrix
    quantiles: Matrix
    rows: int
    sizes: tuple[float, float]

    @classmethod
    def of(cls, X: Any, sizes: IntVector | Vector) -> Self:
        """Summarize rows of queries of these sizes."""
        quantiles = np.quantile(_sample(X), np.linspace(0.0, 1.0, _QUANTILES), axis=0, method="inverted_cdf")
        squares = float((np.asarray(sizes, dtype=np.float64) ** 2).sum())
        return cls(_ranges(X), quantiles.T.astype(np.float64), X.shape[0], (float(np.sum(sizes)), squares))


@frozen(eq=False)
class FeatureCheck:
    """A comparison of new features with the training features, from `TrainedModel.check`; ``str`` makes a table.

    Parameters
    ----------
    psi : population stability index of each feature over ten bins between deciles, shape (d,).
    threshold : largest index due to chance, at level 0.05 for all features together, shape (d,).
    outside : number of rows outside the feature's range in training, shape (d,).
    far : number of rows outside this range by more than its width, shape (d,).
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
        """Features, from 0, with an index above the threshold or with values far outside, the worst first."""
        drifting = np.flatnonzero((self.psi > self.threshold) | (self.far > 0))
        return drifting[np.lexsort((-(self.psi / self.threshold)[drifting], -self.far[drifting]))]

    def __str__(self) -> str:
        if not len(self.drifted):
            return f"no feature of {self.rows} rows has drifted"
        lines = [f"{len(self.drifted)} of {len(self.psi)} features drifted in {counted(self.rows, 'row')}:"]
        for k in self.drifted.tolist():
            name = f"feature {k + 1}" if self.feature_names is None else self.feature_names[k]
            lines.append(
                f"{name}: PSI {self.psi[k]:.3g} (threshold {self.threshold[k]:.3g}), outside the training range "
                f"{self.outside[k]} rows ({self.outside[k] / self.rows:.1%}), far outside {self.far[k]}"
            )
        return "\n".join(lines)


def statistics_of(arrays: Mapping[str, Any], d: int, title: str) -> FeatureStatistics:
    """Return the statistics of a model's training; raise InputError if they are missing."""
    if not set(ARRAYS) <= set(arrays):
        raise InputError(
            f"this {title} has no statistics of its training features to check against: fit it on rows of at most "
            f"{MOST_FEATURES} features, dense, sparse or binned"
        )
    try:
        return FeatureStatistics.read(arrays, d)
    except ValueError as error:
        raise InputError(
            f"the statistics of the training features are malformed: {error}. Fit the model again"
        ) from None


def effective_number(sizes: IntVector | Vector) -> float:
    """Return Kish's effective number of queries: their number if all have equal sizes, else less."""
    counts = np.asarray(sizes, dtype=np.float64)
    return float(counts.sum() ** 2 / (counts**2).sum())


def has_statistics(X: Any) -> bool:
    """Return whether features are dense, CSR or binned, and not too many."""
    return X.shape[1] <= MOST_FEATURES and (isinstance(X, np.ndarray) or hasattr(X, "indptr") or _is_coded(X))


def _is_coded(X: Any) -> bool:
    # Matrices of codes exist only if their module is loaded, which models do without.
    return hasattr(X, "codes") and hasattr(X, "offsets")


def _sample(X: Any) -> NDArray[Any]:
    """Return random rows, dense; the same ones for the same number of rows."""
    rows = X.shape[0]
    if rows > _SAMPLED:
        # Evenly spaced rows may all have the same place in their queries.
        X = X[np.sort(np.random.default_rng(rows).choice(rows, _SAMPLED, replace=False))]
    dense: NDArray[Any] = X if isinstance(X, np.ndarray) else X.toarray(np.uint8) if _is_coded(X) else X.toarray()
    return dense


def _ranges(X: Any) -> Matrix:
    """Return the least and the largest value of each feature over all rows, shape (d, 2)."""
    if _is_coded(X):
        return np.tile([0.0, 1.0], (X.shape[1], 1))
    if isinstance(X, np.ndarray):
        ends = ends_of(X)
        # Minima that propagate NaN are faster.
        if np.isnan(ends).any():
            ends = np.array([np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)])
    else:
        ends = np.array([end(axis=0).toarray().ravel() for end in (X.tocsr().nanmin, X.tocsr().nanmax)])
    return np.nan_to_num(ends.T.astype(np.float64))


def ends_of(X: NDArray[Any]) -> NDArray[Any]:
    """Return the least and the largest value of each feature of dense rows, or NaN if it has one, shape (2, d)."""
    d = X.shape[1]
    # Long rows are faster.
    step = _ROWS * max(1, _CHUNK // (_ROWS * d))
    chunks = [X[first : first + step] for first in range(0, len(X), step)]
    chunks = [chunk if len(chunk) % _ROWS else chunk.reshape(-1, _ROWS * d) for chunk in chunks]
    both = [(chunk.min(axis=0).reshape(-1, d), chunk.max(axis=0).reshape(-1, d)) for chunk in chunks]
    low, high = (np.concatenate(end) for end in zip(*both, strict=True))
    return np.array([low.min(axis=0), high.max(axis=0)])


def _sample_deciles(ordered: Matrix) -> Matrix:
    """Return the deciles of sorted columns, shape (d, rows); see `_deciles`."""
    rows = ordered.shape[1]
    places = np.ceil(np.arange(1, 10) / 10 * rows).astype(np.int64) - 1
    deciles = ordered[:, places]
    # NaN is sorted to the end.
    special = np.isnan(ordered[:, -1]) | (deciles[:, 1:] == deciles[:, :-1]).any(axis=1)
    ones = np.ones(rows)
    for k in np.flatnonzero(special):
        deciles[k] = _deciles(ordered[k], ones)
    return deciles


def _deciles(column: NDArray[Any], weights: Vector) -> Vector:
    """Return values between ten bins, shape (9,); see `FeatureStatistics`."""
    there = ~np.isnan(column)
    if not there.any():
        return np.zeros(9)
    values, weights = column[there].astype(np.float64), weights[there]
    order = np.argsort(values, kind="stable")
    values, reached = values[order], np.cumsum(weights[order])
    # Deciles are values that occur, so that each bin with a value has a share of the training rows.
    places = np.searchsorted(reached, np.arange(1, 10) / 10 * reached[-1])
    cuts: Vector = values[np.minimum(places, len(values) - 1)]
    equal = cuts[1:] == cuts[:-1]
    repeated = np.append(equal, [False]) & np.append([True], ~equal)
    smaller = values[np.maximum(np.searchsorted(values, cuts) - 1, 0)]
    return np.where(repeated, smaller, cuts)


def _shares(X: NDArray[Any], deciles: Matrix) -> Matrix:
    """Return the share of the rows in each bin, and of NaN, shape (d, 11)."""
    return _as_shares(np.array([np.count_nonzero(edges >= X, axis=0) for edges in deciles.T]), X)


def _as_shares(below: IntVector, X: NDArray[Any]) -> Matrix:
    """Return shares from the number of rows up to each decile, shape (9, d)."""
    numbers = len(X) - np.count_nonzero(np.isnan(X), axis=0)
    counts = np.diff([np.zeros_like(numbers), *below, numbers, np.full_like(numbers, len(X))], axis=0)
    return np.asarray(counts.T / max(len(X), 1))


def _chi_squared(df: NDArray[Any], level: float) -> Vector:
    """Return the upper quantile of chi-squared by Wilson and Hilferty's approximation (1931), within 1 %."""
    z = NormalDist().inv_cdf(1.0 - level)
    scale = 2.0 / (9.0 * df)
    quantiles: Vector = df * (1.0 - scale + z * np.sqrt(scale)) ** 3
    return quantiles
