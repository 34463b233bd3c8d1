"""Validate input arrays: real numbers that convert to float64 without loss."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from numbers import Complex, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.exceptions import InputError, InputTypeError, first_of
from structsvm.foundation.memory import require_memory

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


def numbers_alone(values: Any, what: str) -> NDArray[np.float64]:
    """Return real numbers as `numbers` does, but reject text and booleans, for settings."""
    array = numbers(values, what)
    if getattr(getattr(values, "dtype", None), "kind", "O") not in "iuf":
        for value in np.asarray(values, dtype=object).flat:
            if isinstance(value, str | bytes | bool | np.bool_):
                raise InputError(f"{what} must be numbers, got {value!r}")
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
        columns = list(_typed(values))
    # NumPy cannot make an array of the values.
    except (TypeError, ValueError, OverflowError):
        return
    for array, place in columns:
        _require_real(array, f"{what}{place}", dates=dates)


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


def _typed(values: Any) -> Iterator[tuple[Any, str]]:
    """Yield arrays with their place for messages: each column of a data frame."""
    if hasattr(values, "dtypes") and hasattr(values, "columns"):
        for number, name in enumerate(values.columns):
            yield values.iloc[:, number].to_numpy(), f", column {name!r},"
    else:
        yield np.asarray(values), ""


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


def column_names(X: Any) -> list[str] | None:
    """Return the column names of a data frame, or None if X has no names; reject names of mixed types."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return None
    names = list(X.columns)
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        other = names[texts.index(False)]
        raise InputTypeError(
            f"the column names of X must be all texts or all numbers, but one is {other!r}: rename it, as in "
            "X.columns = X.columns.astype(str)"
        )
    return names if names and all(texts) else None


def by_name(X: Any, names: Sequence[str] | None, title: str) -> Any:
    """Return the columns of a data frame in a model's order by name; reject missing and repeated ones, drop others."""
    known, found = None if names is None else list(names), column_names(X)
    if known is None or found is None or found == known:
        return X
    there = Counter(found)
    missing = [name for name in known if name not in there]
    if missing:
        unknown = sorted(there.keys() - set(known), key=found.index)
        others = f"; X has unknown ones: {first_of(map(repr, unknown))}" if unknown else ""
        lacked = first_of(map(repr, missing))
        raise InputError(
            f"X lacks {len(missing)} of the {len(known)} features that {title} was fitted with: {lacked}"
            f"{others}. Rename or add columns, or pass an array, whose columns are found by position"
        )
    twice = [name for name in known if there[name] > 1]
    if twice:
        raise InputError(f"X has several columns named {twice[0]!r}: leave all but one out")
    return X[known]


def in_our_words(error: str, X: Any, missing: bool) -> str:
    """Add to an error about X the place of the first non-finite number and, for NaN, the remedies of this library."""
    try:
        place = first_not_finite(X, infinite_only=missing)
    except (TypeError, ValueError, OverflowError):
        return f"{error}{first_feature(X)}"
    first = error.partition("\n")[0]
    if not place or not first.endswith("contains NaN."):
        return f"{error}\n{place}: remove or replace such values." if place else error
    return (
        f"{first} {place}. If NaN stands for a missing score, structsvm.features.FillMissing replaces it, "
        "and structsvm.features.Thresholds makes indicators that are all 0 for a missing score"
    )


def first_feature(X: Any) -> str:
    """Describe the first feature that is not a number, with a remedy; "" if all are numbers."""
    table = np.asarray(X, dtype=object)
    if table.ndim != 2:
        return ""
    for row, column in np.ndindex(table.shape):
        if not reads_as_number(table[row, column]):
            name = f" ({X.columns[column]!r})" if hasattr(X, "columns") else ""
            return (
                f"\nThe first is {table[row, column]!r} at row {row}, column {column}{name}: leave the column out, or "
                "convert it to numbers, for example with sklearn.preprocessing.OneHotEncoder."
            )
    return ""


def first_not_finite(X: Any, *, infinite_only: bool = False) -> str:
    """Describe the place of the first NaN or infinite (stored) feature; "" if all are finite or X is not a table."""
    sparse = is_sparse(X)
    holes = {"dtype": np.float64, "na_value": np.nan}
    rows = X.tocsr() if sparse else X.to_numpy(**holes) if hasattr(X, "to_numpy") else np.asarray(X, dtype=np.float64)
    if rows.ndim != 2:
        return ""
    values = rows.data if sparse else rows
    bad = np.argwhere(np.isinf(values) if infinite_only else ~np.isfinite(values))
    if not len(bad):
        return ""
    row, column = _place_of_entry(rows, bad[:, 0]) if sparse else bad[0]
    return f"The first is at row {row}, column {column}"


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
