"""What arrays that are passed in may hold: real numbers, none of which is lost on the way to float64."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from numbers import Complex, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.exceptions import InputError, InputTypeError
from structsvm.memory import require_memory

_NO_NUMBERS = {
    "c": "complex numbers, whose imaginary part would be lost: pass what is meant, such as numpy.abs of them. "
    "Complex data not supported",
    "V": "records with named fields: make one array of these, with numpy.lib.recfunctions.structured_to_unstructured",
}
_DATES = {
    "M": "dates: make numbers of them, such as days, (dates - dates[0]) / numpy.timedelta64(1, 'D')",
    "m": "time spans: make numbers of them, as in spans / numpy.timedelta64(1, 's')",
}
"""What arrays of a kind that NumPy would turn into other numbers hold, and the way out."""


def is_sparse(values: Any) -> bool:
    """Say whether it is a sparse matrix of SciPy's, which is not loaded for it: without it there is none."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(values))


def numbers(values: Any, what: str, kind: str = "numbers") -> NDArray[np.float64]:
    """Return real numbers as an array of float64; itself, where it is one.

    Parameters
    ----------
    values : an array, a list, a column of a data frame, or a number.
    what : what messages call it.
    kind : what it must be, in words.

    Raises
    ------
    InputError : when they are not real numbers, are sparse, or some are masked.
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
    """Return real numbers as `numbers` does, where a text of a number, or True or False, is none: for settings.

    Raises
    ------
    InputError : also when one is text, True or False.
    """
    array = numbers(values, what)
    if getattr(getattr(values, "dtype", None), "kind", "O") not in "iuf":
        for value in np.asarray(values, dtype=object).flat:
            if isinstance(value, str | bytes | bool | np.bool_):
                raise InputError(f"{what} must be numbers, got {value!r}")
    return array


def refusal(error: Exception, text: str | None = None) -> InputError:
    """Return the refusal of what an error was raised for: a TypeError too, where that is one.

    Parameters
    ----------
    error : what NumPy or scikit-learn raised.
    text : the message; None: that of the error.
    """
    kind = InputTypeError if isinstance(error, TypeError) else InputError
    return kind(str(error) if text is None else text)


def require_real(values: Any, what: str, *, dates: bool = False) -> None:
    """Refuse a table or a vector whose numbers are not real, or masked; whether it holds numbers at all is not asked.

    Parameters
    ----------
    values, what : as in `numbers`.
    dates : whether dates will do, as names of classes.

    Raises
    ------
    InputError : it says what they are.
    """
    require_unmasked(values, what)
    if isinstance(values, np.ndarray) and not (values.flags.c_contiguous and values.dtype.kind == "f"):
        _require_room(values, what)
    try:
        columns = list(_typed(values))
    except (TypeError, ValueError, OverflowError):  # nothing that NumPy makes an array of
        return
    for array, place in columns:
        _require_real(array, f"{what}{place}", dates=dates)


def require_unmasked(values: Any, what: str) -> None:
    """Refuse masked values, which would be used all the same."""
    masked = int(np.ma.getmaskarray(values).sum()) if isinstance(values, np.ma.MaskedArray) else 0
    if masked:
        raise InputError(
            f"{what} is a masked array, of which {masked} values are masked and would be used all the same: leave "
            "their rows out, or put numbers in their place with filled(...)"
        )


def _require_room(array: NDArray[Any], what: str) -> None:
    """Refuse an array of which memory cannot hold a copy: one that was broadcast may have any number of rows."""
    require_memory(8.0 * array.size, f"the numbers of {what}, of shape {array.shape},", "pass fewer rows")


def _typed(values: Any) -> Iterator[tuple[Any, str]]:
    """Yield what has a type of numbers, and what messages add for its place: each column of a data frame."""
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
        raise InputError(f"{what} must hold real numbers, got {meant[kind]}")


def require_table(X: Any) -> None:
    """Refuse what is no table at all.

    Raises
    ------
    InputError : it says what X is, and the way out.
    """
    if X is None or (isinstance(X, str | Mapping | Set) and not is_sparse(X)):
        way_out = "; of columns by name, pandas.DataFrame(X) makes one" if isinstance(X, Mapping) else ""
        raise InputError(
            f"X must be a table of numbers, a document or example a row, got {type(X).__name__}: pass an array, a "
            f"sparse matrix or a data frame{way_out}"
        )


def column_names(X: Any) -> list[str] | None:
    """Return the names of the columns of a data frame; None if X has none, or numbers in their place.

    Raises
    ------
    InputTypeError : when only some are texts.
    """
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return None
    names = list(X.columns)
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        other = names[texts.index(False)]
        raise InputTypeError(
            f"the columns of X must be named by texts, or all by numbers, and one is {other!r}: rename it, as in "
            "X.columns = X.columns.astype(str)"
        )
    return names if names and all(texts) else None


def by_name(X: Any, names: Sequence[str] | None, title: str) -> Any:
    """Return the columns of a data frame that a model knows by name, in its order; other columns are left out.

    An X without names, or of a model without names, is returned as it is: its columns count by their position.

    Parameters
    ----------
    X : features.
    names : the names that the model knows; None: it knows none.
    title : what messages call the model.

    Raises
    ------
    InputError : when a column is missing, or there are several of its name.
    """
    known, found = None if names is None else list(names), column_names(X)
    if known is None or found is None or found == known:
        return X
    there = Counter(found)
    missing = [name for name in known if name not in there]
    if missing:
        unknown = sorted(there.keys() - set(known), key=found.index)
        others = f"; X has others, which it does not know: {_shown(unknown)}" if unknown else ""
        raise InputError(
            f"X lacks {len(missing)} of the {len(known)} features that {title} was fitted with: {_shown(missing)}"
            f"{others}. Rename or add columns, or pass an array, whose columns count by position"
        )
    twice = [name for name in known if there[name] > 1]
    if twice:
        raise InputError(f"X has several columns of the name {twice[0]!r}: leave all but one out")
    return X[known]


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(map(repr, names[:_MOST_NAMES])) + more


_MOST_NAMES = 5
"""Names that a message lists."""


def in_our_words(error: str, X: Any, missing: bool) -> str:
    """Add the place of the first number that is not finite, and for missing ones what this library offers.

    Parameters
    ----------
    error : what NumPy or scikit-learn says of X.
    X : the features.
    missing : whether NaN is allowed.
    """
    try:
        place = first_not_finite(X, infinite_only=missing)
    except (TypeError, ValueError, OverflowError):
        return f"{error}{first_feature(X)}"
    first = error.partition("\n")[0]
    if not place or not first.endswith("contains NaN."):
        return f"{error}\n{place}: remove or replace such values." if place else error
    return (
        f"{first} {place}. If NaN stands for a missing score, structsvm.features.FillMissing puts a number in its "
        "place, and structsvm.features.Thresholds makes indicators, of which a missing score satisfies none"
    )


def first_feature(X: Any) -> str:
    """Name the first feature that is not a number, and the way out; "" where all are numbers."""
    table = np.asarray(X, dtype=object)
    if table.ndim != 2:
        return ""
    for row, column in np.ndindex(table.shape):
        if not reads_as_number(table[row, column]):
            name = f" ({X.columns[column]!r})" if hasattr(X, "columns") else ""
            return (
                f"\nThe first is {table[row, column]!r} at row {row}, column {column}{name}: leave the column out, or "
                "make numbers of it, as sklearn.preprocessing.OneHotEncoder does."
            )
    return ""


def first_not_finite(X: Any, *, infinite_only: bool = False) -> str:
    """Say where the first feature is that is NaN or infinite; "" where all are finite, or X is not a table.

    Parameters
    ----------
    X : features, dense or in any sparse format, of which only the stored entries are looked at.
    infinite_only : whether NaN is allowed.

    Raises
    ------
    TypeError, ValueError : when a dense X has entries that are not numbers.
    """
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
    """Return row and column of the first of some stored entries, whose columns need not be in order."""
    row = int(np.searchsorted(X.indptr, entries[0], side="right")) - 1
    return row, int(X.indices[entries[entries < X.indptr[row + 1]]].min())


def reads_as_number(value: Any) -> bool:
    """Say whether Python makes a number of it."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
