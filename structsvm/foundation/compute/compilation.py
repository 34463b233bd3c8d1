"""Compile functions with numba at first use: functions called from Python, and parts that only compiled code calls."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

from structsvm.foundation.compute.compile_progress import watched
from structsvm.foundation.compute.environment import numba
from structsvm.foundation.compute.kept_code import kept

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
    decorated: F = kept(lambda: decorate(function)) if keep else decorate(function)
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
