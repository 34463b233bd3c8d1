"""The different labels that an output, or a part of it, can have."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.exceptions import InputError


def as_labels(values: Iterable[Any] | None, setting: str) -> tuple[Any, ...] | None:
    """Return different labels as a tuple, each of its own type; NumPy's numbers become Python's.

    Parameters
    ----------
    values : the labels; None: not known yet.
    setting : what messages call them, as in ``"Multiclass(classes=...)"``.

    Raises
    ------
    InputError : when one is given twice, is NaN, or cannot be a key of a dict; or there are none.
    """
    if values is None:
        return None
    try:
        labels = tuple(map(_own, values))
        repeated = len(set(labels)) < len(labels)
    except TypeError as error:
        raise InputError(
            f"{setting} must be a list of labels that can be told apart, such as numbers, strings or tuples of "
            f"these: {error}"
        ) from None
    if any(isinstance(label, float) and math.isnan(label) for label in labels):
        raise InputError(f"{setting} must not hold NaN, which is no label")
    if not labels or repeated:
        raise InputError(f"{setting} must be different labels, one at least, got {values!r}")
    return labels


def sorted_labels(values: Iterable[Any], setting: str) -> list[Any]:
    """Return the different labels among values, sorted.

    Raises
    ------
    InputError : when they cannot be sorted, or told apart; it says to give the setting.
    """
    if isinstance(values, np.ndarray) and values.dtype != object:
        return np.unique(values).tolist()  # type: ignore[no-any-return]
    try:
        return sorted(set(map(_own, values)))
    except TypeError as error:
        raise InputError(f"the labels cannot be sorted ({error}): give {setting}") from None


def label_array(labels: Iterable[Any]) -> NDArray[Any]:
    """Return labels as a vector: of objects, where they are tuples or of several types, which NumPy would make one."""
    own = list(map(_own, labels))
    kinds = {type(label) for label in own}
    if kinds <= {int, float} or (len(kinds) == 1 and tuple not in kinds):
        return np.asarray(own)
    array = np.empty(len(own), dtype=object)
    for place, label in enumerate(own):
        array[place] = label
    return array


def _own(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
