"""Files: read whatever they are packed in, written whole or not at all."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TextIO, TypeVar, cast

import numpy as np

from structsvm.exceptions import DataFormatError, InputError, ModelFileError
from structsvm.settings import as_path
from structsvm.storage.access import keep_access
from structsvm.storage.archives import Archive, Damage, is_bomb, with_digests
from structsvm.storage.packed import LONGEST_START, Packing, packing_of, promised_by
from structsvm.storage.temporary import folder_on_the_way, on_the_way, remove_leftovers

T = TypeVar("T")

STANDARD_INPUT = Path("/dev/stdin")
"""What standard input is called, wherever a file to read is named."""

DATA_SET = "ir_datasets:"
"""What begins the name of a data set of the package ir_datasets, where it may stand in place of a file to read."""

_MOST_TIMES = 200
"""Times its size that a compressed stream may unpack to; text of numbers comes to 10, and all blanks to 1000."""

_MOST_UNPACKED = 2**26
"""Bytes that any compressed stream may unpack to."""


class Source:
    """The bytes of a file, unpacked, in order and once: it may be a pipe. Made by `open_source`.

    Parameters
    ----------
    path : what messages call it.
    raw : the file, open.
    """

    def __init__(self, path: Path, raw: IO[bytes]) -> None:
        self._path = path
        self._packed = _Packed(raw)
        self._unpacked = 0
        self.packing = packing_of(self._packed.head)
        self._file: Any = self._packed if self.packing is None else self.packing.opened(self._packed)

    @property
    def misnamed(self) -> Packing | None:
        """The kind of compressed stream that the file is not, in spite of its name; None where the name is right."""
        promised = promised_by(self._path)
        return None if promised is self.packing else promised

    @property
    def n_read(self) -> int:
        """Number of bytes of the file that were read so far, packed as they are there."""
        return self._packed.count

    def read(self, size: int) -> bytes:
        """Return the next bytes: as many as asked for unless the file ends, none at its end.

        Raises
        ------
        DataFormatError : a compressed stream is damaged, or unpacks to far more than text does, so that it would fill
            memory.
        """
        content = self._file.read(size) if self.packing is None else self._unpack(self.packing, size)
        return cast(bytes, content)

    def _unpack(self, packing: Packing, size: int) -> bytes:
        try:
            content: bytes = self._file.read(size)
        except Exception as error:
            unreadable = isinstance(error, OSError) and error.errno is not None
            if unreadable or not isinstance(error, (EOFError, OSError, *packing.faults())):
                raise
            problem = f"the {packing.name} stream is damaged or cut short ({error})"
            raise DataFormatError(self._path, None, problem) from error
        self._unpacked += len(content)
        if self._unpacked > max(_MOST_UNPACKED, _MOST_TIMES * self._packed.count):
            raise DataFormatError(
                self._path,
                None,
                f"the {packing.name} stream unpacks to more than {_MOST_TIMES} times its size, as no data do; "
                "if it is right nevertheless, unpack it first",
            )
        return content


class _Packed:
    """A file as it is, of which the first bytes were looked at."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self.head = self._left = raw.read(LONGEST_START)
        self.count = len(self.head)

    def read(self, size: int) -> bytes:
        left, self._left = self._left[:size], self._left[size:]
        content = self._raw.read(size - len(left))
        self.count += len(content)
        return left + content


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Open a file for reading in one go; how it is compressed is told by its content, not by its name.

    ``/dev/stdin`` is standard input. What raises in the body of the ``with`` should be reading alone.

    Raises
    ------
    InputError : the file does not exist, is a directory, or may not be read.
    DataFormatError : a compressed stream is damaged, which may show only while it is read.
    NotInstalledError : the package that unpacks it is missing.
    """
    try:
        if path.is_dir():
            raise InputError(f"{path} is a directory: name the files in it")
        with _opened(path) as raw:
            yield Source(path, raw)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("cannot read standard input: it is closed")
        yield sys.stdin.buffer
        return
    if "\0" in str(path):
        raise InputError(f"there is no file {str(path)!r}: a name has no NUL in it")
    with path.open("rb") as raw:
        yield raw


def check_writable(path: Path) -> None:
    """Make sure that a file can be put at this path, before hours are spent on its content.

    Where the path is a link, the file is put where it leads, also if nothing is there yet. What a killed process left
    of such a file is removed.

    Raises
    ------
    InputError : when the folder is missing or cannot be written, or something else is in the way.
    """
    _require_name(path)
    if path.is_dir():
        raise InputError(_unwritable(path, "it is a folder"))
    if path.exists() and not path.is_file():
        raise InputError(_unwritable(path, "it is not a regular file"))
    place = Path(os.path.realpath(path))
    if not path.parent.is_dir() or place.exists() != path.exists():  # `realpath` has no need of a folder before ".."
        raise InputError(_unwritable(path, f"there is no folder {path.parent}"))
    if not place.parent.is_dir():
        raise InputError(_unwritable(path, f"it is a link to {place}, and there is no folder {place.parent}"))
    remove_leftovers(place)
    with _beside(path):
        pass


def make_folder(folder: Path) -> None:
    """Make a folder for output where there is none; where a link leads nowhere, the one that it leads to.

    Raises
    ------
    InputError : when it cannot be made.
    """
    try:
        _led(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(_unwritable(folder, error.strerror or str(error))) from None


@contextmanager
def output_folder(folder: Path) -> Iterator[None]:
    """Make a folder for output where there is none; after an error, folders that were made go again if they are empty.

    Raises
    ------
    InputError : as `make_folder`.
    """
    place = _led(folder)
    made = [each for each in (place, *place.parents) if not each.exists()]
    make_folder(folder)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for each in made:
                each.rmdir()
        raise


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Open a text file for writing that takes its place at ``path`` when it is complete, and not before.

    Raises
    ------
    InputError : as `replacement`.
    """
    with replacement(path) as temporary, temporary.open("w", encoding="utf-8", errors="surrogateescape") as file:
        yield file


