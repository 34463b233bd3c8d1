"""Machine code on disk: the folder that keeps it, named by the sources that the code depends on."""

import inspect
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from structsvm.compute.environment import numba

_CONSTANTS = (bool, int, float, complex, str, bytes, np.generic, np.ndarray, type(None))

_LEAST_FREE = 2**26
"""Bytes that a disk must have free: numba raises if it cannot write the code that it compiled."""

_OLD = 7 * 24 * 3600.0
"""Seconds after which the code of other versions of a module is removed."""

_changing = threading.Lock()


def kept(decorate: Callable[[bool], Any], function: Callable[..., Any]) -> Any:
    """Return a function as numba decorates it, whose machine code is kept on disk if that is possible.

    Numba notices changes in the file of the function alone. A folder named by all its sources covers the others, too.

    Parameters
    ----------
    decorate : returns the decorated function; its argument is whether numba keeps machine code.
    function : the plain function.
    """
    folder = code_folder(function)
    if folder is None:
        return decorate(False)
    with _changing:
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
        try:
            return decorate(True)
        finally:
            numba.config.CACHE_DIR = before


def code_folder(function: Callable[..., Any]) -> Path | None:
    """Return the folder for the machine code of a function; None without a source file or a folder to write to."""
    with suppress(TypeError, OSError):
        source = Path(inspect.getfile(function))
        root = _root(source.parent, numba.config.CACHE_DIR) if source.is_file() else None
        if root is not None:
            module = function.__module__
            folder = root / f"{module}-{sha256(repr(_stamps(module)).encode()).hexdigest()[:16]}"
            if not folder.is_dir():
                folder.mkdir(exist_ok=True)
                _remove_old(root, module, folder)
            return folder
    return None


@cache
def _root(home: Path, asked: str) -> Path | None:
    """Return the first folder that can be written: the one that was asked for, or beside the source, or the user's."""
    cached = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for folder in [Path(asked)] if asked else [home / "__pycache__", cached / "structsvm"]:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > _LEAST_FREE:
                return folder
    return None


def _remove_old(root: Path, module: str, current: Path) -> None:
    for folder in root.glob(f"{module}-*"):
        if folder != current and time.time() - folder.stat().st_mtime > _OLD:
            shutil.rmtree(folder, ignore_errors=True)


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
