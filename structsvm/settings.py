"""What a setting may be: tests of one value, refusals that name it, and validators of attrs fields made of these."""

import math
from collections.abc import Callable, Hashable, Iterable
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from attrs import Attribute

from structsvm.exceptions import InputError

T = TypeVar("T", bound=Hashable)
Validator: TypeAlias = Callable[[Any, "Attribute[Any]", Any], None]


def is_integer(value: Any, smallest: float = -math.inf) -> bool:
    """Say whether a value is an integer of at least ``smallest``, not True or False."""
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= smallest


def is_number(value: Any, *, above: float = -math.inf, at_least: float = -math.inf) -> bool:
    """Say whether a value is a finite number within these bounds, not True or False."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        number = float(value)
    except OverflowError:  # an integer of hundreds of digits
        return False
    return math.isfinite(number) and number > above and number >= at_least


def place(owner: object, name: str) -> str:
    """Return what messages call a setting: ``RankNet(epochs=...)``."""
    return f"{type(owner).__name__}({name}=...)"


def require_integer(what: str, value: Any, smallest: int, *, optional: bool = False) -> None:
    """Require an integer of at least ``smallest``; or None, where the setting is optional.

    Raises
    ------
    InputError : it names ``what``, such as the `place` of a setting.
    """
    if not (is_integer(value, smallest) or (optional and value is None)):
        raise InputError(f"{what} must be an integer of at least {smallest}{' or None' * optional}, got {value!r}")


def require_number(
    what: str, value: Any, *, above: float = -math.inf, at_least: float = -math.inf, optional: bool = False
) -> None:
    """Require a finite number within these bounds; or None, where the setting is optional; see `require_integer`."""
    if is_number(value, above=above, at_least=at_least) or (optional and value is None):
        return
    kind = "positive finite number" if above == 0.0 else "finite number"
    if above not in (-math.inf, 0.0):
        kind += f" above {above:g}"
    if at_least > -math.inf:
        kind += f" of at least {at_least:g}"
    raise InputError(f"{what} must be a {kind}{' or None' * optional}, got {value!r}")


def require_choice(what: str, value: Any, choices: Iterable[str | None]) -> None:
    """Require one of these; see `require_integer`."""
    known = list(choices)
    if not isinstance(value, str | None) or value not in known:
        raise InputError(f"{what} must be {' or '.join(map(repr, known))}, got {value!r}")


def require_switch(what: str, value: Any) -> None:
    """Require True or False; see `require_integer`."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{what} must be True or False, got {value!r}")


def require_kind(what: str, value: Any, kinds: Any, words: str) -> None:
    """Require an object of one of these classes; ``words`` say which; see `require_integer`."""
    if not isinstance(value, kinds):
        raise InputError(f"{what} must be {words}, got {value!r}")


def require_callback(value: Any) -> None:
    """Require a function that is shown progress, or None."""
    if value is not None and not callable(value):
        raise InputError(f"callback must be a function that is shown each step, or None, got {value!r}")


def as_path(what: str, value: Any) -> Path:
    """Return a path; see `require_integer`."""
    require_kind(what, value, str | PathLike, "a path")
    return Path(value)


def as_float_type(what: str, value: Any) -> "np.dtype[Any]":
    """Return float64 or float32; see `require_integer`."""
    try:
        found: np.dtype[Any] = np.dtype(value)
        if value is not None and found in (np.dtype(np.float64), np.dtype(np.float32)):
            return found
    except (TypeError, ValueError):
        pass
    raise InputError(f"{what} must be float64 or float32, got {value!r}")


def as_list(what: str, value: Any, words: str) -> list[Any]:
    """Return what several things are in as a list; ``words`` say what it must be; see `require_integer`."""
    try:
        return list(value)
    except (NotImplementedError, TypeError):  # the first of some sparse matrices
        raise InputError(f"{what} must be {words}, got {value!r}") from None


def repeated(values: Iterable[T]) -> T | None:
    """Return the first value that is there a second time; None if all are different."""
    seen = set[T]()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def as_names(what: str, value: Any) -> tuple[str, ...]:
    """Return different names, one at least; see `require_integer`."""
    if isinstance(value, str):
        raise InputError(f"{what} must be a list of names, such as [{value!r}]")
    names = as_list(what, value, "a list of names")
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{what} must be a list of names, got {name!r} in it")
    twice = repeated(names)
    if twice is not None:
        raise InputError(f"{what} has {twice!r} twice: leave one out")
    if not names:
        raise InputError(f"{what} is empty: name one at least")
    return tuple(names)


def checked_names(what: str, names: Any, number: int) -> tuple[str, ...]:
    """Return the names of so many features, all different; see `require_integer`."""
    found = as_names(what, names)
    if len(found) != number or not all(name.strip() for name in found):
        raise InputError(f"{what} must be {number} texts, one for each feature, got {len(found)}")
    return found


def positive(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
    """Require a positive finite number."""
    require_number(place(instance, attribute.name), value, above=0.0)


def not_negative(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
    """Require a finite number of at least 0."""
    require_number(place(instance, attribute.name), value, at_least=0.0)


def finite(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
    """Require a finite number."""
    require_number(place(instance, attribute.name), value)


def truth_value(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
    """Require True or False."""
    require_switch(place(instance, attribute.name), value)


def at_least(smallest: int) -> Validator:
    """Return a validator that requires an integer of at least ``smallest``."""

    def validate(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
        require_integer(place(instance, attribute.name), value, smallest)

    return validate


def within(low: float, high: float) -> Validator:
    """Return a validator that requires a number from ``low`` to ``high``."""

    def validate(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
        if not (is_number(value) and low <= value <= high):
            raise InputError(f"{place(instance, attribute.name)} must be from {low:g} to {high:g}, got {value!r}")

    return validate


def inside(low: float, high: float) -> Validator:
    """Return a validator that requires a number between ``low`` and ``high``, neither of them."""

    def validate(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
        if not (is_number(value) and low < value < high):
            raise InputError(f"{place(instance, attribute.name)} must be between {low:g} and {high:g}, got {value!r}")

    return validate


def of_kind(kind: type, words: str) -> Validator:
    """Return a validator that requires an object of a class; ``words`` say which."""

    def validate(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
        require_kind(place(instance, attribute.name), value, kind, words)

    return validate


def one_of(*choices: str) -> Validator:
    """Return a validator that requires one of these strings."""

    def validate(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
        require_choice(place(instance, attribute.name), value, choices)

    return validate
