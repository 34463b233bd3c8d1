"""Compilation with numba at first use: functions called from Python, and parts, which only compiled functions call."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from structsvm.foundation.compute.compile_progress import watched
from structsvm.foundation.compute.environment import numba
from structsvm.foundation.compute.kept_code import kept

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
    """Compile a function of arrays and numbers with numba, without the GIL; machine code is cached on disk if possible.

    Without signatures, it is compiled at its first call. ``reorder`` lets sums use vector units. ``keep=False`` turns
    the cache off, which cannot notice changes of functions called by type. ``as_argument`` is for `by_address`.
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
    """Cache the machine code and address of a compiled function for one signature, to pass it as an argument.

    Otherwise each call looks them up, which takes as long as some argmaxes, under a lock that Ctrl-C can leave taken.
    """
    if numba.config.DISABLE_JIT:
        return function
    # Another numba may lack these attributes; calls then take longer.
    with suppress(AttributeError):
        made = function.get_compile_result(signature)  # type: ignore[attr-defined]
        function.get_compile_result = lambda _signature: made  # type: ignore[attr-defined]
        made.library.get_pointer_to_function = cache(made.library.get_pointer_to_function)
        for name in (made.fndesc.llvm_func_name, made.fndesc.llvm_cfunc_wrapper_name):
            made.library.get_pointer_to_function(name)
    return function


def compiled_part(function: F, *, reorder: bool = False) -> F:
    """Compile a function that only compiled functions call, without a Python wrapper or machine code of its own.

    The wrapper takes as long to compile as a short function; a call from Python compiles the function again with both.
    """
    if numba.config.DISABLE_JIT:
        return function
    parts = _parts()
    # Linking a cached copy changes the last bit of results, so do not cache.
    if parts is None:
        return compiled(function, reorder=reorder, keep=False)

    @cache
    def alone() -> Any:
        copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
        # The qualified name determines the cache file.
        copy.__qualname__ = f"{function.__qualname__}.alone"
        copy.__module__ = function.__module__
        return compiled(copy, reorder=reorder)

    dispatcher = _dispatcher(lambda: parts.part(function, _fastmath(reorder), alone), keep=True)
    parts.read_as_part(dispatcher)
    watched(dispatcher)
    return dispatcher  # type: ignore[no-any-return]


@cache
def _parts() -> ModuleType | None:
    """Return the module that compiles parts; None if this numba does not support it."""
    try:
        # This import loads numba's compiler.
        from structsvm.foundation.compute import parts

        parts.try_out()
    # Names that are missing or mean something else may raise anything.
    except Exception as error:
        logger.info("compiling takes longer, as this version of structsvm does not know this numba: %s", error)
        return None
    return parts


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


def _dispatcher(make: Callable[[], Any], *, keep: bool) -> Any:
    return kept(make, "parts" if _parts() else "whole") if keep and not numba.config.DISABLE_JIT else make()
