"""Validate settings: predicates, checks that name the setting, and attrs validators."""

import errno
import math
import os
from collections.abc import Callable, Hashable, Iterable
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from attrs import Attribute

from structsvm.exceptions import InputError, brief, quoted
from structsvm.foundation.memory import require_memory

DEFAULT_TOL = 1e-3
"""Gap, in multiples of C, at which every solver stops unless its ``tol`` is given."""

RANKING_TOL = 1e-6
"""Gap at which rankers stop, in multiples of C, unless they get ``tol`` or a solver with settings.

At 1e-3, a measure reported with C chosen by validation depends on the solver and its seed by as much as on the grid of
C. Rankings pay at most twice the time for 1e-6; chains would pay thirty times.
"""

_LARGEST = 2**63 - 1
"""Largest integer of compiled code."""

T = TypeVar("T", bound=Hashable)
Validator: TypeAlias = Callable[[Any, "Attribute[Any]", Any], None]
RandomSource: TypeAlias = int | np.random.Generator | np.random.RandomState | None
"""Values that `random_generator` accepts."""


def is_integer(value: Any, smallest: float = -math.inf) -> bool:
    """Return True for an integer of at least ``smallest``, excluding booleans."""
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= smallest


def is_number(value: Any, *, above: float = -math.inf, at_least: float = -math.inf) -> bool:
    """Return True for a finite number within these bounds, excluding booleans."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        number = float(value)
    # An integer may have hundreds of digits.
    except OverflowError:
        return False
    return math.isfinite(number) and number > above and number >= at_least


def place(owner: object, name: str) -> str:
    """Return the name of a setting for messages, ``RankNet(max_iter=...)``, of an object or of a class by its name."""
    return f"{owner if isinstance(owner, str) else type(owner).__name__}({name}=...)"


def require_integer(what: str, value: Any, smallest: int, *, optional: bool = False) -> None:
    """Require an integer of at least ``smallest``, or None if optional; the error begins with ``what``."""
    if is_integer(value, _LARGEST + 1):
        raise InputError(f"{what} must be an integer below 2**63, got {brief(value)}")
    if not (is_integer(value, smallest) or (optional and value is None)):
        raise InputError(f"{what} must be an integer of at least {smallest}{' or None' * optional}, got {brief(value)}")


def require_number(
    what: str, value: Any, *, above: float = -math.inf, at_least: float = -math.inf, optional: bool = False
) -> None:
    """Require a finite number within these bounds, or None if optional."""
    if is_number(value, above=above, at_least=at_least) or (optional and value is None):
        return
    kind = "positive finite number" if above == 0.0 else "finite number"
    if above not in (-math.inf, 0.0):
        kind += f" above {above:g}"
    if at_least > -math.inf:
        kind += f" of at least {at_least:g}"
    raise InputError(f"{what} must be a {kind}{' or None' * optional}, got {brief(value)}")


def random_generator(value: Any) -> np.random.Generator:
    """Return the generator of a ``random_state``: an integer, a Generator, a RandomState, or None for a new seed."""
    if isinstance(value, np.random.RandomState):
        return np.random.default_rng(value.randint(2**32, size=4, dtype=np.uint32))
    if value is None or isinstance(value, np.random.Generator) or is_integer(value, 0):
        return np.random.default_rng(value)
    raise InputError(
        "random_state must be an integer of at least 0, a numpy.random.Generator, a numpy.random.RandomState or None, "
        f"got {brief(value)}"
    )


def require_choice(what: str, value: Any, choices: Iterable[str | None]) -> None:
    """Require one of these choices."""
    options = list(choices)
    if not isinstance(value, str | None) or value not in options:
        raise InputError(f"{what} must be {' or '.join(map(repr, options))}, got {brief(value)}")


def require_switch(what: str, value: Any) -> None:
    """Require True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{what} must be True or False, got {brief(value)}")


def require_kind(what: str, value: Any, kinds: Any, words: str) -> None:
    """Require an instance of these classes, which ``words`` describe."""
    if not isinstance(value, kinds):
        raise InputError(f"{what} must be {words}, got {brief(value)}")


def require_callback(value: Any) -> None:
    """Require a callable or None."""
    if value is not None and not callable(value):
        raise InputError(f"callback must be a function that is shown each step, or None, got {brief(value)}")


