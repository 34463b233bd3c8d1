"""Validate input arrays: real numbers that convert to float64 without loss."""

import sys
from collections.abc import Mapping, Sequence, Set
from numbers import Complex, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.exceptions import InputError, InputTypeError, brief
from structsvm.foundation.memory import require_memory
from structsvm.foundation.types import IntVector, Vector

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
"""Types of features that need no conversion."""

_NO_NUMBERS = {
    "c": "complex numbers, whose imaginary part would be lost: pass for example numpy.abs of them. "
    "Complex data not supported",
    "V": "records with named fields: convert them with numpy.lib.recfunctions.structured_to_unstructured",
}
_DATES = {
    "M": "dates: convert them to numbers such as days, (dates - dates[0]) / numpy.timedelta64(1, 'D')",
    "m": "time spans: convert them to numbers, as in spans / numpy.timedelta64(1, 's')",
}
"""Descriptions and remedies for array kinds that NumPy would convert to other numbers."""


def is_sparse(values: Any) -> bool:
    """Return True for a SciPy sparse matrix, without importing SciPy."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(values))


def canonical(X: Any) -> Any:
    """Return a sparse matrix with sorted columns and one entry per place; a copy if it has others."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def contents(X: Any) -> NDArray[np.uint64]:
    """Return a hash of each row of a dense, sparse or coded matrix, shape (rows,), to sort rows regardless of the file.

    Sums of integers are exact, so equal rows have the same hash at any place, which floating point does not ensure.
    """
    factors = np.random.default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64) * 2 + 1
    if hasattr(X, "tocsr"):
        X = canonical(X.tocsr())
        sums = np.append(np.uint64(0), np.cumsum(_mixed_bits(X.data) * factors[X.indices]))
        return np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]])
    # A block of rows fits the cache of the processor.
    step = 1 + 2**15 // max(X.shape[1], 1)
    blocks = (X[first : first + step] for first in range(0, X.shape[0], step))
    return np.concatenate([(_mixed_bits(block) * factors).sum(axis=1) for block in blocks])


def _mixed_bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the bits of numbers with the high half, which varies most, also in the low half; 0 for the number 0."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    return bits ^ (bits >> np.uint64(32))


def numbers(values: Any, what: str, kind: str = "numbers") -> NDArray[np.float64]:
    """Return real numbers as a float64 array, without a copy if possible; ``what`` and ``kind`` are words for messages.

    ``values`` may be an array, a list, a column of a data frame, or a number; sparse and masked arrays are rejected.
    """
    if is_sparse(values):
        raise InputError(
            f"{what} must be dense, got a {type(values).__name__}: pass its toarray(), raveled to a vector"
        )
    require_unmasked(values, what)
    try:
        array = np.asarray(values)
        if array.dtype != np.float64:
            _require_room(array, what)
        _require_real(array, what)
        with np.errstate(over="ignore"):
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise refusal(error, f"{what} must be {kind}: {error}") from None


def finite_vector(values: Any, size: int, what: str) -> NDArray[np.float64]:
    """Return finite numbers of shape (size,), without a copy if possible; ``what`` begins the message."""
    plain = type(values) is np.ndarray and values.dtype == np.float64
    vector = values if plain else numbers(values, what)
    if vector.shape != (size,) or not np.isfinite(vector).all():
        raise InputError(f"{what} must be {size} finite numbers, got {brief(values)}")
    return vector


def numbers_alone(values: Any, what: str) -> NDArray[np.float64]:
    """Return real numbers as `numbers` does, but reject text and booleans, for settings."""
    array = numbers(values, what)
    if getattr(getattr(values, "dtype", None), "kind", "O") not in "iuf":
        for value in np.asarray(values, dtype=object).flat:
            if isinstance(value, str | bytes | bool | np.bool_):
                raise InputError(f"{what} must be numbers, got {brief(value)}")
    return array


def refusal(error: Exception, text: str | None = None) -> InputError:
    """Return an `InputError` for another exception, also a TypeError if that is one; ``text`` replaces its message."""
    kind = InputTypeError if isinstance(error, TypeError) else InputError
    return kind(str(error) if text is None else text)


def require_real(values: Any, what: str, *, dates: bool = False) -> None:
    """Reject a table or vector of complex or masked numbers, records, or (unless ``dates``) dates; accept the rest."""
    require_unmasked(values, what)
    if isinstance(values, np.ndarray) and not (values.flags.c_contiguous and values.dtype.kind == "f"):
        _require_room(values, what)
    try:
        array = np.asarray(values)
    # NumPy cannot make an array of the values.
    except (TypeError, ValueError, OverflowError):
        return
    _require_real(array, what, dates=dates)


