"""Machine code on disk: of which sources it is, and what becomes of files that are damaged or cannot be written."""

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
"""What the index of numba's files of machine code has. Numba itself looks at the file of the function alone."""


def kept(make: Callable[[], Any], way: object) -> Any:
    """Return what numba makes of a function, whose machine code is kept on disk where that can be, and be trusted.

    Parameters
    ----------
    make : makes the dispatcher of the function; called again where its code is not kept.
    way : how it is compiled: code that was compiled in another way is not read.
    """
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
    index._source_stamp = (index._source_stamp, way, _stamps(dispatcher.py_func.__module__))
    _forgive(index)
    return dispatcher


def _forgive(index: Any) -> None:
    """Take damaged files of machine code for none, and do without new ones where they cannot be written."""
    load_index, load_data, save = index._load_index, index._load_data, index.save

    def index_or_none() -> Any:
        try:
            return load_index()
        except Exception:  # of unpickling: of any kind
            return {}

    def data_or_none(name: str) -> Any:
        try:
            return load_data(name)
        except Exception as error:
            raise OSError(f"{name} is damaged") from error  # which numba takes for a file that is gone

    def save_or_not(key: Any, data: Any) -> None:
        with suppress(OSError):  # a full disk
            save(key, data)

    index._load_index, index._load_data, index.save = index_or_none, data_or_none, save_or_not


def _stamps(module: str) -> tuple[Any, ...]:
    """Return stamps of a module, and of all that it takes names from, of its package or this one, directly or not.

    Machine code on disk is valid as long as they are the same. A stamp is the name of the module, the time and size of
    its file, and the constants that it holds. Modules whose functions are in a list of the module count, too. Of
    classes only enumerations and named tuples become part of machine code: modules of other classes do not count.
    """
    names, found = [module], set[str]()
    packages = {module.partition(".")[0], __name__.partition(".")[0]}
    while names:
        name = names.pop()
        if name in found or name.partition(".")[0] not in packages or name not in sys.modules:
            continue
        found.add(name)
        for value in vars(sys.modules[name]).values():
            values = value if isinstance(value, list) else [value]
            names += [_home(each) for each in values if not isinstance(each, type) or issubclass(each, Enum | tuple)]
    return tuple((name, _file(name), _constants(name)) for name in sorted(found))


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
    """Return the numbers, texts and arrays that a module holds: numba makes them part of the machine code."""
    return tuple(
        (name, (value.tobytes(), value.dtype.str, value.shape) if isinstance(value, np.ndarray) else repr(value))
        for name, value in sorted(vars(sys.modules[module]).items())
        if not name.startswith("__") and value is not None and is_constant(value)  # None: not filled in yet, perhaps
    )


def is_constant(value: Any) -> bool:
    """Say whether a value is a number, a text or an array, or a tuple of such."""
    return all(map(is_constant, value)) if isinstance(value, tuple) else isinstance(value, _CONSTANTS)