def as_path(what: str, value: Any) -> Path:
    """Return a path; reject values that are not paths, and names that the system cannot look up."""
    require_kind(what, value, str | PathLike, "a path")
    path = Path(value)
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(f"there is no file {quoted(str(path))}: {error.strerror}") from None
    except ValueError:
        raise InputError(f"there is no file {quoted(str(path))}: names must not contain NUL") from None
    return path


def real_name(path: Path) -> str:
    """Return the name of the file or folder that a path or link leads to."""
    # `Path.resolve` raises RuntimeError for a loop of links.
    return Path(os.path.realpath(path)).name


def as_paths(what: str, value: Any) -> list[Path]:
    """Return one path, or a list of them, as a list; reject an empty list."""
    if isinstance(value, str | PathLike):
        return [as_path(what, value)]
    paths = [as_path(f"each of {what}", path) for path in as_list(what, value, "a path, or a list of paths")]
    if not paths:
        raise InputError(f"{what} is empty: name at least one file")
    return paths


def as_float_type(value: Any) -> "np.dtype[Any]":
    """Return float64 or float32; reject other types."""
    try:
        dtype: np.dtype[Any] = np.dtype(value)
        if value is not None and dtype in (np.dtype(np.float64), np.dtype(np.float32)):
            return dtype
    except (TypeError, ValueError):
        pass
    raise InputError(f"dtype must be float64 or float32, got {brief(value)}")


def as_list(what: str, value: Any, words: str) -> list[Any]:
    """Return an iterable as a list; ``words`` describe the expected value."""
    try:
        # An array of one repeated value may have any length.
        if isinstance(value, np.ndarray) and value.ndim:
            require_memory(40.0 * len(value), f"The list of {what}", "pass a shorter list")
        return list(value)
    # Some sparse matrices raise NotImplementedError, and damaged ones AttributeError.
    except (AttributeError, NotImplementedError, TypeError, MemoryError):
        raise InputError(f"{what} must be {words}, got {brief(value)}") from None


def repeated(values: Iterable[T]) -> T | None:
    """Return the first value that occurs twice; None if all differ."""
    seen = set[T]()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def as_names(what: str, value: Any) -> tuple[str, ...]:
    """Return one or more distinct names; reject other values."""
    if isinstance(value, str):
        raise InputError(f"{what} must be a list of names, such as [{value!r}]")
    names = as_list(what, value, "a list of names")
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{what} must be a list of names, got {brief(name)} in it")
    twice = repeated(names)
    if twice is not None:
        raise InputError(f"{what} has {twice!r} twice: leave one out")
    if not names:
        raise InputError(f"{what} is empty: name one at least")
    return tuple(names)


def checked_names(what: str, names: Any, number: int) -> tuple[str, ...]:
    """Return the names of ``number`` features, all distinct and not blank."""
    texts = as_names(what, names)
    if len(texts) != number or not all(name.strip() for name in texts):
        raise InputError(f"{what} must be {number} texts, one for each feature, got {len(texts)}")
    return texts


def _validator(check: Callable[..., None], *arguments: Any, **named: Any) -> Validator:
    """Return a validator that calls a check with the name and the value of a setting, then with these arguments."""

    def validate(instance: Any, attribute: "Attribute[Any]", value: Any) -> None:
        check(place(instance, attribute.name), value, *arguments, **named)

    return validate


positive = _validator(require_number, above=0.0)
not_negative = _validator(require_number, at_least=0.0)
finite = _validator(require_number)
truth_value = _validator(require_switch)


def at_least(smallest: int) -> Validator:
    """Return a validator that requires an integer of at least ``smallest``."""
    return _validator(require_integer, smallest)


def within(low: float, high: float, *, ends: bool = True) -> Validator:
    """Return a validator that requires a number from ``low`` to ``high``; without ``ends``, strictly between them."""

    def check(what: str, value: Any) -> None:
        if not (is_number(value) and (low <= value <= high if ends else low < value < high)):
            words = f"from {low:g} to {high:g}" if ends else f"between {low:g} and {high:g}"
            raise InputError(f"{what} must be {words}, got {brief(value)}")

    return _validator(check)


def of_kind(kind: type, words: str) -> Validator:
    """Return a validator that requires an instance of a class, which ``words`` describe."""
    return _validator(require_kind, kind, words)


def one_of(*choices: str) -> Validator:
    """Return a validator that requires one of these strings."""
    return _validator(require_choice, choices)
