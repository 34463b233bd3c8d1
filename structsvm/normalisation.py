"""Features on comparable scales: what a ranker does to them before it weights them, and keeps with its weights.

It needs NumPy alone, so that a ranker that was loaded predicts without anything else.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.queries import Queries
from structsvm.settings import require_choice, require_switch
from structsvm.storage.archives import finite_numbers, record, require_names, require_numbers
from structsvm.types import IntVector, Vector

NORMALISATIONS = ("query-min-max", "query-z-score", "standard")
"""By query to [0, 1]; by query to mean 0 and standard deviation 1; to these over all training rows."""

ALSO_CALLED = {"min-max": "query-min-max", "z": "query-z-score", "z-score": "query-z-score"}
"""What methods of fusion, which know queries only, call them."""

_ROWS_AT_ONCE = 2**14
EPSILON = float(np.finfo(np.float64).eps)
"""Numbers of a query whose deviation is less than this, times their mean and number, are the same but for rounding."""


def normalisation_named(what: str, given: Any) -> str | None:
    """Return the name of a normalisation as `NORMALISATIONS` has it, in any spelling; None is none.

    Raises
    ------
    InputError : when there is none of that name; it names ``what``.
    """
    from structsvm.registry.spelling import plain

    if isinstance(given, str):
        known = {plain(name): name for name in NORMALISATIONS} | {plain(old): new for old, new in ALSO_CALLED.items()}
        given = known.get(plain(given), given)
    require_choice(what, given, (*NORMALISATIONS, None))
    name: str | None = given
    return name


class Normalisation(ABC):
    """What is done to features before they are weighted. A value; what it learned of training rows is in it."""

    name: ClassVar[str]
    """As in `NORMALISATIONS`."""

    by_query: ClassVar[bool]
    """Whether it looks at the other rows of a query, so that it needs to know which they are."""

    @abstractmethod
    def rows(self, X: Any, queries: Queries | None) -> Any:
        """Return normalised features, shape (rows, d): dense, or CSR where X is, which is never made dense.

        Parameters
        ----------
        X : features, float64 or float32, dense or CSR.
        queries : of the rows; None: all are one.
        """

    @abstractmethod
    def scores(self, X: Any, queries: Queries | None, w: Vector, product: Callable[[Any, Vector], Vector]) -> Vector:
        """Return the scores of rows, shape (rows,): their normalised features times the weights of these.

        Parameters
        ----------
        X, queries : as in `rows`.
        w : weights of normalised features, shape (d,).
        product : returns ``X w``.
        """

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return all that it learned, by name: arrays, and True or False."""

    def arrays(self) -> dict[str, Any]:
        """Return it as arrays of a file, which `read_normaliser` reads."""
        state = self.state()
        vectors = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
        text = json.dumps({"name": self.name, **{name: value for name, value in state.items() if name not in vectors}})
        return {"normaliser": np.array(text), **{f"normaliser_{name}": value for name, value in vectors.items()}}


@frozen(eq=False)
class Standardised(Normalisation):
    """``(x − mean) / deviation``, of each feature over all training rows.

    Parameters
    ----------
    mean : what is subtracted, shape (d,): 0 where training rows were sparse, which are not centred.
    deviation : the standard deviations, above 0, shape (d,): 1 for a feature that does not vary.
    """

    name: ClassVar[str] = "standard"
    by_query: ClassVar[bool] = False

    mean: Vector = field(repr=False)
    deviation: Vector = field(repr=False)

    def rows(self, X: Any, queries: Queries | None) -> Any:
        """See `Normalisation.rows`; sparse rows are divided and not centred."""
        if hasattr(X, "tocsr"):
            return _with_data(X, X.data / self.deviation[X.indices])
        out = np.empty_like(X, order="C")
        for start in range(0, len(X), _ROWS_AT_ONCE):
            block = slice(start, start + _ROWS_AT_ONCE)
            out[block] = (X[block] - self.mean) / self.deviation
        return out

    def scores(self, X: Any, queries: Queries | None, w: Vector, product: Callable[[Any, Vector], Vector]) -> Vector:
        """See `Normalisation.scores`: by the weights of features as they are, so that X is not copied."""
        weights, constant = self.folded(w)
        return product(X, weights) + constant

    def folded(self, w: Vector) -> tuple[Vector, float]:
        """Return the weights of features as they are, and the constant, that give the same scores.

        ``w·(x − mean)/deviation = (w/deviation)·x − (w/deviation)·mean``.
        """
        weights = w / self.deviation
        return weights, -float(weights @ self.mean)

    @property
    def listed(self) -> tuple[list[float], list[float]]:
        """Means and deviations as Python's numbers."""
        return self.mean.tolist(), self.deviation.tolist()

    def state(self) -> dict[str, Any]:
        """Return means and deviations."""
        return {"mean": self.mean, "deviation": self.deviation}


