"""Validators of settings, for attrs fields: each names the field and what it may be."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

from structsvm.exceptions import InputError


def positive(instance: Any, attribute: Any, value: Any) -> None:
    """Require a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < value < np.inf:
        raise InputError(f"{_place(instance, attribute)} must be a positive finite number, got {value!r}")


def at_least(smallest: int) -> Callable[[Any, Any, Any], None]:
    """Require an integer of at least ``smallest``."""

    def validate(instance: Any, attribute: Any, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, Integral) or value < smallest:
            raise InputError(f"{_place(instance, attribute)} must be an integer of at least {smallest}, got {value!r}")

    return validate


def _place(instance: Any, attribute: Any) -> str:
    return f"{type(instance).__name__}({attribute.name}=...)"
