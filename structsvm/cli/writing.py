"""Where `predict` and `fuse` write."""

from collections.abc import Iterable
from pathlib import Path

import click

from structsvm.files import check_writable, replacing


def check_output(output: Path | None) -> None:
    """Make sure that an output can be written, before the work begins; None is standard output.

    Raises
    ------
    InputError : when it cannot be.
    """
    if output is not None and not _special(output):
        check_writable(output)


def write_text(pieces: Iterable[str], output: Path | None) -> None:
    """Write text in pieces to a file, whole or not at all, or to standard output."""
    if output is None:
        for text in pieces:
            click.echo(text, nl=False)
        return
    with output.open("w", encoding="utf-8") if _special(output) else replacing(output) as file:
        file.writelines(pieces)


def _special(output: Path) -> bool:
    """Say whether it is a pipe or a device, which is written to as it comes; it cannot be replaced."""
    return output.exists() and not output.is_file() and not output.is_dir()
