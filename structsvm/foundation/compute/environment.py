"""The only import of numba, so that an invalid NUMBA_ environment variable is reported."""

import os
import warnings

from structsvm.exceptions import NotInstalledError

__all__ = ["numba"]

try:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Environment variable", RuntimeWarning)
        import numba
except (RuntimeWarning, ValueError) as error:
    text = ", ".join(f"{name}={value!r}" for name, value in sorted(os.environ.items()) if name.startswith("NUMBA_"))
    if not text:
        raise
    reason = str(error).partition("\n")[0].rstrip(".")
    raise NotInstalledError(
        f"numba, which compiles the loops, cannot be loaded with these environment variables: {text}. Its error: "
        f"{reason}. Correct or unset the wrong variable"
    ) from None