@contextmanager
def replacement(path: Path) -> Iterator[Path]:
    """Create an empty file for others to fill, which takes its place at ``path`` in the end, unless there is an error.

    Mode, owner and group of a file that it replaces stay.

    Raises
    ------
    InputError : as `check_writable`; or writing fails, as on a full disk: what was at ``path`` is still there.
    """
    check_writable(path)
    kept = "What was there before is as it was" if path.exists() else "Nothing was left there"
    with errors_naming(path, kept), _beside(path) as temporary:
        yield temporary
        place = Path(os.path.realpath(path))  # a link keeps pointing to the file, whose content is replaced
        keep_access(temporary, place)
        temporary.replace(place)


def check_folder_writable(path: Path) -> None:
    """Make sure that a folder can be put at this path, as `check_writable` does of a file.

    Folders that it is to be in may be missing: `replacing_folder` makes them.

    Raises
    ------
    InputError : when the folder that is to hold it cannot be written, or a file is in the way.
    """
    _require_name(path)
    if path.exists() and not path.is_dir():
        raise InputError(_unwritable(path, "it is a file, and a folder is to be put there"))
    place = Path(os.path.realpath(path))
    if not place.name:
        raise InputError(_unwritable(path, "it is the root of the file system: name a folder in it"))
    there = next(folder for folder in place.parents if folder.exists())
    if not there.is_dir():
        raise InputError(_unwritable(path, f"{there} is a file, and no folder"))
    remove_leftovers(place)
    with _beside(path if there == place.parent else there / place.name):
        pass


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Create a folder for others to fill, which takes its place at ``path`` in the end, unless there is an error.

    A folder that is there is replaced with all that is in it: who calls this has looked at what that is. Mode, owner
    and group of the folder and of files that are replaced stay.

    Raises
    ------
    InputError : as `check_folder_writable`; or writing fails, as on a full disk: what was at ``path`` is still there.
    """
    check_folder_writable(path)
    make_folder(Path(os.path.realpath(path)).parent)
    kept = "What was there before is as it was" if path.exists() else "Nothing was left there"
    with errors_naming(path, kept), folder_on_the_way(Path(os.path.realpath(path))) as temporary:
        yield temporary


@contextmanager
def errors_naming(path: Path, kept: str = "") -> Iterator[None]:
    """Name the file in an error of the operating system, such as that of a full disk, which names none.

    Parameters
    ----------
    path : the file that is written.
    kept : what became of what was there.

    Raises
    ------
    InputError : for all errors but that of a pipe whose reader has seen enough.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(". ".join(filter(None, [_unwritable(path, error.strerror or str(error)), kept]))) from error


def write_archive(path: str | Path, arrays: Mapping[str, Any], *, compressed: bool = True) -> None:
    """Write named arrays (npz) and their digests to exactly this path, whole or not at all.

    Parameters
    ----------
    path : the path.
    arrays : the arrays.
    compressed : False is faster; full arrays of float64 are hardly larger then.

    Raises
    ------
    InputError : when no file can be put there.
    """
    made: dict[str, Any] = with_digests(arrays)
    unpacked = sum(array.nbytes for array in made.values())
    with replacement(as_path("path", path)) as temporary, temporary.open("wb") as file:
        if compressed:
            np.savez_compressed(file, **made)
        # Readers refuse a file that unpacks to too many times its size, as millions of equal weights do.
        if not compressed or is_bomb(file.tell(), unpacked):
            file.seek(0)
            np.savez(file, **made)


def read_archive(path: str | Path, make: Callable[[Archive], T]) -> T:
    """Read named arrays and make something of them; nothing is unpickled.

    Parameters
    ----------
    path : of a file that `write_archive` wrote.
    make : is given the arrays by name, which are read from the file as it asks for them; `structsvm.storage.archives`
        has functions that do so after a look at shape and type. What it raises says that they make no sense.

    Raises
    ------
    ModelFileError : when the file is missing, damaged, something else, or too new for ``make``.
    """
    try:
        with as_path("path", path).open("rb") as file:
            return make(Archive.of(file))
    except FileNotFoundError:
        raise ModelFileError(f"{path} does not exist") from None
    except Damage as error:
        raise ModelFileError(f"{path} {error}") from None
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from None
    except KeyError as error:
        raise ModelFileError(f"{path} is not a file of this kind: {error} is missing") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is not a file of this kind: {error}") from None


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """Create an empty file in the same folder, which is removed in the end unless it was renamed."""
    with ExitStack() as stack:
        try:
            temporary = stack.enter_context(on_the_way(Path(os.path.realpath(path))))
        except (FileNotFoundError, NotADirectoryError):
            there = path.parent.is_dir()
            reason = f"the folder {path.parent} takes no new files" if there else f"there is no folder {path.parent}"
            raise InputError(_unwritable(path, reason)) from None
        except OSError as error:
            raise InputError(_unwritable(path, error.strerror or str(error))) from None
        yield temporary


def _require_name(path: Path) -> None:
    """Refuse a path that the file system cannot look up, as of a name that is too long."""
    try:
        path.exists()
    except (OSError, ValueError) as error:
        raise InputError(_unwritable(path, getattr(error, "strerror", None) or str(error))) from None


def _led(folder: Path) -> Path:
    """Return the folder that a link leads to, which need not be there; another path as it is."""
    return Path(os.path.realpath(folder)) if folder.is_symlink() else folder


def _unwritable(path: Path, reason: str) -> str:
    return f"{path} cannot be written: {reason}"
