"""Compile functions with numba at first use: functions called from Python, and parts that only compiled code calls."""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from structsvm.foundation.compute.compile_progress import watched
from structsvm.foundation.compute.environment import numba

_CONSTANTS = (bool, int, float, complex, str, bytes, np.generic, np.ndarray, type(None))

_INDEX = ("_source_stamp", "_load_index", "_load_data", "_data_name", "save")
"""Attributes of numba's cache index that are overridden, because numba checks only the function's own file."""


def cached_on_disk(make: Callable[[], Any]) -> Any:
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
    """Treat damaged cache files as missing, ignore cache writes that fail, and name files by their signatures."""
    load_index, load_data, save, data_name = index._load_index, index._load_data, index.save, index._data_name

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
        # numba counts files, so that two processes would write the code of two signatures to one file.
        first = int(sha256(repr(key).encode()).hexdigest()[:12], 16)
        index._data_name = lambda number: data_name(first + number)
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


F = TypeVar("F", bound=Callable[..., Any])

_FREE_ORDER = {"reassoc", "contract", "nsz"}


def compiled(
    function: F,
    signatures: Sequence[Any] | None = None,
    *,
    reorder: bool = False,
    keep: bool = True,
    as_argument: bool = False,
) -> F:
    """Compile a function of arrays and numbers with numba, without the GIL; machine code is cached on disk if possible.

    Without signatures, it is compiled at its first call. ``reorder`` lets sums use vector units. ``keep=False`` turns
    the cache off, which cannot notice changes of functions called by type. ``as_argument`` is for `by_address`.
    """
    options = {} if as_argument else _without_address()
    decorate: Callable[[F], F] = numba.njit(nogil=True, fastmath=_fastmath(reorder), **options)
    if numba.config.DISABLE_JIT:
        return decorate(function)
    decorated: F = cached_on_disk(lambda: decorate(function)) if keep else decorate(function)
    dispatcher: Any = decorated
    watched(dispatcher)
    if signatures is not None:
        for signature in signatures:
            dispatcher.compile(signature)
        dispatcher.disable_compile()
    return decorated


def by_address(function: F, signature: Any) -> F:
    """Cache the address of a compiled function for one signature, because each call would look it up under a lock."""
    if numba.config.DISABLE_JIT:
        return function
    dispatcher: Any = function
    # Another numba may lack these attributes; calls then take longer.
    with suppress(AttributeError):
        result = dispatcher.get_compile_result(signature)
        dispatcher.get_compile_result = lambda _signature: result
        result.library.get_pointer_to_function = cache(result.library.get_pointer_to_function)
        for name in (result.fndesc.llvm_func_name, result.fndesc.llvm_cfunc_wrapper_name):
            result.library.get_pointer_to_function(name)
    return function


def compiled_part(function: F, *, reorder: bool = False) -> F:
    """Let compiled functions call a function, without the Python wrapper that takes as long to compile."""
    if numba.config.DISABLE_JIT:
        return function
    decorate: Callable[[F], F] = numba.extending.register_jitable(fastmath=_fastmath(reorder))
    return decorate(function)


def inlined_part(function: F) -> F:
    """Copy a short function, or one with one caller, into its compiled callers, which shortens compiling."""
    if numba.config.DISABLE_JIT:
        return function
    # Threads that call a waiting function from Python must not block other threads.
    decorate: Callable[[F], F] = numba.njit(inline="always", nogil=True)
    return decorate(function)


def folder_of_code() -> str | None:
    """Return the cache folder of this package's machine code; None without a cache."""
    if numba.config.DISABLE_JIT:
        return None
    return getattr(getattr(compiled(_nothing), "_cache", None), "cache_path", None)


def _nothing() -> None:
    """Do nothing; compiled to find the cache folder."""


def _fastmath(reorder: bool) -> Any:
    return _FREE_ORDER if reorder else False


@cache
def _without_address() -> dict[str, bool]:
    """Return numba's option that leaves out the C wrapper, if this numba has it."""
    try:
        from numba.core.cpu import CPUTargetOptions
    except ImportError:
        return {}
    return {"no_cfunc_wrapper": True} if hasattr(CPUTargetOptions, "no_cfunc_wrapper") else {}
