"""The place of what is no number, among labels and features."""

from typing import Any

import numpy as np


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


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
