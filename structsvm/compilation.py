"""Compiling with numba: at first use, and kept on disk where a folder can be written."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F, signatures: Sequence[Any] | None = None, *, reorder: bool = False, keep: bool = True) -> F:
    """Compile a function of arrays and numbers to machine code.

    Parameters
    ----------
    function : plain function in the subset of Python that numba compiles.
    signatures : types to compile for at once; None compiles at the first call, for the
        types of that call, so that decorating costs nothing at import.
    reorder : allow sums to be taken in another order, so that they can use vector units.
    keep : keep the machine code on disk. Not for code that calls functions of other files by their types:
        numba does not see when those change.

    Returns
    -------
    The compiled function, which lets other threads run. A later process reads the machine code from disk; where no
    cache folder can be written, or the source is not a file, it is compiled again.
    """
    fastmath = {"reassoc", "contract", "nsz"} if reorder else False
    try:
        return numba.njit(signatures, cache=keep, nogil=True, fastmath=fastmath)(function)  # type: ignore[no-any-return]
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        return numba.njit(signatures, nogil=True, fastmath=fastmath)(function)  # type: ignore[no-any-return]
