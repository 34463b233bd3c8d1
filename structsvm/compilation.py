"""Compiling with numba: at first use, and kept on disk where a folder can be written."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F, signatures: Sequence[Any] | None = None) -> F:
    """Compile a function of arrays and numbers to machine code.

    Parameters
    ----------
    function : plain function in the subset of Python that numba compiles.
    signatures : types to compile for at once; None compiles at the first call, for the
        types of that call, so that decorating costs nothing at import.

    Returns
    -------
    The compiled function. A later process reads the machine code from disk; where no
    cache folder can be written, or the source is not a file, it is compiled again.
    """
    try:
        return numba.njit(signatures, cache=True)(function)  # type: ignore[no-any-return]
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        return numba.njit(signatures)(function)  # type: ignore[no-any-return]