@frozen(eq=False)
class ByQuery(Normalisation):
    """``(x − shift) / scale``, of each feature within each query.

    Parameters
    ----------
    centred : whether shifts are subtracted. They are not where training rows were sparse: that changes all scores of
        a query by the same number, and so no ranking, and what is 0 stays 0.
    """

    by_query: ClassVar[bool] = True

    centred: bool = True

    @abstractmethod
    def _of_blocks(self, X: Any, ptr: IntVector) -> tuple[Any, Any]:
        """Return shift and scale of each query and feature, shape (Q, d) each; a scale that would be 0 is 1.

        Parameters
        ----------
        X : dense rows, those of each query together, shape (rows, d).
        ptr : where the rows of each query begin, shape (Q + 1,).
        """

    @abstractmethod
    def _of_entries(self, values: Vector, starts: IntVector, sizes: IntVector) -> tuple[Vector, Vector]:
        """Return shift and scale of sparse columns, one for each feature that a query has entries of.

        Parameters
        ----------
        values : the entries, those of each query and feature together.
        starts : where those of each begin.
        sizes : the number of rows of the query of each; those without an entry are 0.
        """

    def rows(self, X: Any, queries: Queries | None) -> Any:
        """See `Normalisation.rows`; sparse rows are divided and not shifted."""
        if hasattr(X, "tocsr"):
            return self._sparse(X, queries)[0]
        if queries is None:
            return self._dense(X, np.array([0, len(X)]))
        grouped, out = queries.grouped(X), np.empty_like(X, order="C")
        for first, last in _blocks(queries.ptr):
            ptr = queries.ptr[first : last + 1]
            out[ptr[0] : ptr[-1]] = self._dense(grouped[ptr[0] : ptr[-1]], ptr - ptr[0])
        return queries.ungrouped(out)

    def scores(self, X: Any, queries: Queries | None, w: Vector, product: Callable[[Any, Vector], Vector]) -> Vector:
        """See `Normalisation.scores`."""
        if not hasattr(X, "tocsr"):
            return product(self.rows(X, queries), w)
        rows, query, column, shift = self._sparse(X, queries)
        scores = product(rows, w)
        if self.centred:
            lowered = np.bincount(query, shift * w[column], 1 if queries is None else len(queries))
            scores = scores - lowered[0 if queries is None else queries.number]
        return scores

    def state(self) -> dict[str, Any]:
        """Return whether features are shifted."""
        return {"centred": self.centred}

    def _dense(self, X: Any, ptr: IntVector) -> Any:
        """Return normalised rows, those of each query being together."""
        if not len(X):
            return X
        shift, scale = self._of_blocks(X, ptr)
        sizes = np.diff(ptr)
        if self.centred:
            X = X - np.repeat(shift, sizes, axis=0)
        return X / np.repeat(scale, sizes, axis=0)

    def _sparse(self, X: Any, queries: Queries | None) -> tuple[Any, IntVector, IntVector, Vector]:
        """Return sparse rows divided by their scales, and query, column and value of shifts over scales.

        Entries at one place are added up first.
        """
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        rows, d = X.shape
        number = np.zeros(rows, dtype=np.int64) if queries is None else queries.number
        sizes = np.array([rows]) if queries is None else queries.sizes
        place = np.repeat(number, np.diff(X.indptr)) * d + X.indices
        order = np.argsort(place, kind="stable")
        there, starts = np.unique(place[order], return_index=True)
        query, column = np.divmod(there, d)
        values = X.data[order].astype(np.float64)
        shift, scale = self._of_entries(values, starts, sizes[query]) if len(starts) else (values, values)
        divided = np.empty_like(X.data)
        divided[order] = values / np.repeat(scale, np.diff(starts, append=len(values)))
        return _with_data(X, divided), query, column, shift / scale


