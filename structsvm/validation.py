"""Validators of settings, for attrs fields: each names the field and what it may be."""

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, TypeAlias, cast

from attrs import Attribute

from structsvm.exceptions import InputError

Validator: TypeAlias = Callable[[Any, "Attribute[Any]", Any], None]


def positive(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
    """Require a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < math.inf:
        raise InputError(f"{_field(instance, attribute)} must be a positive finite number, got {value!r}")


def finite(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
    """Require a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not -math.inf < cast(float, value) < math.inf:
        raise InputError(f"{_field(instance, attribute)} must be a finite number, got {value!r}")


def at_least(smallest: int) -> Validator:
    """Return a validator that requires an integer of at least ``smallest``."""

    def validate(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, Integral) or value < smallest:
            raise InputError(f"{_field(instance, attribute)} must be an integer of at least {smallest}, got {value!r}")

    return validate


def truth_value(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
    """Require True or False."""
    if not isinstance(value, bool):
        raise InputError(f"{_field(instance, attribute)} must be True or False, got {value!r}")


def one_of(*choices: str) -> Validator:
    """Return a validator that requires one of these strings."""

    def validate(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
        if value not in choices:
            raise InputError(f"{_field(instance, attribute)} must be {' or '.join(map(repr, choices))}, got {value!r}")

    return validate


def _field(instance: Any, attribute: "Attribute[Any]") -> str:
    return f"{type(instance).__name__}({attribute.name}=...)"
