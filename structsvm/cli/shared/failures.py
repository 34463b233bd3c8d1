"""Turn errors into messages and exit codes, by the rule in `EXIT_CODES`.

A bug in the program exits with code 70; see `structsvm.__main__`.
"""

import errno
import io
import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

import click

from structsvm.exceptions import InputError, StructSVMError, bounded, legible
from structsvm.foundation.signals import unwrapped

EXIT_CODES = (
    "Exit codes: 0 if the command succeeded, 2 if you must change the command line or a file that it names, and 1 if "
    "the command could not finish for another reason."
)

_UNWRITABLE = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EBADF}
"""Errors of a disk or of a closed output.

`structsvm.foundation.storage.files` writes all files, and its errors name the file.
"""


class Failure(click.ClickException):
    """A command could not finish: one line on standard error, exit code 1."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"structsvm: error: {in_a_line(self.message)}", file=file, err=file is None)


class Misuse(Failure):
    """The user must change the command line or a file that it names: one line on standard error, exit code 2."""

    exit_code = 2


class CommandLine(click.Group):
    """A group of commands that turns expected errors into a `Failure`, which determines the exit code."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run a command; report it if click cannot write output, such as help, the version or an error."""
        try:
            return super().main(*args, **settings)
        except OSError as error:
            _give_up_unwritable_output()
            failure = _failure(error, _in_words(error))
            with suppress(OSError):
                failure.show()
            sys.exit(failure.exit_code)

    def make_context(self, info_name: str | None, args: list[str], *others: Any, **settings: Any) -> click.Context:
        """Reject NUL characters in arguments."""
        if any("\0" in arg for arg in args):
            raise click.UsageError("an argument has a NUL character: remove it")
        with _printable():
            return super().make_context(info_name, args, *others, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        # The commands report the library's log messages themselves. Without a handler, Python would print warnings.
        logging.getLogger("structsvm").addHandler(logging.NullHandler())
        if isinstance(sys.stdout, io.TextIOWrapper):
            # Replace characters that the terminal cannot show by question marks.
            sys.stdout.reconfigure(errors="replace")
        try:
            with _printable(), unwrapped():
                result = super().invoke(ctx)
            sys.stdout.flush()
        except StructSVMError as error:
            raise _failure(error, str(error)) from error
        except MemoryError as error:
            said = f"{error}. " if str(error) else ""
            raise Failure(f"there is not enough memory. {said}Use fewer documents, features or settings") from error
        except KeyboardInterrupt:
            raise Failure("interrupted") from None
        except OSError as error:
            _give_up_unwritable_output()
            # The reader closed the pipe, for example `head`; click then exits quietly.
            if error.errno == errno.EPIPE:
                raise
            raise _failure(error, _in_words(error)) from error
        return result


def _failure(error: Exception, message: str) -> Failure:
    """Return a `Misuse` if the user must change the command line or a file, else a `Failure`."""
    system = error if isinstance(error, OSError) else error.__cause__
    if isinstance(system, OSError) and system.errno in _UNWRITABLE:
        return Failure(message)
    names_file = isinstance(error, OSError) and error.filename is not None
    return Misuse(message) if isinstance(error, InputError) or names_file else Failure(message)


def in_a_line(message: str) -> str:
    """Return a message as one `legible` line."""
    return bounded(legible(" ".join(re.split(r"\s*\n\s*", message.strip()))))


@contextmanager
def _printable() -> Iterator[None]:
    """Make click's messages printable, because they quote the user's input."""
    try:
        yield
    except click.ClickException as error:
        error.message = in_a_line(error.message)  # type: ignore[misc]  # it is only declared final
        raise


def _in_words(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{error.filename}: {reason}"
    return f"standard output cannot be written: {reason}" if error.errno in _UNWRITABLE else reason


def _give_up_unwritable_output() -> None:
    """Discard pending output that cannot be written; Python would report it at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