@frozen(eq=False)
class QueryUnit(ByQuery):
    """``(x − min) / (max − min)`` within each query, 0 where all are the same: as `structsvm.features.QueryMinMax`."""

    name: ClassVar[str] = "query-min-max"

    def _of_blocks(self, X: Any, ptr: IntVector) -> tuple[Any, Any]:
        low = np.minimum.reduceat(X, ptr[:-1], axis=0).astype(np.float64)
        return low, _spread(low, np.maximum.reduceat(X, ptr[:-1], axis=0))

    def _of_entries(self, values: Vector, starts: IntVector, sizes: IntVector) -> tuple[Vector, Vector]:
        low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
        partly = np.diff(starts, append=len(values)) < sizes
        low, high = np.where(partly, np.minimum(low, 0.0), low), np.where(partly, np.maximum(high, 0.0), high)
        return low, _spread(low, high)


@frozen(eq=False)
class QueryStandardised(ByQuery):
    """``(x − mean) / deviation`` within each query; the deviation is the root of the mean square, over all rows."""

    name: ClassVar[str] = "query-z-score"

    def _of_blocks(self, X: Any, ptr: IntVector) -> tuple[Any, Any]:
        sizes = np.diff(ptr)
        n = sizes[:, None]
        mean = np.add.reduceat(X, ptr[:-1], axis=0, dtype=np.float64) / n
        with np.errstate(over="ignore"):
            squares = np.add.reduceat(np.square(X - np.repeat(mean, sizes, axis=0)), ptr[:-1], axis=0)
        return mean, _deviation(mean, squares, n)

    def _of_entries(self, values: Vector, starts: IntVector, sizes: IntVector) -> tuple[Vector, Vector]:
        counts = np.diff(starts, append=len(values))
        mean = np.add.reduceat(values, starts) / sizes
        with np.errstate(over="ignore"):
            squares = np.add.reduceat(np.square(values - np.repeat(mean, counts)), starts)
            squares += (sizes - counts) * np.square(mean)
        return mean, _deviation(mean, squares, sizes)


def learned(name: str, X: Any) -> Normalisation:
    """Return a normalisation with what it learns of training rows.

    Parameters
    ----------
    name : as in `NORMALISATIONS`.
    X : training rows, dense or CSR.

    Raises
    ------
    InputError : when X has indicators by thresholds, or numbers that are too large.
    """
    _require_numbers_of_features(name, X)
    sparse = hasattr(X, "tocsr")
    if name != Standardised.name:
        return _BY_QUERY[name](centred=not sparse)
    return Moments.of(X).standardised(centred=not sparse)


@frozen(eq=False)
class Moments:
    """The mean and the variance of each feature over rows, which those of several parts of the rows make up.

    Parameters
    ----------
    rows : their number.
    mean, variance : shape (d,); the variance is the mean square of deviations from the mean.
    """

    rows: int
    mean: Vector = field(repr=False)
    variance: Vector = field(repr=False)

    @classmethod
    def of(cls, X: Any) -> "Moments":
        """Return those of rows, one at least, dense or CSR.

        Raises
        ------
        InputError : when X has indicators by thresholds, or numbers that are too large.
        """
        _require_numbers_of_features(Standardised.name, X)
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler(with_mean=not hasattr(X, "tocsr"))
        with np.errstate(all="ignore"):
            for start in range(0, X.shape[0], _ROWS_AT_ONCE):  # by blocks, as it copies what it is given
                scaler.partial_fit(X[start : start + _ROWS_AT_ONCE])
        _require_finite(scaler.var_)
        return cls(X.shape[0], *(np.asarray(each, dtype=np.float64) for each in (scaler.mean_, scaler.var_)))

    def with_more(self, other: "Moments") -> "Moments":
        """Return those of the rows of both.

        Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances",
        COMPSTAT 1982.
        """
        rows = self.rows + other.rows
        share, apart = other.rows / rows, other.mean - self.mean
        with np.errstate(over="ignore"):
            variance = (1.0 - share) * self.variance + share * other.variance + share * (1.0 - share) * apart * apart
        _require_finite(variance)
        return Moments(rows, self.mean + share * apart, variance)

    def standardised(self, *, centred: bool) -> Standardised:
        """Return the normalisation by them.

        Parameters
        ----------
        centred : whether means are subtracted, which they are not where rows are sparse.
        """
        deviation = np.sqrt(self.variance)
        small = deviation <= self.rows * EPSILON * np.abs(self.mean)
        mean = self.mean if centred else np.zeros(len(self.mean))
        return Standardised(mean, np.where(small, 1.0, deviation))


