"""Compiling with numba at first use, through its public interface alone."""

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from typing import Any, TypeVar
from weakref import WeakSet

from structsvm.compute.compile_progress import compiling
from structsvm.compute.environment import numba
from structsvm.compute.kept_code import code_folder, kept

F = TypeVar("F", bound=Callable[..., Any])

_FREE_ORDER = {"reassoc", "contract", "nsz"}


def compiled(function: F, signatures: Sequence[Any] | None = None, *, reorder: bool = False, keep: bool = True) -> F:
    """Compile a function of arrays and numbers to machine code.

    Parameters
    ----------
    function : plain function in the subset of Python that numba compiles.
    signatures : types to compile for at once; None compiles at the first call, so that decorating costs nothing.
    reorder : allow sums in another order, so that they can use vector units.
    keep : keep the machine code on disk. False for code that calls functions of other packages by their types: their
        changes cannot be noticed.

    Returns
    -------
    The compiled function, which releases the GIL. A later process reads its machine code from disk if the source files
    and constants that it depends on are unchanged.
    """
    if numba.config.DISABLE_JIT:
        return function
    options = {"nogil": True, "fastmath": _FREE_ORDER if reorder else False}

    def decorate(cache: bool) -> Any:
        return numba.njit(function, cache=cache, **options)

    dispatcher = kept(decorate, function) if keep else decorate(cache=False)
    _OURS.add(dispatcher)
    if signatures is not None:
        for signature in signatures:
            dispatcher.compile(signature)
        dispatcher.disable_compile()
    return dispatcher  # type: ignore[no-any-return]


def compiled_part(function: F, *, reorder: bool = False) -> F:
    """Compile a function that only compiled functions call; its code is kept on disk within its callers.

    Numba inlines it before it infers types, which saves a third of the time of a first fit. A sum in another order is
    not inlined, as its caller would not reorder it.
    """
    if numba.config.DISABLE_JIT:
        return function
    if reorder:
        return compiled(function, reorder=True, keep=False)
    return numba.njit(function, nogil=True, inline="always")  # type: ignore[no-any-return]


def folder_of_code() -> str | None:
    """Return the folder that keeps machine code of this package, or None if nothing is kept."""
    folder = None if numba.config.DISABLE_JIT else code_folder(compiled)
    return None if folder is None else str(folder.parent)


class _Progress(numba.core.event.Listener):  # type: ignore[misc]
    """Reports the compilation of our functions to `compiling`, with all that they call."""

    def __init__(self) -> None:
        self.local = threading.local()

    def on_start(self, event: Any) -> None:
        """Enter `compiling`."""
        stacks = self.local.__dict__.setdefault("stacks", [])
        dispatcher = event.data["dispatcher"]
        ours = dispatcher in _OURS
        stacks.append(ExitStack())
        stacks[-1].enter_context(compiling(dispatcher.py_func.__name__) if ours else nullcontext())

    def on_end(self, event: Any) -> None:
        """Leave it."""
        self.local.stacks.pop().close()


_OURS: WeakSet[Any] = WeakSet()
numba.core.event.register("numba:compile", _Progress())
