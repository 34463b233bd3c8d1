"""Read data frames of pandas, polars, pyarrow and other libraries by narwhals, which the first frame imports."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from structsvm.exceptions import InputError, InputTypeError, first_of
from structsvm.foundation.arrays import FLOATS, not_a_number, reads_as_number, refusal, require_real
from structsvm.foundation.memory import require_memory
from structsvm.foundation.queries import missing_rows
from structsvm.foundation.settings import repeated
from structsvm.foundation.types import IntVector

_ID = re.compile(
    r"(.*[\W_])?id|(doc|document|query|page|item|user|session|url)(id|no)?|[qd]id|.*[a-z]I[Dd]"
    r"|index|level_\d+|unnamed: \d+(\.\d+|_level_\d+)*"
)


def is_frame(X: Any) -> bool:
    """Return True for a data frame, without importing its library or narwhals."""
    return hasattr(type(X), "columns")


def is_id(name: str) -> bool:
    """Return True if a column's name suggests ids or a saved index, which are features only if the user chose them."""
    return _ID.fullmatch(name) is not None or _ID.fullmatch(name.lower()) is not None


def column_names(X: Any, what: str = "X") -> list[Any]:
    """Return the column names of a data frame; reject repeated ones, and frames that are not in memory."""
    if not hasattr(X, "__len__"):
        raise _unreadable(X, what)
    # The columns of a pyarrow.Table are not names, and the loop of pandas over its names is slow.
    columns = X.column_names if hasattr(X, "column_names") else X.columns
    names: list[Any] = columns.tolist() if hasattr(columns, "tolist") else list(columns)
    if len(set(names)) < len(names):
        raise InputError(f"{what} has several columns named {repeated(names)!r}: rename them, or leave all but one out")
    return names


def as_narwhals(X: Any, what: str = "X") -> Any:
    """Return a data frame as one of narwhals, after the checks of `column_names`."""
    import narwhals.stable.v2 as nw

    column_names(X, what)
    try:
        return nw.from_native(X, eager_only=True)
    except TypeError:
        raise _unreadable(X, what) from None


def _unreadable(X: Any, what: str) -> InputError:
    return InputError(
        f"{what} is a {type(X).__module__.partition('.')[0]} {type(X).__name__}, whose rows cannot be read: pass a "
        "data frame of pandas or polars or a pyarrow.Table, in memory. A lazy frame has collect() or compute()"
    )


def text_names(names: Sequence[Any], what: str = "X") -> list[str] | None:
    """Return column names, or None if they are not texts; reject names of mixed types."""
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        other = names[texts.index(False)]
        raise InputTypeError(
            f"the column names of {what} must be all texts or all numbers, but one is {other!r}: rename it, as in "
            "X.columns = X.columns.astype(str)"
        )
    return list(names) if names and all(texts) else None


def ordered(columns: Sequence[Any], names: Sequence[str] | None, owner: str, what: str = "X") -> list[Any]:
    """Return a model's names if a frame has them, else the columns of a frame without names; reject missing ones.

    ``owner`` ends the message "X lacks 1 of the 3 features that", as in "Ranker was fitted with".
    """
    texts = text_names(columns, what)
    if names is None or texts is None or texts == list(names):
        return list(columns)
    present, wanted = set(texts), set(names)
    missing = [name for name in names if name not in present]
    if missing:
        unknown = first_of(repr(name) for name in texts if name not in wanted)
        others = f"; {what} has unknown ones: {unknown}" if unknown else ""
        raise InputError(
            f"{what} lacks {len(missing)} of the {len(names)} features that {owner}: {first_of(map(repr, missing))}"
            f"{others}. Rename or add columns, or pass an array, whose columns are found by position"
        )
    return list(names)


def read_frame(
    X: Any, names: Sequence[str] | None = None, owner: str = "", what: str = "X"
) -> tuple[NDArray[Any], list[str] | None]:
    """Return the numbers of a data frame, shape (rows, d), in C order, and the names of their columns, if texts.

    The columns are ``names``, as `ordered` finds them; others are dropped. Numbers are float32 if all columns are, else
    float64; a missing value is NaN.
    """
    present = column_names(X, what)
    columns = ordered(present, names, owner, what)
    texts = text_names(columns)
    values = _floats(X, present, columns)
    if values is None:
        frame = as_narwhals(X, what)
        values = _numbers(frame if columns == present else frame.select(columns), columns, what)
    return values, texts


def read_inputs(
    xs: Any, names: Sequence[str] | None = None, owner: str = "", place: str = "X[{}]"
) -> tuple[Any, Sequence[str] | None]:
    """Replace data frames among inputs by arrays, and return the names of the columns of all frames.

    ``xs`` is a frame, a list of inputs, some of which are frames, or anything else, which is returned as it is. Without
    ``names``, the first frame of the list has the names.
    """
    if is_frame(xs):
        return read_frame(xs, names, owner)
    xs, masks = without_masks(xs)
    if not _is_listed(xs) or not any(map(is_frame, xs)):
        return with_masks(xs, masks), names
    arrays = list(xs)
    for i, x in enumerate(xs):
        if is_frame(x):
            arrays[i], columns = read_frame(x, names, owner, place.format(i))
            if names is None and columns is not None:
                names, owner = columns, f"{place.format(i)} has"
    return with_masks(arrays, masks), names


