"""Compiling with numba: at first use, and kept on disk where a folder can be written."""

import logging
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np

from structsvm.compute.compile_progress import watched
from structsvm.compute.environment import numba

logger = logging.getLogger("structsvm")

F = TypeVar("F", bound=Callable[..., Any])

_FREE_ORDER = {"reassoc", "contract", "nsz"}

_CONSTANT = (bool, int, float, complex, str, np.generic, np.ndarray)


def compiled(
    function: F,
    signatures: Sequence[Any] | None = None,
    *,
    reorder: bool = False,
    keep: bool = True,
    as_argument: bool = False,
) -> F:
    """Compile a function of arrays and numbers to machine code.

    Parameters
    ----------
    function : plain function in the subset of Python that numba compiles.
    signatures : types to compile for at once; None compiles at the first call, for the
        types of that call, so that decorating costs nothing at import.
    reorder : allow sums to be taken in another order, so that they can use vector units.
    keep : keep the machine code on disk. Not for code that calls functions of other files by their types:
        it cannot be seen when those change.
    as_argument : let compiled functions be given it as an argument; see `by_address`.

    Returns
    -------
    The compiled function, which lets other threads run. A later process reads the machine code from disk, if the files
    of the functions that it calls, and the constants in them, are the same; where no cache folder can be written, or
    the source is not a file, it is compiled again.
    """
    options = {} if as_argument else _without_address()
    dispatcher = _dispatcher(
        lambda: numba.njit(nogil=True, fastmath=_fastmath(reorder), **options)(function), keep=keep
    )
    if numba.config.DISABLE_JIT:
        return dispatcher  # type: ignore[no-any-return]
    watched(dispatcher)
    if signatures is not None:
        for signature in signatures:
            dispatcher.compile(signature)
        dispatcher.disable_compile()
    return dispatcher  # type: ignore[no-any-return]


def by_address(function: F, signature: Any) -> F:
    """Compile a function for one signature, to be given as an argument to what then calls it by its address.

    Each time that a function is given as an argument, numba looks up its machine code by the types, which takes as long
    as some argmaxes, and asks LLVM for its address, under a lock that all threads share: Ctrl-C in that moment leaves
    the lock taken, and the other threads wait for ever. Here both are looked up once, and remembered.

    Parameters
    ----------
    function : a compiled function, not a part.
    signature : its types, whose `numba.types.FunctionType` is the type of the argument.
    """
    if numba.config.DISABLE_JIT:
        return function
    with suppress(AttributeError):  # of a numba that does it otherwise: calls take longer
        made = function.get_compile_result(signature)  # type: ignore[attr-defined]
        function.get_compile_result = lambda _signature: made  # type: ignore[attr-defined]
        made.library.get_pointer_to_function = cache(made.library.get_pointer_to_function)
        for name in (made.fndesc.llvm_func_name, made.fndesc.llvm_cfunc_wrapper_name):
            made.library.get_pointer_to_function(name)
    return function


def compiled_part(function: F, *, reorder: bool = False) -> F:
    """Compile a function that compiled functions call, and Python hardly ever.

    It has neither the wrapper by which Python calls a function, which takes as long to compile as a short function
    itself, nor machine code of its own, which its callers have no use for; see `structsvm.compute.parts`. When Python
    calls it all the same, it is compiled once more, with both.

    Parameters
    ----------
    function, reorder : as in `compiled`.
    """
    if numba.config.DISABLE_JIT:
        return function
    parts = _parts()
    if parts is None:  # not kept on disk: who is compiled with what is read from there rounds otherwise
        return compiled(function, reorder=reorder, keep=False)

    @cache
    def alone() -> Any:
        copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
        copy.__qualname__ = f"{function.__qualname__}.alone"  # which names its file of machine code
        copy.__module__ = function.__module__
        return compiled(copy, reorder=reorder)

    dispatcher = _dispatcher(lambda: parts.part(function, _fastmath(reorder), alone), keep=True)
    parts.read_as_part(dispatcher)
    watched(dispatcher)
    return dispatcher  # type: ignore[no-any-return]


@cache
def _parts() -> ModuleType | None:
    """Return the module that compiles parts; None where numba is not as that needs, and compiles them as the rest."""
    try:
        from structsvm.compute import parts  # which loads numba's compiler

        parts.try_out()
    except Exception as error:  # of names that are gone, or mean something else: of any kind
        logger.info("compiling takes longer, as this version of structsvm does not know this numba: %s", error)
        return None
    return parts


def folder_of_code() -> str | None:
    """Return the folder in which machine code of this package is kept, or one beside it; None where none is."""
    if numba.config.DISABLE_JIT:
        return None
    return getattr(getattr(compiled(_nothing), "_cache", None), "cache_path", None)


def _nothing() -> None:
    """Be compiled."""


def _fastmath(reorder: bool) -> Any:
    return _FREE_ORDER if reorder else False


@cache
def _without_address() -> dict[str, bool]:
    """Return numba's option to leave out what lets others call a function by its address, where numba has it."""
    try:
        from numba.core.cpu import CPUTargetOptions
    except ImportError:
        return {}
    return {"no_cfunc_wrapper": True} if hasattr(CPUTargetOptions, "no_cfunc_wrapper") else {}


def _dispatcher(make: Callable[[], Any], *, keep: bool) -> Any:
    """Return what numba makes of a function, whose machine code is kept on disk where that can be, and be trusted."""
    dispatcher = make()
    if not keep or numba.config.DISABLE_JIT:
        return dispatcher
    try:
        dispatcher.enable_caching()
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        return dispatcher
    index = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if index is None or not all(hasattr(index, name) for name in _INDEX):
        return make()
    index._source_stamp = (index._source_stamp, _parts() is None, _stamps(dispatcher.py_func.__module__))
    _forgive(index)
    return dispatcher


_INDEX = ("_source_stamp", "_load_index", "_load_data", "save")
"""What the index of numba's files of machine code has. Numba itself looks at the file of the function alone."""


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
        if not name.startswith("__") and _is_constant(value)
    )


def _is_constant(value: Any) -> bool:
    return all(map(_is_constant, value)) if isinstance(value, tuple) else isinstance(value, _CONSTANT)
