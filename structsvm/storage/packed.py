"""Compressed streams: each kind is told by its first bytes, and unpacked by a library of its own."""

import gzip
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from attrs import frozen

from structsvm.exceptions import NotInstalledError


@frozen
class Packing:
    """A kind of compressed stream.

    Parameters
    ----------
    name : what messages call it.
    start : pattern of its first bytes.
    suffix : how the names of such files end.
    opened : is given a file of packed bytes, and returns one of unpacked bytes.
    faults : returns what reading a damaged stream raises, beside EOFError and an OSError without a number.
    """

    name: str
    start: "re.Pattern[bytes]"
    suffix: str
    opened: Callable[[Any], Any]
    faults: Callable[[], tuple[type[Exception], ...]] = lambda: ()


def packing_of(head: bytes) -> Packing | None:
    """Return the kind that begins with these bytes, of which there are `LONGEST_START` unless the file is shorter."""
    return next((each for each in PACKINGS if each.start.match(head)), None)


def promised_by(path: Path) -> Packing | None:
    """Return the kind that the name of a file promises; None without one."""
    return next((each for each in PACKINGS if path.suffix.lower() == each.suffix), None)


def without_suffix(path: Path) -> Path:
    """Return the name that a file has when it is unpacked."""
    return path if promised_by(path) is None else path.with_suffix("")


def _open_gzip(raw: Any) -> Any:
    return gzip.GzipFile(mode="rb", fileobj=raw)


def _open_bzip2(raw: Any) -> Any:
    import bz2

    return bz2.BZ2File(raw)


def _open_xz(raw: Any) -> Any:
    import lzma

    return lzma.LZMAFile(raw)


def _faults_of_xz() -> tuple[type[Exception], ...]:
    import lzma

    return (lzma.LZMAError,)


def _open_zstd(raw: Any) -> Any:
    return _zstd().ZstdFile(raw)


def _faults_of_zstd() -> tuple[type[Exception], ...]:
    return (_zstd().ZstdError,)


def _zstd() -> ModuleType:
    """Return the module of the standard library, which Python has from 3.14 on, or its like for earlier ones."""
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        try:
            from backports import zstd
        except ImportError as error:
            raise NotInstalledError(
                "files compressed with Zstandard need backports.zstd: pip install 'structural-svm[zstd]'; "
                "or unpack the file with unzstd"
            ) from error
    return zstd  # type: ignore[no-any-return, unused-ignore]


PACKINGS = (
    Packing("gzip", re.compile(rb"\x1f\x8b"), ".gz", _open_gzip, lambda: (zlib.error,)),
    Packing("bzip2", re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), ".bz2", _open_bzip2),
    Packing("xz", re.compile(rb"\xfd7zXZ\0"), ".xz", _open_xz, _faults_of_xz),
    Packing("Zstandard", re.compile(rb"\x28\xb5\x2f\xfd"), ".zst", _open_zstd, _faults_of_zstd),
)

LONGEST_START = 10
"""Bytes that tell all of them apart."""
