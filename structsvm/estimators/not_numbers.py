"""The place of what is no number, among labels and features."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def first_label(y: Any) -> str:
    """Say which label is the first that is no number, and the way out; "" where there is none."""
    for row, label in enumerate(np.ravel(np.asarray(y, dtype=object))):
        if not _is_number(label):
            return f"\nThe first is label {row}, {label!r}: make numbers of them, as in np.where(y == {label!r}, 1, 0)."
    return ""


def first_feature(X: Any) -> str:
    """Say which feature is the first that is no number, and the way out; "" where there is none."""
    table = np.asarray(X, dtype=object)
    if table.ndim != 2:
        return ""
    for row, column in np.ndindex(table.shape):
        if not _is_number(table[row, column]):
            name = f" ({X.columns[column]!r})" if hasattr(X, "columns") else ""
            return (
                f"\nThe first is {table[row, column]!r} at row {row}, column {column}{name}: leave the column out, or "
                "make numbers of it, as sklearn.preprocessing.OneHotEncoder does."
            )
    return ""


def first_not_finite(X: Any, *, infinite_only: bool = False) -> str:
    """Say where the first feature is that is NaN or infinite; "" where there is none, or X is no table.

    Parameters
    ----------
    X : features, dense or in any sparse format, of which only the stored entries are looked at.
    infinite_only : whether NaN is no fault.

    Raises
    ------
    TypeError, ValueError : when a dense X has entries that are no numbers.
    """
    sparse = sp.issparse(X)
    rows = X.tocsr() if sparse else np.asarray(X, dtype=np.float64)
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


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
