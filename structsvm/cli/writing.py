"""Where `predict` and `fuse` write."""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

import click

from structsvm.files import check_writable, replacement, replacing


def check_output(output: Path | None) -> None:
    """Make sure that an output can be written, before the work begins; None is standard output.

    Raises
    ------
    InputError : when it cannot be.
    """
    if output is not None and not _special(output):
        check_writable(output)


def write_text(pieces: Iterable[str], output: Path | None) -> None:
    """Write text in pieces to a file, whole or not at all, as gzip if its name ends in .gz; or to standard output."""
    if output is None:
        for text in pieces:
            click.echo(text, nl=False)
        return
    with _opened(output) as file:
        file.writelines(pieces)


@contextmanager
def _opened(output: Path) -> Iterator[TextIO]:
    if _special(output):
        with output.open("w", encoding="utf-8") as file:
            yield file
    elif output.suffix.lower() == ".gz":
        # Neither name nor time is kept in it, so that equal text makes equal files.
        with (
            replacement(output) as temporary,
            temporary.open("wb") as raw,
            gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as zipped,
            TextIOWrapper(zipped, encoding="utf-8") as file,
        ):
            yield file
    else:
        with replacing(output) as file:
            yield file


def _special(output: Path) -> bool:
    """Say whether it is a pipe or a device, which is written to as it comes; it cannot be replaced."""
    return output.exists() and not output.is_file() and not output.is_dir()
