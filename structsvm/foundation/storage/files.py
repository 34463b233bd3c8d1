"""Read plain and compressed files, and write files and folders atomically."""

import errno
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, Any, TextIO, TypeVar, cast

import numpy as np
from attrs import frozen

from structsvm.exceptions import DataFormatError, InputError, ModelFileError
from structsvm.foundation.extras import needed
from structsvm.foundation.settings import as_path
from structsvm.foundation.storage.archives import Archive, Damage, is_bomb, with_digests
from structsvm.foundation.storage.artefacts import is_protected, is_stream, kind_of_arrays, replacement_refusal
from structsvm.foundation.storage.temporary import keep_access, on_the_way, remove_leftovers


@frozen
class Packing:
    """A kind of compressed stream: its name, the pattern of its first bytes, its suffix and its Python module."""

    name: str
    start: "re.Pattern[bytes]"
    suffix: str
    module: str

    def open(self, raw: Any) -> Any:
        """Return the unpacked content of an open file."""
        return self._imported().open(raw)

    def faults(self) -> tuple[type[Exception], ...]:
        """Return the errors of a damaged stream besides EOFError and OSError."""
        module = self._imported()
        errors_of_module = [getattr(module, name) for name in ("LZMAError", "ZstdError") if hasattr(module, name)]
        return (zlib.error, *errors_of_module)

    def _imported(self) -> ModuleType:
        try:
            return import_module(self.module)
        except ImportError:
            # Zstandard is in the standard library since Python 3.14.
            with needed(f"files compressed with {self.name} need backports.zstd", "zstd", "Or unpack the file first."):
                return import_module("backports.zstd")


PACKINGS = (
    Packing("gzip", re.compile(rb"\x1f\x8b"), ".gz", "gzip"),
    Packing("bzip2", re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), ".bz2", "bz2"),
    Packing("xz", re.compile(rb"\xfd7zXZ\0"), ".xz", "lzma"),
    Packing("Zstandard", re.compile(rb"\x28\xb5\x2f\xfd"), ".zst", "compression.zstd"),
)

LONGEST_START = 10
"""Bytes that are enough to detect every kind."""


def packing_of(head: bytes) -> Packing | None:
    """Return the compression of a file from its first `LONGEST_START` bytes; None if it is not compressed."""
    return next((packing for packing in PACKINGS if packing.start.match(head)), None)


def promised_by(path: Path) -> Packing | None:
    """Return the compression that a file name promises; None if it promises none."""
    return next((packing for packing in PACKINGS if path.suffix.lower() == packing.suffix), None)


def without_suffix(path: Path) -> Path:
    """Return the file name without the suffix of its compression."""
    return path if promised_by(path) is None else path.with_suffix("")


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


def check_writable(path: Path, kind: str | None = None, *, makes_folders: bool = False, strict: bool = True) -> None:
    """Raise InputError unless a file of a kind (None: text or a plot) can be written to this path or link.

    ``makes_folders`` allows a path in a folder that does not exist yet; ``strict`` is as in `replacement_refusal`.
    Leftovers of killed processes are removed.
    """
    exists = _is_file(path)
    place = Path(os.path.realpath(path))
    # `realpath` resolves ".." even if the folder before it does not exist.
    if not makes_folders and (not path.parent.is_dir() or place.exists() != path.exists()):
        raise InputError(_unwritable(path, f"there is no folder {path.parent}"))
    if not makes_folders and not place.parent.is_dir():
        raise InputError(_unwritable(path, f"it is a link to {place}, and there is no folder {place.parent}"))
    if exists:
        with errors_naming(path):
            reason = replacement_refusal(path, kind, strict=strict)
        if reason:
            raise InputError(reason)
    remove_leftovers(place, _folder_of(place))
    with _on_the_way(path):
        pass


def require_empty(folder: Path) -> None:
    """Raise InputError if a folder has files."""
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty: choose another folder")


