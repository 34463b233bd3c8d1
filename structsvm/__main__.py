"""``structsvm`` and ``python -m structsvm``: the command line."""

import os
import sys
import tempfile
import traceback
from contextlib import suppress

from structsvm.signals import end_as_ctrl_c_does, leave, unwrapped

_INTERNAL = 70
"""Exit code of a fault of the program itself: EX_SOFTWARE of sysexits.h."""


def main() -> None:
    """Run the command line; whatever happens, also while it is still being loaded, ends it in one line.

    Exit codes are those of `structsvm.cli.failures`, and 70 for an exception that is a fault of the program.
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
        if type(error).__module__ == "structsvm.exceptions":  # one of those that are told, while it was being loaded
            sys.exit(f"structsvm: error: {error}")
        _tell(error)
        sys.exit(_INTERNAL)
    finally:
        leave()


def _open_streams() -> None:
    """Put something in the place of standard streams that are closed, whose numbers the next files would get.

    As with other commands, nothing can be written to an output that is closed, which is an error.
    """
    for name, mode, access in (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, access), mode, encoding="utf-8"))


def _tell(error: Exception) -> None:
    """Say that there is a fault, and where the traceback is: in a file, or on standard error if none can be made."""
    said = f"structsvm: internal error: {' '.join(f'{type(error).__name__}: {error!s:.500}'.split())}"
    way_out = "This is a fault of structsvm. Please report it to its developers, with"
    with suppress(OSError):  # of standard error
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
