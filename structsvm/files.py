"""Files: read whatever they are packed in, written whole or not at all."""

import gzip
import secrets
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any, TextIO, TypeVar

import numpy as np

from structsvm.exceptions import DataFormatError, InputError, ModelFileError

T = TypeVar("T")

_DAMAGED = (EOFError, NotImplementedError, RuntimeError, SyntaxError, zipfile.BadZipFile, zlib.error)
"""What zipfile and NumPy raise on bytes that are not an archive of arrays."""


@contextmanager
def open_bytes(path: Path) -> Iterator[BufferedIOBase]:
    """Open a file for reading; gzip is told by its content, not by its name.

    Raises
    ------
    InputError : the file does not exist, is a directory, or may not be read.
    DataFormatError : a gzip stream is damaged (also when that shows only while it is read).
    """
    if path.is_dir():
        raise InputError(f"{path} is a directory: name the files in it")
    try:
        with path.open("rb") as raw:
            if raw.peek(2)[:2] == b"\x1f\x8b":
                with gzip.open(raw) as unzipped:
                    yield unzipped
            else:
                yield raw
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DataFormatError(path, None, f"the gzip stream is damaged or cut short ({error})") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


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
    with _beside(path):
        pass


def make_folder(folder: Path) -> None:
    """Make a folder for output where there is none.

    Raises
    ------
    InputError : when it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Open a text file for writing that takes its place at ``path`` when it is complete, and not before.

    Raises
    ------
    InputError : as `check_writable`.
    OSError : when writing fails; what was at ``path`` is still there.
    """
    with replacement(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        yield file


@contextmanager
def replacement(path: Path) -> Iterator[Path]:
    """Create an empty file for others to fill, which takes its place at ``path`` in the end, unless there is an error.

    Raises
    ------
    InputError : as `check_writable`.
    """
    check_writable(path)
    with _beside(path) as temporary:
        yield temporary
        temporary.replace(path.resolve())  # a link keeps pointing to the file, whose content is replaced


def write_archive(path: str | Path, arrays: dict[str, Any], *, compressed: bool = True) -> None:
    """Write named arrays (npz) to exactly this path, whole or not at all.

    Parameters
    ----------
    path : the path.
    arrays : the arrays.
    compressed : False is some twenty times faster; full arrays of float64 are hardly larger then.

    Raises
    ------
    InputError : when no file can be put there.
    """
    path = Path(path)
    try:
        with replacement(path) as temporary, temporary.open("wb") as file:
            (np.savez_compressed if compressed else np.savez)(file, **arrays)
    except OSError as error:
        raise _unwritable(path, error) from None


def read_archive(path: str | Path, make: Callable[[dict[str, Any]], T]) -> T:
    """Read named arrays and make something of them; nothing is unpickled.

    Raises
    ------
    ModelFileError : when the file is missing, damaged, something else, or too new for ``make``.
    """
    try:
        with Path(path).open("rb") as file:  # opened here: where the zip is damaged, NumPy leaves open what it opened
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("it holds a single array")
            arrays = dict(archive)
    except FileNotFoundError:
        raise ModelFileError(f"{path} does not exist") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from None
    except (*_DAMAGED, ValueError):  # NumPy's text would advise to unpickle it
        raise ModelFileError(f"{path} is not a model file, or it is damaged") from None
    try:
        return make(arrays)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except KeyError as error:
        raise ModelFileError(f"{path} is not a file of this kind: {error} is missing") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is not a file of this kind: {error}") from None


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """Create an empty file in the same folder, which is removed in the end unless it was renamed."""
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> InputError:
    """Return what is raised when a file cannot be made beside ``path``."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        there = path.parent.is_dir()
        reason = f"the folder {path.parent} takes no new files" if there else f"there is no folder {path.parent}"
        return InputError(f"{path} cannot be written: {reason}")
    return InputError(f"{path} cannot be written: {error.strerror or error}")