def require_unmasked(values: Any, what: str) -> None:
    """Reject masked values, because NumPy would use them."""
    masked = int(np.ma.getmaskarray(values).sum()) if isinstance(values, np.ma.MaskedArray) else 0
    if masked:
        raise InputError(
            f"{what} is a masked array, and its {masked} masked values would be used: leave out their rows, or replace "
            "them with filled(...)"
        )


def _require_room(array: NDArray[Any], what: str) -> None:
    """Reject an array whose copy exceeds memory, because a broadcast array may have any number of rows."""
    require_memory(8.0 * array.size, f"the numbers of {what}, of shape {array.shape},", "pass fewer rows")


def _require_real(array: Any, what: str, *, dates: bool = False) -> None:
    kind = array.dtype.kind
    if kind == "O" and any(isinstance(value, Complex) and not isinstance(value, Real) for value in array.flat):
        kind = "c"
    meant = _NO_NUMBERS if dates else _NO_NUMBERS | _DATES
    if kind in meant:
        raise InputError(f"{what} must have real numbers, got {meant[kind]}")


def require_table(X: Any) -> None:
    """Reject values that cannot be a table."""
    if X is None or (isinstance(X, str | Mapping | Set) and not is_sparse(X)):
        way_out = "; pandas.DataFrame(X) converts columns by name" if isinstance(X, Mapping) else ""
        raise InputError(
            f"X must be a table of numbers with a row per document or example, got {type(X).__name__}: pass an array, "
            f"a sparse matrix or a data frame{way_out}"
        )


def reworded(error: str, X: Any, missing: bool, names: Sequence[str] | None = None) -> str:
    """Add to an error about X the place of the first non-finite number and, for NaN, the remedies of this library."""
    place = first_not_finite(X, names, infinite_only=missing)
    first = error.partition("\n")[0]
    if not place or not first.endswith("contains NaN."):
        return f"{error}\n{place}: remove or replace such values." if place else error
    return (
        f"{first} {place}. Train a linear ranker or RankNet with missing='median', 'mean' or a number (--missing on "
        "the command line), or a ranker that learns from NaN: TreeRanker, LambdaMART or RankBoost. For missing scores "
        "of a query, see structsvm.features.FillMissing and Thresholds"
    )


def objects(values: Any) -> NDArray[np.object_]:
    """Return values as an array of objects; an empty array if their ``__array__`` raises."""
    try:
        return np.asarray(values, dtype=object)
    except Exception:
        return np.empty(0, dtype=object)


def first_feature(X: Any) -> str:
    """Describe the first feature that is not a number, with a remedy; "" if all are numbers."""
    table = objects(X)
    if table.ndim != 2:
        return ""
    for row, column in np.ndindex(table.shape):
        if not reads_as_number(table[row, column]):
            return not_a_number(table[row, column], row, column)
    return ""


def not_a_number(value: Any, row: int, column: int, name: Any = None) -> str:
    """Describe a feature that is not a number, with a remedy."""
    named = "" if name is None else f" ({name!r})"
    truth = str(value).strip().lower() in ("true", "false")
    if truth:
        way = "or convert it to truth values, as in column.str.lower() == 'true'"
    elif name is None:
        way = "or convert it to numbers, for example with sklearn.preprocessing.OneHotEncoder"
    else:
        way = (
            "convert it to numbers (dates: to days), or declare its values as categories, as by "
            f"X[{name!r}].astype('category')"
        )
    return f"\nThe first is {value!r} at row {row}, column {column}{named}: leave the column out, {way}."


def first_not_finite(X: Any, names: Sequence[str] | None = None, *, infinite_only: bool = False) -> str:
    """Describe the place of the first NaN or infinite (stored) feature; "" if all are finite."""
    sparse = is_sparse(X)
    values = X.data if sparse else X
    bad = np.argwhere(np.isinf(values) if infinite_only else ~np.isfinite(values))
    if not len(bad):
        return ""
    row, column = _place_of_entry(X, bad[:, 0]) if sparse else bad[0]
    return f"The first is at row {row}, column {column}{'' if names is None else f' ({names[column]!r})'}"


def _place_of_entry(X: Any, entries: NDArray[np.intp]) -> tuple[int, int]:
    """Return row and column of the first of some stored entries; columns may be unsorted."""
    row = int(np.searchsorted(X.indptr, entries[0], side="right")) - 1
    return row, int(X.indices[entries[entries < X.indptr[row + 1]]].min())


def reads_as_number(value: Any) -> bool:
    """Return True if Python's ``float`` accepts the value."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def largest_of_groups(values: Vector, group: IntVector, groups: int) -> Vector:
    """Return the largest value of each group, at least 0: the slacks of groups, for values ``L − w·g`` of cuts."""
    largest = np.zeros(groups)
    np.maximum.at(largest, group, values)
    return largest
