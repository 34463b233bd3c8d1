"""``structsvm`` and ``python -m structsvm``: the command line."""

import os
import sys
import tempfile
import traceback
from contextlib import suppress

from structsvm.foundation.signals import end_as_ctrl_c_does, leave, unwrapped

_INTERNAL = 70
"""Exit code of an internal error: EX_SOFTWARE of sysexits.h."""


def main() -> None:
    """Run the command line, and report any exception in one line, also if loading fails.

    `structsvm.cli.shared.failures` defines the exit codes; an internal error exits with 70.
    """
    try:
        end_as_ctrl_c_does()
        _open_streams()
        with unwrapped():
            from structsvm.cli import main as commands
        commands()
    except KeyboardInterrupt:
        sys.exit("structsvm: error: interrupted")
    except Exception as error:
        # Loading the commands can raise an exception that is meant for users.
        if type(error).__module__ == "structsvm.exceptions":
            sys.exit(f"structsvm: error: {error}")
        _tell(error)
        sys.exit(_INTERNAL)
    finally:
        leave()


def _open_streams() -> None:
    """Replace closed standard streams, because the next files would get their descriptors."""
    for name, mode, access in (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, access), mode, encoding="utf-8"))


def _tell(error: Exception) -> None:
    """Report an internal error, with the traceback in a file, or on standard error if the file cannot be created."""
    said = f"structsvm: internal error: {' '.join(f'{type(error).__name__}: {error!s:.500}'.split())}"
    way_out = "This is a fault of structsvm. Please report it to its developers, with"
    # Writing to standard error may fail.
    with suppress(OSError):
        try:
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", errors="backslashreplace", prefix="structsvm-", suffix=".log", delete=False
            ) as file:
                traceback.print_exception(error, file=file)
            sys.stderr.write(f"{said}. {way_out} the traceback in {file.name}\n")
        except OSError:
            traceback.print_exception(error)
            sys.stderr.write(f"{said}. {way_out} the traceback above\n")


if __name__ == "__main__":
    main()