def _require_numbers_of_features(name: str, X: Any) -> None:
    if hasattr(X, "tocsr") and not hasattr(X, "indptr"):
        raise InputError(
            f"normalise={name!r} is of numbers, and X is a {type(X).__name__}, whose features are all 0 or 1: leave "
            "normalise=None, or normalise the scores before structsvm.features.Thresholds"
        )


def read_normaliser(arrays: Mapping[str, Any], columns: int) -> Normalisation:
    """Return the normalisation in a file, all of which is checked.

    Parameters
    ----------
    arrays : those of the file, `Normalisation.arrays` among them.
    columns : number of features.

    Raises
    ------
    KeyError, ValueError : when something is missing, or is not what it can be.
    """
    text = record(arrays, "normaliser")
    name = text["name"]
    if name == Standardised.name:
        require_names("the normaliser", text, ("name",))
        for vector in ("normaliser_mean", "normaliser_deviation"):
            require_numbers(arrays, vector, (columns,))
        mean, deviation = (finite_numbers(arrays, f"normaliser_{vector}") for vector in ("mean", "deviation"))
        if not (deviation > 0.0).all():
            raise ValueError("the deviations that features are divided by must be above 0")
        return Standardised(mean, deviation)
    if name not in _BY_QUERY:
        raise ValueError(f"there is no normalisation {name!r}")
    require_names("the normaliser", text, ("name", "centred"), ("centred",))
    require_switch("centred", text["centred"])
    return _BY_QUERY[name](centred=text["centred"])


_BY_QUERY: dict[str, type[ByQuery]] = {made.name: made for made in (QueryUnit, QueryStandardised)}


def _blocks(ptr: IntVector) -> Iterator[tuple[int, int]]:
    """Yield ranges of queries that have some ten thousand rows each, or are one query."""
    first, queries = 0, len(ptr) - 1
    while first < queries:
        last = max(first + 1, int(np.searchsorted(ptr, ptr[first] + _ROWS_AT_ONCE, side="right")) - 1)
        yield first, last
        first = last


def _spread(low: Any, high: Any) -> Any:
    """Return the difference of numbers, 1 where it is 0."""
    with np.errstate(over="ignore"):
        spread = high - low
    _require_finite(spread)
    return np.where(spread > 0.0, spread, 1.0)


def _deviation(mean: Any, squares: Any, n: Any) -> Any:
    """Return standard deviations, 1 where numbers differ by no more than rounding, as scikit-learn's scalers do."""
    deviation = np.sqrt(squares / n)
    _require_finite(deviation)
    return np.where(deviation > n * EPSILON * np.abs(mean), deviation, 1.0)


def _require_finite(scale: Any) -> None:
    if not np.isfinite(scale).all():
        column = int(np.argwhere(~np.isfinite(np.atleast_2d(scale)))[0, -1])
        raise InputError(
            f"column {column} of X has numbers so large that their differences or squares overflow: divide it by a "
            "power of 10 first"
        )


def _with_data(X: Any, data: Any) -> Any:
    """Return a CSR matrix with other entries at the same places, as float32 where it was."""
    return type(X)((data.astype(X.dtype, copy=False), X.indices, X.indptr), shape=X.shape)
