"""Compiling with numba, at first use: functions that Python calls, and parts, which compiled functions alone call."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from structsvm.compute.compile_progress import watched
from structsvm.compute.environment import numba
from structsvm.compute.kept_code import kept

logger = logging.getLogger("structsvm")

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
    return kept(make, "parts" if _parts() else "whole") if keep and not numba.config.DISABLE_JIT else make()
