"""Tables of the costs of wrong labels."""

from typing import Any

import numpy as np

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers


def label_costs(values: Any, setting: str) -> tuple[tuple[float, ...], ...] | None:
    """Return a K x K table of costs as tuples, or None; reject other shapes, negative costs and costs of the truth."""
    if values is None:
        return None
    table = numbers(values, setting, "a K x K matrix of numbers")
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:
        raise InputError(
            f"{setting} must be a K x K matrix, a row for each true label and a column for each predicted label; its "
            f"shape is {table.shape}"
        )
    wrong = ~(np.isfinite(table) & (table >= 0.0))
    np.fill_diagonal(wrong, np.diag(table) != 0.0)
    if wrong.any():
        row, column = (int(number) for number in np.argwhere(wrong)[0])
        must = "be 0, the cost of the true label" if row == column else "be a finite number of at least 0"
        raise InputError(f"{setting}: cost[{row}][{column}] must {must}, got {table[row, column]:g}")
    return tuple(map(tuple, table.tolist()))
