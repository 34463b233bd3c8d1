"""Read plain and compressed files, and write files and folders atomically."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TextIO, TypeVar, cast

import numpy as np

from structsvm.exceptions import DataFormatError, InputError, ModelFileError
from structsvm.foundation.settings import as_path
from structsvm.foundation.storage.archives import Archive, Damage, is_bomb, with_digests
from structsvm.foundation.storage.packed import LONGEST_START, Packing, packing_of, promised_by
from structsvm.foundation.storage.temporary import keep_access, on_the_way, remove_leftovers

T = TypeVar("T")

STANDARD_INPUT = Path("/dev/stdin")
"""Path that stands for standard input."""

DATA_SET = "ir_datasets:"
"""Prefix of data sets of the package ir_datasets, which may replace a file."""

_MOST_TIMES = 200
"""Largest ratio of unpacked to packed size; text of numbers reaches 10, blanks alone 1000."""

_MOST_UNPACKED = 2**26
"""Bytes that any compressed stream may unpack to, whatever the ratio."""


class Source:
    """Unpacked bytes of a file or pipe, read once and in order; made by `open_source`."""

    def __init__(self, path: Path, raw: IO[bytes]) -> None:
        self._path = path
        self._packed = _Packed(raw)
        self._unpacked = 0
        self.packing = packing_of(self._packed.head)
        self._file: Any = self._packed if self.packing is None else self.packing.open(self._packed)

    @property
    def misnamed(self) -> Packing | None:
        """Compression that the file name promises but the content does not have; None if they agree."""
        promised = promised_by(self._path)
        return None if promised is self.packing else promised

    def read(self, size: int) -> bytes:
        """Return the next ``size`` bytes, fewer at the end; raise DataFormatError if a compressed stream is damaged."""
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
                f"the {packing.name} stream unpacks to more than {_MOST_TIMES} times its size, which is implausible: "
                "if the file is right, unpack it first",
            )
        return content


class _Packed:
    """Raw file that returns its first bytes again after they were inspected, and counts the bytes read."""

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
    """Open a file or ``/dev/stdin`` for one read; an OSError in the body of the ``with`` counts as a read error."""
    with errors_reading(path):
        if path.is_dir():
            raise InputError(f"{path} is a directory: name the files in it")
        with _opened(path) as raw:
            yield Source(path, raw)


@contextmanager
def errors_reading(path: Path) -> Iterator[None]:
    """Name the file in errors of the operating system."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except OSError as error:
        reason = error.strerror or str(error).partition("\n")[0]
        raise InputError(f"cannot read {path}: {reason}") from error


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("cannot read standard input: it is closed")
        yield sys.stdin.buffer
        return
    if "\0" in str(path):
        raise InputError(f"there is no file {str(path)!r}: names must not contain NUL")
    with path.open("rb") as raw:
        yield raw


def check_writable(path: Path) -> None:
    """Raise InputError unless a file can be written to this path or link; remove leftovers of killed processes."""
    _require_name(path)
    if path.is_dir():
        raise InputError(_unwritable(path, "it is a folder"))
    if path.exists() and not path.is_file():
        raise InputError(_unwritable(path, "it is not a regular file"))
    place = Path(os.path.realpath(path))
    # `realpath` resolves ".." even if the folder before it does not exist.
    if not path.parent.is_dir() or place.exists() != path.exists():
        raise InputError(_unwritable(path, f"there is no folder {path.parent}"))
    if not place.parent.is_dir():
        raise InputError(_unwritable(path, f"it is a link to {place}, and there is no folder {place.parent}"))
    remove_leftovers(place)
    with _beside(path):
        pass


def make_folder(folder: Path) -> None:
    """Make a folder for output if it does not exist, or the target of a link."""
    try:
        _led(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(_unwritable(folder, error.strerror or str(error))) from None


@contextmanager
def output_folder(folder: Path) -> Iterator[None]:
    """Make a folder for output; after an error, remove new folders that are empty."""
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
    """Open a text file that moves to ``path`` when it is complete."""
    with replacement(path) as temporary, temporary.open("w", encoding="utf-8", errors="surrogateescape") as file:
        yield file


@contextmanager
def replacement(path: Path) -> Iterator[Path]:
    """Create an empty file that replaces ``path``, with its mode and owner, if the body of the ``with`` succeeds."""
    check_writable(path)
    kept = "It is unchanged" if path.exists() else "Nothing was written"
    with errors_naming(path, kept), _beside(path) as temporary:
        yield temporary
        # Replace the target of a link, so that the link stays.
        place = Path(os.path.realpath(path))
        keep_access(temporary, place)
        temporary.replace(place)


@contextmanager
def errors_naming(path: Path, kept: str = "") -> Iterator[None]:
    """Turn OSError into InputError that names the file; ``kept`` is a sentence on its current content."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(". ".join(filter(None, [_unwritable(path, error.strerror or str(error)), kept]))) from error


def write_archive(path: str | Path, arrays: Mapping[str, Any], *, compressed: bool = True) -> None:
    """Write named arrays (npz) with their digests atomically; float64 shrinks little by compression."""
    made: dict[str, Any] = with_digests(arrays)
    unpacked = sum(array.nbytes for array in made.values())
    with replacement(as_path("path", path)) as temporary, temporary.open("wb") as file:
        if compressed:
            np.savez_compressed(file, **made)
        # Readers reject files with a huge compression ratio, which millions of equal weights reach.
        if not compressed or is_bomb(file.tell(), unpacked):
            file.seek(0)
            np.savez(file, **made)


def read_archive(path: str | Path, make: Callable[[Archive], T]) -> T:
    """Make an object from the arrays of an archive, without pickles; errors of ``make`` become ModelFileError."""
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
    """Create an empty file in the same folder; remove it on exit unless it was renamed."""
    with ExitStack() as stack:
        try:
            temporary = stack.enter_context(on_the_way(Path(os.path.realpath(path))))
        except (FileNotFoundError, NotADirectoryError):
            problem = "no file can be created in the" if path.parent.is_dir() else "there is no"
            raise InputError(_unwritable(path, f"{problem} folder {path.parent}")) from None
        except OSError as error:
            raise InputError(_unwritable(path, error.strerror or str(error))) from None
        yield temporary


def _require_name(path: Path) -> None:
    """Raise InputError if the file system cannot look the path up, for example if a name is too long."""
    try:
        path.exists()
    except (OSError, ValueError) as error:
        raise InputError(_unwritable(path, getattr(error, "strerror", None) or str(error))) from None


def _led(folder: Path) -> Path:
    """Return the target of a link, which need not exist; return other paths unchanged."""
    return Path(os.path.realpath(folder)) if folder.is_symlink() else folder


def _unwritable(path: Path, reason: str) -> str:
    return f"{path} cannot be written: {reason}"