PartNames: TypeAlias = tuple[Sequence[str] | None, Sequence[str] | None]
"""Names of the features of inputs, or of the nodes of graphs, and of the edges; None without names."""


def read_graphs(xs: Any, names: PartNames = (None, None), owner: str = "") -> tuple[Any, PartNames]:
    """Return graphs (node_features, edges[, edge_features][, allowed]) with arrays as `read_inputs`."""
    if not isinstance(xs, list | tuple) or not all(isinstance(x, list | tuple) and 2 <= len(x) <= 4 for x in xs):
        return xs, names
    nodes, node_names = read_inputs([x[0] for x in xs], names[0], owner, "the node features of X[{}]")
    features = [[part for part in x[2:] if not is_mask(part)] for x in xs]
    edges, edge_names = read_inputs([part for parts in features for part in parts], names[1], owner, "edge features {}")
    of_edges = iter(edges)
    graphs = [
        (node, x[1], *(part if is_mask(part) else next(of_edges) for part in x[2:]))
        for x, node in zip(xs, nodes, strict=True)
    ]
    return graphs, (node_names, edge_names)


def without_masks(xs: Any) -> tuple[Any, list[Any] | None]:
    """Split inputs (features, mask) of a list into features and masks; None for the mask of an input without one.

    If all inputs are without a mask, they are returned as they are, with None for all masks.
    """
    if not _is_listed(xs) or not any(map(_has_mask, xs)):
        return xs, None
    pairs = [x if _has_mask(x) else (x, None) for x in xs]
    return [features for features, _ in pairs], [mask for _, mask in pairs]


def with_masks(xs: Any, masks: list[Any] | None) -> Any:
    """Put the masks back that `without_masks` split off."""
    return xs if masks is None else [x if mask is None else (x, mask) for x, mask in zip(xs, masks, strict=True)]


def _has_mask(x: Any) -> bool:
    return isinstance(x, tuple) and len(x) == 2 and is_mask(x[1])


def _is_listed(xs: Any) -> bool:
    return isinstance(xs, list | tuple) or (isinstance(xs, np.ndarray) and xs.dtype == object and xs.ndim == 1)


def is_mask(part: Any) -> bool:
    """Return True for an array of truth values."""
    return isinstance(part, np.ndarray) and part.dtype == bool


def rows_of_frame(X: Any, rows: IntVector) -> Any:
    """Return some rows of a data frame, as a frame of the same library."""
    return as_narwhals(X)[rows].to_native()


def _floats(X: Any, present: Sequence[Any], columns: Sequence[Any]) -> NDArray[Any] | None:
    """Return the numbers of a frame that NumPy reads as floats, copied once; None if columns must be read one by one.

    This takes a fifth of narwhals' time for a thousand rows.
    """
    # polars makes numbers of dates beside numbers.
    dates = type(X).__module__.startswith("polars.") and any(kind.is_temporal() for kind in X.dtypes)
    if dates or len(present) > len(columns):
        return None
    # Libraries refuse mixtures of types.
    with suppress(Exception):
        values = np.asarray(X)
        if values.dtype in FLOATS:
            if columns != present:
                place = {name: k for k, name in enumerate(present)}
                values = values.take([place[name] for name in columns], axis=1)
            return np.ascontiguousarray(values)
    return None


def _numbers(frame: Any, names: Sequence[Any], what: str) -> NDArray[Any]:
    """Return the numbers of a frame of narwhals: columns of floats and integers together, others one by one."""
    rows, width = frame.shape
    require_memory(8.0 * rows * width, f"the numbers of {what}, of shape {(rows, width)},", "pass fewer rows")
    table = np.empty((rows, width))
    kinds = frame.schema.values()
    apart = [k for k, kind in enumerate(kinds) if not (kind.is_float() or kind.is_integer()) or "128" in str(kind)]
    together = np.setdiff1d(np.arange(width), apart)
    if len(together):
        table[:, together] = frame[:, together].to_numpy()
    for k in apart:
        table[:, k] = _column(frame[:, k], k, names[k], what)
    return table


def _column(column: Any, k: int, name: Any, what: str) -> Any:
    """Return the numbers of a column, NaN for missing ones; values that convert to float are numbers."""
    place = f"{what}, column {name!r},"
    if column.dtype.is_nested():
        raise InputError(f"{place} must have one number per row, got {column.dtype}: make a column of each part")
    try:
        values = column.to_numpy()
    # NumPy lacks some types, such as integers of 128 bits.
    except Exception as error:
        raise InputError(f"{place} cannot be read as numbers: {error}. Convert it to float64") from None
    require_real(values, place)
    if values.dtype.kind in "biuf":
        return values
    entries = np.array(values, dtype=object)
    holes = missing_rows(entries)
    entries[holes] = np.nan
    try:
        return entries.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        row = next((row for row, value in enumerate(entries.tolist()) if not reads_as_number(value)), None)
        text = str(error) if row is None else f"{error}{not_a_number(entries[row], row, k, name)}"
        raise refusal(error, text) from None
