"""Files that are written: found unwritable before the work begins, and never left half-written."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from structsvm.archive import unwritable
from structsvm.exceptions import InputError


def check_writable(path: Path) -> None:
    """Make sure that a file can be put at this path, before hours are spent on its content.

    Raises
    ------
    InputError : when the folder is missing or cannot be written, or something else is in the way.
    """
    if path.is_dir():
        raise InputError(f"{path} cannot be written: it is a folder")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} cannot be written: it is not a regular file")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}")
    with _beside(path):
        pass


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Open a text file for writing that takes its place at ``path`` when it is complete, and not before.

    Raises
    ------
    InputError : as `check_writable`.
    OSError : when writing fails; what was at ``path`` is still there.
    """
    path = path.resolve()  # a link keeps pointing to the file, whose content is replaced
    check_writable(path)
    with _beside(path) as temporary:
        with temporary.open("w", encoding="utf-8") as file:
            yield file
        temporary.replace(path)


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """Create an empty file in the same folder, which is removed in the end unless it was renamed."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise unwritable(path, error) from None
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
