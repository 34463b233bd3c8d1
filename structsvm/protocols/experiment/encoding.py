"""Frozen classes as JSON text, and back. Numbers come back to the last digit."""

from typing import Any, TypeVar

from cattrs import BaseValidationError, transform_error
from cattrs.preconf.json import make_converter

T = TypeVar("T")

_CONVERTER = make_converter()


def as_json(value: Any) -> str:
    """Return an attrs object as one line of JSON."""
    return _CONVERTER.dumps(value, allow_nan=False, separators=(",", ":"))


def from_json(text: str, kind: type[T]) -> T:
    """Make an attrs object of JSON.

    Raises
    ------
    ValueError : when the text is no JSON, or of something else; it says where it differs.
    """
    try:
        return _CONVERTER.loads(text, kind)
    except BaseValidationError as error:
        raise ValueError("; ".join(transform_error(error)[:3])) from None
