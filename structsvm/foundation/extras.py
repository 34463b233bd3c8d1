"""Import packages that only some features need."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from structsvm.exceptions import NotInstalledError


@contextmanager
def needed(clause: str, extra: str, advice: str = "") -> Iterator[None]:
    """Turn a failed import inside the block into an error that begins with a clause and names the extra to install."""
    try:
        yield
    # Packages raise many kinds of errors as they load: LightGBM AttributeError if Python drops docstrings (-OO).
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError)
        install = f": pip install 'structural-svm[{extra}]'"
        why = install if missing else f", which is installed but cannot be loaded ({error})"
        raise NotInstalledError(f"{clause}{why}.{advice and f' {advice}'}") from error


@cache
def silent_highs() -> Any:
    """Return the class of a solver of highspy that prints nothing."""
    import highspy

    class Silent(highspy.Highs):
        def enableCallbacks(self) -> None:
            # HiGHS prints its version when the constructor enables callbacks, so set the flag before.
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()  # type: ignore[no-untyped-call]

    return Silent
