"""Validators of the settings of backends."""

import math
from typing import Any

from attrs import Attribute

from structsvm.exceptions import InputError


def positive(instance: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Refuse all but finite numbers above 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value < math.inf:
        raise InputError(f"{_field(instance, attribute)} must be a finite number above 0, got {value!r}.")


def positive_int(instance: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Refuse all but whole numbers from 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{_field(instance, attribute)} must be a whole number of at least 1, got {value!r}.")


def truth_value(instance: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Refuse all but True and False."""
    if not isinstance(value, bool):
        raise InputError(f"{_field(instance, attribute)} must be True or False, got {value!r}.")


def _field(instance: object, attribute: "Attribute[Any]") -> str:
    return f"{type(instance).__name__}({attribute.name}=...)"
