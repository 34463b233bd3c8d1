"""Compiling with numba: at first use, and kept on disk where a folder can be written."""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np

from structsvm.compute.compiling import watched
from structsvm.compute.environment import numba

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
    dispatcher = numba.njit(nogil=True, fastmath=_FREE_ORDER if reorder else False, no_cfunc_wrapper=not as_argument)(
        function
    )
    if numba.config.DISABLE_JIT:
        return dispatcher  # type: ignore[no-any-return]
    if keep:
        _keep(dispatcher)
    watched(dispatcher)
    if signatures is not None:
        for signature in signatures:
            dispatcher.compile(signature)
        dispatcher.disable_compile()
    return dispatcher  # type: ignore[no-any-return]


def by_address(function: F, signature: Any) -> F:
    """Compile a function for one signature, to be given as an argument to what then calls it by its address.

    Numba's looking up of the code by its types and of addresses in LLVM, wherever such an argument is given, is done
    here once for all: the first takes as long as some argmaxes, and for the second LLVM has one lock for all threads;
    where Ctrl-C came while it was taken, it stays so, and the others wait for ever.

    Parameters
    ----------
    function : a compiled function, not a part.
    signature : its types, whose `numba.types.FunctionType` is the type of the argument.
    """
    if numba.config.DISABLE_JIT:
        return function
    made = function.get_compile_result(signature)  # type: ignore[attr-defined]
    function.get_compile_result = lambda _signature: made  # type: ignore[attr-defined]
    made.library.get_pointer_to_function = cache(made.library.get_pointer_to_function)
    for name in (made.fndesc.llvm_func_name, made.fndesc.llvm_cfunc_wrapper_name):
        made.library.get_pointer_to_function(name)
    return function


def compiled_part(function: F, *, reorder: bool = False) -> F:
    """Compile a function that compiled functions call, and Python hardly ever.

    What lets Python call a function takes as long to compile as a short function itself, more where it takes tuples of
    arrays, and machine code of its own is of no use to a part; see `structsvm.compute.parts`. Called from Python, the
    function is compiled once more, with both.

    Parameters
    ----------
    function, reorder : as in `compiled`.
    """
    if numba.config.DISABLE_JIT:
        return function
    from structsvm.compute.parts import PartCompiler, read_as_part  # which loads numba's compiler

    fastmath = _FREE_ORDER if reorder else False
    dispatcher = numba.njit(
        nogil=True, fastmath=fastmath, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=PartCompiler
    )(function)
    _keep(dispatcher)
    read_as_part(dispatcher)
    watched(dispatcher)

    @cache
    def alone() -> Any:
        copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
        copy.__qualname__ = f"{function.__qualname__}.alone"  # which names its file of machine code
        copy.__module__ = function.__module__
        return compiled(copy, reorder=reorder)

    dispatcher._insert = _not_inserted  # so that numba asks for what to call
    dispatcher._compile_for_args = lambda *_arguments: alone()
    return dispatcher  # type: ignore[no-any-return]


def folder_of_code() -> str | None:
    """Return the folder in which machine code of this package is kept, or one beside it; None where none is."""
    if numba.config.DISABLE_JIT:
        return None
    return getattr(compiled(_nothing)._cache, "cache_path", None)  # type: ignore[attr-defined]


def _nothing() -> None:
    """Be compiled."""


def _not_inserted(*_: Any) -> None:
    """Do not offer to Python what it cannot call."""


def _keep(dispatcher: Any) -> None:
    try:
        dispatcher.enable_caching()
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        return
    index = getattr(dispatcher._cache, "_cache_file", None)
    if index is not None:  # numba itself looks at the file of the function alone
        index._source_stamp = (index._source_stamp, _stamps(dispatcher.py_func.__module__))
        _forgive(index)


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
    """Return what tells a module from an earlier version of itself, and of all that it imports or holds in lists.

    That is name, time and size of the files, and the constants in them, which may come from other files. Of classes,
    machine code knows enumerations and named tuples: where others come from does not count.
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