def _is_file(path: Path) -> bool:
    """Return whether a regular file exists; raise InputError for anything else that exists or cannot be looked up."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise InputError(_unwritable(path, getattr(error, "strerror", None) or str(error))) from None
    if stat.S_ISDIR(mode):
        raise InputError(_unwritable(path, "it is a folder"))
    if not stat.S_ISREG(mode) or is_stream(path):
        raise InputError(_unwritable(path, "it is not a regular file"))
    return True


def _folder_of(place: Path) -> Path:
    """Return the folder of a file, or if it does not exist, the nearest existing folder above."""
    return next(folder for folder in place.parents if os.path.lexists(folder))


@contextmanager
def replacing(path: Path, *, makes_folders: bool = False) -> Iterator[TextIO]:
    """Open a text file that moves to ``path`` when it is complete."""
    with (
        replacement(path, makes_folders=makes_folders) as temporary,
        temporary.open("w", encoding="utf-8", errors="surrogateescape") as file,
    ):
        yield file


@contextmanager
def replacement(
    path: Path,
    kind: str | None = None,
    *,
    makes_folders: bool = False,
    strict: bool = True,
    spares_new: bool = False,
) -> Iterator[Path]:
    """Create an empty file that replaces ``path``, with its mode and owner, if the body of the ``with`` succeeds.

    Missing folders are made last, so that a killed process leaves none. ``spares_new`` does not replace a file that
    another process has made in the meantime. `check_writable` describes the other arguments.
    """
    check_writable(path, kind, makes_folders=makes_folders, strict=strict)
    before = "It is unchanged" if path.exists() else "Nothing was written"
    with errors_naming(path, before), _on_the_way(path) as temporary:
        yield temporary
        # Replace the target of a link, so that the link stays.
        place = Path(os.path.realpath(path))
        keep_access(temporary, place)
        if makes_folders:
            place.parent.mkdir(parents=True, exist_ok=True)
        if not (spares_new and _linked(temporary, place)):
            temporary.replace(place)


def _linked(temporary: Path, place: Path) -> bool:
    """Give a file a second name unless that exists; return False if the file system has no such names."""
    try:
        os.link(temporary, place)
    except FileExistsError:
        pass
    except OSError:
        return False
    return True


@contextmanager
def errors_naming(path: Path, remark: str = "") -> Iterator[None]:
    """Turn OSError into InputError that names the file; ``remark`` is a sentence on its current content."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(". ".join(filter(None, [_unwritable(path, error.strerror or str(error)), remark]))) from error


def write_archive(path: str | Path, arrays: Mapping[str, Any], *, compressed: bool = True) -> None:
    """Write named arrays (npz) with their digests atomically; float64 shrinks little by compression."""
    contents: dict[str, Any] = with_digests(arrays)
    unpacked = sum(array.nbytes for array in contents.values())
    kind = kind_of_arrays(arrays)
    with replacement(as_path("path", path), kind, strict=False) as temporary, temporary.open("wb") as file:
        if compressed:
            np.savez_compressed(file, **contents)
        # Readers reject files with a huge compression ratio, which millions of equal weights reach.
        if not compressed or is_bomb(file.tell(), unpacked):
            file.seek(0)
            np.savez(file, **contents)


def read_archive(path: str | Path, make: Callable[[Archive], T]) -> T:
    """Make an object from the arrays of an archive, without pickles; errors of ``make`` become ModelFileError."""
    path = as_path("path", path)
    try:
        with path.open("rb") as file:
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
def _on_the_way(path: Path) -> Iterator[Path]:
    """Create an empty file in the folder of a path or the nearest above; remove it on exit unless it was renamed."""
    place = Path(os.path.realpath(path))
    folder = _folder_of(place)
    with ExitStack() as stack:
        try:
            if not folder.is_dir():
                raise InputError(_unwritable(path, f"{folder} is not a folder"))
            if is_protected(folder):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            temporary = stack.enter_context(on_the_way(place, folder))
        except OSError as error:
            raise InputError(_unwritable(path, error.strerror or str(error))) from None
        yield temporary


def _unwritable(path: Path, reason: str) -> str:
    return f"{path} cannot be written: {reason}"
