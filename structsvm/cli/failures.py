"""Exit codes, by one rule that `EXIT_CODES` states.

A fault of the program itself ends with 70, see `structsvm.__main__`.
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

from structsvm.exceptions import InputError, StructSVMError, legible
from structsvm.signals import unwrapped

EXIT_CODES = (
    "Exit codes: 0 if the command did what it was asked for, 2 if the command line or a file that it names must be "
    "changed first, and 1 if the command could not finish for any other reason."
)

_UNWRITABLE = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EBADF}
"""Errors of a disk, and of an output that is closed.

Those of files name the file, as all are written through `structsvm.storage.files`.
"""


class Failure(click.ClickException):
    """A command could not do what was asked for: one line on standard error, exit code 1."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message as a single line."""
        click.echo(f"structsvm: error: {in_a_line(self.message)}", file=file, err=file is None)


class Misuse(Failure):
    """The command line or a file that it names must be changed: one line on standard error, exit code 2."""

    exit_code = 2


class CommandLine(click.Group):
    """A group of commands whose expected errors end in a `Failure`. The one place that decides on exit codes."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run a command; what click writes by itself, such as help, the version or an error, may not be writable."""
        try:
            return super().main(*args, **settings)
        except OSError as error:
            _give_up_unwritable_output()
            failure = _failure(error, _in_words(error))
            with suppress(OSError):
                failure.show()
            sys.exit(failure.exit_code)

    def make_context(self, info_name: str | None, args: list[str], *others: Any, **settings: Any) -> click.Context:
        """Refuse what no shell can pass, and no file can be called."""
        if any("\0" in arg for arg in args):
            raise click.UsageError("an argument has a NUL character, which no name can have")
        with _printable():
            return super().make_context(info_name, args, *others, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        # The commands report what the library logs; without a handler Python would print warnings too.
        logging.getLogger("structsvm").addHandler(logging.NullHandler())
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal that cannot show a sign gets a question mark
        try:
            with _printable(), unwrapped():
                result = super().invoke(ctx)
            sys.stdout.flush()
        except StructSVMError as error:
            raise _failure(error, str(error)) from error
        except MemoryError as error:
            said = f"{error}. " if str(error) else ""
            raise Failure(f"there is not enough memory. {said}Take fewer documents, features or settings") from error
        except KeyboardInterrupt:
            raise Failure("interrupted") from None
        except OSError as error:
            _give_up_unwritable_output()
            if error.errno == errno.EPIPE:  # whoever read our output has seen enough: click exits quietly
                raise
            raise _failure(error, _in_words(error)) from error
        return result


def _failure(error: Exception, message: str) -> Failure:
    """Return a `Misuse` for an error that another command line or file would mend, else a `Failure`."""
    system = error if isinstance(error, OSError) else error.__cause__
    if isinstance(system, OSError) and system.errno in _UNWRITABLE:
        return Failure(message)
    names_file = isinstance(error, OSError) and error.filename is not None
    return Misuse(message) if isinstance(error, InputError) or names_file else Failure(message)


def in_a_line(message: str) -> str:
    """Return a message without ends of lines, and `legible`."""
    return legible(" ".join(re.split(r"\s*\n\s*", message.strip())))


@contextmanager
def _printable() -> Iterator[None]:
    """Make the messages of click printable, which quote what was typed."""
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
    """Send what is left of the standard streams nowhere if it cannot be written, or Python complains when it exits."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
