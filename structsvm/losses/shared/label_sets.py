"""Sets of the labels that an output, or a part of it, can have, and costs of wrong labels."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.exceptions import InputError, brief, with_article
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import as_list


def as_labels(values: Iterable[Any] | None, setting: str) -> tuple[Any, ...] | None:
    """Return distinct labels as a tuple of Python values, or None; reject repeated, NaN, unhashable or no labels."""
    if values is None:
        return None
    try:
        labels = tuple(map(_own, as_list(setting, values, "a list of hashable labels")))
        repeated = len(set(labels)) < len(labels)
    except TypeError as error:
        raise InputError(
            f"{setting} must be a list of hashable labels, such as numbers, strings or tuples: {error}"
        ) from None
    if any(isinstance(label, float) and math.isnan(label) for label in labels):
        raise InputError(f"{setting} must not contain NaN")
    if not labels or repeated:
        raise InputError(f"{setting} must be different labels, at least one, got {brief(values)}")
    return labels


def sorted_labels(values: Iterable[Any], setting: str) -> list[Any]:
    """Return the distinct labels in sorted order; errors name the setting that accepts labels of any kind.

    Numbers must be integers: fractions are measurements rather than classes, the rule of scikit-learn's
    ``type_of_target``.
    """
    try:
        if isinstance(values, np.ndarray) and values.dtype != object:
            distinct = set(np.unique(values).tolist())
        else:
            distinct = set(map(_own, values))
    except TypeError as error:
        raise InputError(
            f"labels must be hashable, such as numbers or strings: {error}. Flatten labels that are nested too deeply"
        ) from None
    numbers = (label for label in distinct if isinstance(label, float) and math.isfinite(label))
    fraction = next((number for number in numbers if number % 1.0), None)
    if fraction is not None:
        raise InputError(
            f"labels must be classes, but {fraction!r} is a fraction, so they look like measurements: make classes of "
            f"them, for example with numpy.digitize, or give {setting} if these numbers are the classes"
        )
    try:
        return sorted(distinct)
    except TypeError as error:
        raise InputError(f"the labels cannot be sorted ({error}): give {setting}") from None


def indicator_matrix(y: Any, n_labels: int | None = None) -> NDArray[np.int64]:
    """Return an indicator matrix, dense or sparse, as an array of 0 and 1, shape (n, L)."""
    try:
        matrix = np.asarray(y.toarray() if hasattr(y, "toarray") else y, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise InputError(
            f"y must be an indicator matrix, with a row per example and a column per label, got {_shape(y)}: "
            "sklearn.preprocessing.MultiLabelBinarizer makes one from lists of labels"
        )
    if n_labels not in (None, matrix.shape[1]):
        raise InputError(f"y has {matrix.shape[1]} columns, and there are {n_labels} labels: give a column for each")
    wrong = np.argwhere((matrix != 0.0) & (matrix != 1.0))
    if len(wrong):
        i, label = wrong[0].tolist()
        raise InputError(
            f"y must contain 0 and 1 only: example {i} has {matrix[i, label]:g} in column {label}. "
            "sklearn.preprocessing.MultiLabelBinarizer makes such a matrix from lists of labels"
        )
    return matrix.astype(np.int64)


def _shape(y: Any) -> str:
    shape = getattr(y, "shape", None)
    return with_article(type(y).__name__) if shape is None else f"shape {tuple(shape)}"


def label_array(labels: Iterable[Any]) -> NDArray[Any]:
    """Return labels as a vector, of objects if they are tuples or of mixed types, which NumPy would convert."""
    values = list(map(_own, labels))
    kinds = {type(label) for label in values}
    if kinds <= {int, float} or (len(kinds) == 1 and tuple not in kinds):
        return np.asarray(values)
    array = np.empty(len(values), dtype=object)
    for place, label in enumerate(values):
        array[place] = label
    return array


def _own(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


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
