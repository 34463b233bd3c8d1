"""Scalings of features, which rankers store with their weights; they need only NumPy, as prediction does."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.features.scaling.names import FEATURE_SCALINGS, STANDARD
from structsvm.foundation.arrays import canonical
from structsvm.foundation.memory import require_columns
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import require_switch
from structsvm.foundation.storage.archives import finite_numbers, json_object, require_names
from structsvm.foundation.types import IntVector, Vector

_VALUES_AT_ONCE = 2**17
"""Values that are scaled at a time, so that intermediate results stay in the processor's cache."""


def scaled_by_query(rows: Any, ptr: IntVector, name: str | None, *, centered: bool = True) -> Any:
    """Scale dense rows within queries that start at ``ptr``, shape (Q + 1,), and shift them if ``centered``."""
    if name is None or not len(rows):
        return rows
    if name == "query-percentiles":
        return _percentiles(rows, ptr)
    out = np.empty_like(rows, order="C")
    for first, last in _blocks(ptr, max(1, _VALUES_AT_ONCE // max(1, rows.shape[1]))):
        block = slice(ptr[first], ptr[last])
        out[block] = _scaled_block(rows[block], ptr[first : last + 1] - ptr[first], name, centered)
    return out


def scaled_entries(values: Vector, starts: IntVector, sizes: IntVector, name: str) -> tuple[Vector, Vector]:
    """Divide entries, grouped from ``starts``, by their scales; return them, and shift over scale of each group."""
    counts = np.diff(starts, append=len(values))
    absent = sizes - counts
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    low, high = np.where(absent, np.minimum(low, 0.0), low), np.where(absent, np.maximum(high, 0.0), high)
    low, spread = _halves(low, high)
    unit = (0.5 * values - np.repeat(low, counts)) / np.repeat(spread, counts)
    shift, scale = _of_unit(unit, starts, counts, name, absent=absent, zero=-low / spread)
    return 0.5 * values / np.repeat(spread * scale, counts), (low / spread + shift) / scale


def _scaled_block(rows: Any, ptr: IntVector, name: str, centered: bool) -> Any:
    sizes = np.diff(ptr)
    if np.isnan(rows).any():
        low, high = (extreme.reduceat(rows, ptr[:-1], axis=0) for extreme in (np.fmin, np.fmax))
    else:
        low, high = (extreme.reduceat(rows, ptr[:-1], axis=0) for extreme in (np.minimum, np.maximum))
    low, spread = _halves(low.astype(np.float64), high.astype(np.float64))
    unit = (0.5 * rows - np.repeat(low, sizes, axis=0)) / np.repeat(spread, sizes, axis=0)
    shift, scale = _of_unit(unit, ptr[:-1], sizes, name)
    if not centered:
        return 0.5 * rows / np.repeat(spread * scale, sizes, axis=0)
    return (
        unit if name == "query-min-max" else (unit - np.repeat(shift, sizes, axis=0)) / np.repeat(scale, sizes, axis=0)
    )


def _halves(low: Any, high: Any) -> tuple[Any, Any]:
    """Return halves of the minima and of the spreads; the spread of equal numbers is 1."""
    spread = 0.5 * high - 0.5 * low
    return 0.5 * low, np.where(spread > 0.0, spread, 0.5)


def _of_unit(unit: Any, starts: IntVector, sizes: IntVector, name: str, *, absent: Any = 0, zero: Any = 0.0) -> Any:
    """Return shift and divisor (never 0) of groups in [0, 1] with ``absent`` further numbers of value ``zero``."""
    if name == "query-min-max":
        return np.zeros_like(unit[starts]), np.ones_like(unit[starts])
    missing = np.isnan(unit)
    some = missing.any()
    total = np.add.reduceat(np.where(missing, 0.0, unit) if some else unit, starts, axis=0) + absent * zero
    if name == "query-sum":
        return np.zeros_like(total), np.where(total > 0.0, total, 1.0)
    count = sizes.reshape(-1, *[1] * (unit.ndim - 1)) + absent
    if some:
        count = np.maximum(count - np.add.reduceat(missing, starts, axis=0, dtype=np.int64), 1)
    mean = total / count
    off = unit - np.repeat(mean, sizes, axis=0)
    if some:
        off[missing] = 0.0
    squares = np.add.reduceat(off * off, starts, axis=0) + absent * (zero - mean) ** 2
    deviation = np.sqrt(squares / count)
    return mean, np.where(deviation > 0.0, deviation, 1.0)


def _percentiles(scores: Any, ptr: IntVector) -> Any:
    from structsvm.features.scaling.places import count_higher

    higher, retrieved = count_higher(scores, ptr)
    return np.where(np.isnan(scores), np.nan, (retrieved - higher) / np.maximum(retrieved, 1))


def _blocks(ptr: IntVector, most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of queries with at most ``most`` rows, or single larger queries."""
    first, queries = 0, len(ptr) - 1
    while first < queries:
        last = max(first + 1, int(np.searchsorted(ptr, ptr[first] + most, side="right")) - 1)
        yield first, last
        first = last


_ROWS_AT_ONCE = 2**14
_EPSILON = float(np.finfo(np.float64).eps)


class Scaling(ABC):
    """A scaling of features, including the statistics learned from training rows."""

    name: str
    """Name in `FEATURE_SCALINGS`."""

    by_query: ClassVar[bool]
    """True if it needs the grouping of rows by query."""

    @abstractmethod
    def rows(self, X: Any, queries: Queries | None) -> Any:
        """Return scaled features, shape (rows, d), dense or CSR like X; ``queries`` None means one query."""

    @abstractmethod
    def scores(self, X: Any, queries: Queries | None, w: Vector, product: Callable[[Any, Vector], Vector]) -> Vector:
        """Return the scores of rows, shape (rows,), for weights w of scaled features; ``product`` is ``X w``."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the learned statistics and settings by name."""

    def arrays(self) -> dict[str, Any]:
        """Return the scaling as arrays for a file; `read_scaling` reads them."""
        state = self.state()
        vectors = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
        text = json.dumps({"name": self.name, **{name: value for name, value in state.items() if name not in vectors}})
        return {"scaling": np.array(text), **{f"scaling_{name}": value for name, value in vectors.items()}}


@frozen(eq=False)
class StandardScaling(Scaling):
    """``(x − mean) / deviation`` of each feature over all weighted training rows; mean is 0 if they were sparse."""

    by_query: ClassVar[bool] = False

    mean: Vector = field(repr=False)
    deviation: Vector = field(repr=False)
    name: str = field(default=STANDARD, init=False)

    def rows(self, X: Any, queries: Queries | None) -> Any:
        """Return the scaled features; sparse rows are divided but not centered."""
        if hasattr(X, "tocsr"):
            return _with_data(X, X.data / self.deviation[X.indices])
        out = np.empty_like(X, order="C")
        for start in range(0, len(X), _ROWS_AT_ONCE):
            block = slice(start, start + _ROWS_AT_ONCE)
            out[block] = (X[block] - self.mean) / self.deviation
        return out

    def scores(self, X: Any, queries: Queries | None, w: Vector, product: Callable[[Any, Vector], Vector]) -> Vector:
        """Return scores from folded weights, so that X is not copied."""
        weights, constant = self.folded(w)
        return product(X, weights) + constant

    def folded(self, w: Vector) -> tuple[Vector, float]:
        """Return weights of the original features and a constant: ``(w/deviation)·x − (w/deviation)·mean``."""
        weights = w / self.deviation
        return weights, -float(weights @ self.mean)

    @property
    def listed(self) -> tuple[list[float], list[float]]:
        """Means and deviations as lists of Python floats."""
        return self.mean.tolist(), self.deviation.tolist()

    def state(self) -> dict[str, Any]:
        return {"mean": self.mean, "deviation": self.deviation}


@frozen(eq=False)
class QueryScaling(Scaling):
    """Features scaled within each query; sparse ones are divided but not shifted, which changes no ranking."""

    by_query: ClassVar[bool] = True

    name: str
    centered: bool = True

    def rows(self, X: Any, queries: Queries | None) -> Any:
        """Return the scaled features."""
        if hasattr(X, "tocsr"):
            return self._sparse(X, queries)[0]
        if queries is None:
            return scaled_by_query(X, np.array([0, len(X)]), self.name, centered=self.centered)
        return queries.ungrouped(scaled_by_query(queries.grouped(X), queries.ptr, self.name, centered=self.centered))

    def scores(self, X: Any, queries: Queries | None, w: Vector, product: Callable[[Any, Vector], Vector]) -> Vector:
        """Return the scores of rows; sparse ones are shifted after the product."""
        if not hasattr(X, "tocsr"):
            return product(self.rows(X, queries), w)
        rows, query, column, shift = self._sparse(X, queries)
        scores = product(rows, w)
        if self.centered:
            lowered = np.bincount(query, shift * w[column], 1 if queries is None else len(queries))
            scores = scores - lowered[0 if queries is None else queries.number]
        return scores

    def state(self) -> dict[str, Any]:
        return {"centered": self.centered}

    def _sparse(self, X: Any, queries: Queries | None) -> tuple[Any, IntVector, IntVector, Vector]:
        """Return sparse rows divided by their scales, and query, column and value of shifts divided by scales."""
        X = canonical(X.tocsr())
        rows, d = X.shape
        number = np.zeros(rows, dtype=np.int64) if queries is None else queries.number
        sizes = np.array([rows]) if queries is None else queries.sizes
        place = np.repeat(number, np.diff(X.indptr)) * d + X.indices
        order = np.argsort(place, kind="stable")
        there, starts = np.unique(place[order], return_index=True)
        query, column = np.divmod(there, d)
        values = X.data[order].astype(np.float64)
        entries, shift = scaled_entries(values, starts, sizes[query], self.name) if len(starts) else (values, values)
        divided = np.empty_like(X.data)
        divided[order] = entries
        return _with_data(X, divided), query, column, shift


def learn_scaling(name: str, X: Any, weights: Vector | None = None) -> Scaling:
    """Return the named scaling with statistics of training rows X, dense or CSR; weights count in statistics of rows.

    Scalings within a query ignore weights, because `predict` does not receive them.
    """
    _require_numbers_of_features(name, X)
    sparse = hasattr(X, "tocsr")
    if name != STANDARD:
        return QueryScaling(name, centered=not sparse)
    return Moments.of(X, weights).standard(centered=not sparse)


@frozen(eq=False)
class Moments:
    """Mean and variance (ddof 0) of each feature over weighted rows; parts can be combined."""

    rows: int
    weight: float
    mean: Vector = field(repr=False)
    variance: Vector = field(repr=False)

    @classmethod
    def of(cls, X: Any, weights: Vector | None = None) -> "Moments":
        """Return the moments of rows, dense or CSR; integer weights count like repeated rows."""
        _require_numbers_of_features(STANDARD, X)
        rows, d = X.shape
        require_columns(d)
        weight = float(rows if weights is None else weights.sum())
        if not weight:
            return cls(rows, 0.0, np.zeros(d), np.zeros(d))
        if weights is not None:
            weights = None if (weights == weights[0]).all() else weights / weights.max()
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler(with_mean=not hasattr(X, "tocsr"))
        with np.errstate(all="ignore"):
            # The scaler copies its input, so pass blocks.
            for start in range(0, rows, _ROWS_AT_ONCE):
                block = slice(start, start + _ROWS_AT_ONCE)
                if weights is None:
                    scaler.partial_fit(X[block])
                elif weights[block].any():
                    # The scaler divides by the weight of a block, and rounds weights to the number type of X.
                    counted = weights[block] > 0.0
                    scaler.partial_fit(X[block][counted].astype(np.float64), sample_weight=weights[block][counted])
        _require_finite(scaler.var_)
        return cls(rows, weight, *(np.asarray(vector, dtype=np.float64) for vector in (scaler.mean_, scaler.var_)))

    def with_more(self, other: "Moments") -> "Moments":
        """Return the moments of both sets of rows (Chan, Golub and LeVeque, COMPSTAT 1982)."""
        rows, weight = self.rows + other.rows, self.weight + other.weight
        share, apart = other.weight / weight if weight else 0.0, other.mean - self.mean
        with np.errstate(over="ignore"):
            variance = (1.0 - share) * self.variance + share * other.variance + share * (1.0 - share) * apart * apart
        _require_finite(variance)
        return Moments(rows, weight, self.mean + share * apart, variance)

    def standard(self, *, centered: bool) -> StandardScaling:
        """Return the scaling by these moments; ``centered`` is False for sparse rows."""
        deviation = np.sqrt(self.variance)
        small = deviation <= self.rows * _EPSILON * np.abs(self.mean)
        mean = self.mean if centered else np.zeros(len(self.mean))
        return StandardScaling(mean, np.where(small, 1.0, deviation))


def _require_numbers_of_features(name: str, X: Any) -> None:
    if hasattr(X, "tocsr") and not hasattr(X, "indptr"):
        raise InputError(
            f"normalize={name!r} scales numbers, but X is a {type(X).__name__}, whose features are all 0 or 1: pass "
            "normalize=None, or normalize the scores before structsvm.features.Thresholds"
        )


def read_scaling(arrays: Mapping[str, Any], columns: int) -> Scaling:
    """Return the scaling in a file's arrays, validated for this number of columns."""
    text = json_object(arrays, "scaling")
    name = text["name"]
    if name == STANDARD:
        require_names("the scaling", text, ("name",))
        mean, deviation = (finite_numbers(arrays, f"scaling_{part}", (columns,)) for part in ("mean", "deviation"))
        if not (deviation > 0.0).all():
            raise ValueError("the deviations that features are divided by must be above 0")
        return StandardScaling(mean, deviation)
    if name not in FEATURE_SCALINGS:
        raise ValueError(f"unknown scaling {name!r}")
    require_names("the scaling", text, ("name", "centered"), ("centered",))
    require_switch("centered", text["centered"])
    return QueryScaling(name, centered=text["centered"])


def _require_finite(scale: Any) -> None:
    if not np.isfinite(scale).all():
        column = int(np.argwhere(~np.isfinite(np.atleast_2d(scale)))[0, -1])
        raise InputError(
            f"column {column} of X has numbers so large that their differences or squares overflow: divide it by a "
            "power of 10 first"
        )


def _with_data(X: Any, data: Any) -> Any:
    """Return a CSR matrix with other entries at the same places, in the same number type."""
    return type(X)((data.astype(X.dtype, copy=False), X.indices, X.indptr), shape=X.shape)
