"""Cached machine code: which sources it depends on, and fallbacks for files that are damaged or cannot be written."""

import sys
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

_CONSTANTS = (bool, int, float, complex, str, bytes, np.generic, np.ndarray, type(None))

_INDEX = ("_source_stamp", "_load_index", "_load_data", "save")
"""Attributes of numba's cache index that are overridden, because numba checks only the function's own file."""


def kept(make: Callable[[], Any]) -> Any:
    """Return the dispatcher made by ``make()``, cached on disk if that is safe."""
    dispatcher = make()
    try:
        dispatcher.enable_caching()
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        return dispatcher
    index = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if index is None or not all(hasattr(index, name) for name in _INDEX):
        return make()
    index._source_stamp = (index._source_stamp, _stamps(dispatcher.py_func.__module__))
    _forgive(index)
    return dispatcher


def _forgive(index: Any) -> None:
    """Treat damaged cache files as missing, and ignore cache writes that fail."""
    load_index, load_data, save = index._load_index, index._load_data, index.save

    def index_or_none() -> Any:
        try:
            return load_index()
        # Unpickling may raise anything.
        except Exception:
            return {}

    def data_or_none(name: str) -> Any:
        try:
            return load_data(name)
        except Exception as error:
            # numba treats an OSError as a missing file.
            raise OSError(f"{name} is damaged") from error

    def save_or_not(key: Any, data: Any) -> None:
        # The disk may be full.
        with suppress(OSError):
            save(key, data)

    index._load_index, index._load_data, index.save = index_or_none, data_or_none, save_or_not


def _stamps(module: str) -> tuple[Any, ...]:
    """Return name, file time, size and constants of a module and all that it uses: equal if code is still valid."""
    names, visited = [module], set[str]()
    packages = {module.partition(".")[0], __name__.partition(".")[0]}
    while names:
        name = names.pop()
        if name in visited or name.partition(".")[0] not in packages or name not in sys.modules:
            continue
        visited.add(name)
        for value in vars(sys.modules[name]).values():
            values = value if isinstance(value, list) else [value]
            names += [_home(item) for item in values if not isinstance(item, type) or issubclass(item, Enum | tuple)]
    return tuple((name, _file(name), _constants(name)) for name in sorted(visited))


def _home(value: Any) -> str:
    return value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))


@cache
def _file(module: str) -> tuple[int, int] | None:
    try:
        file = Path(str(sys.modules[module].__file__)).stat()
    except (AttributeError, OSError):
        return None
    return file.st_mtime_ns, file.st_size


def _constants(module: str) -> tuple[tuple[str, Any], ...]:
    """Return the numbers, texts and arrays of a module, which numba compiles into machine code."""
    return tuple(
        (name, (value.tobytes(), value.dtype.str, value.shape) if isinstance(value, np.ndarray) else repr(value))
        for name, value in sorted(vars(sys.modules[module]).items())
        # None may be a value that is filled in later.
        if not name.startswith("__") and value is not None and is_constant(value)
    )


def is_constant(value: Any) -> bool:
    """Return True for a number, text or array, or a tuple of them."""
    return all(map(is_constant, value)) if isinstance(value, tuple) else isinstance(value, _CONSTANTS)
