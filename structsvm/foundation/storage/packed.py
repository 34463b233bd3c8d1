"""Detect kinds of compressed streams by their first bytes."""

import re
import zlib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from attrs import frozen

from structsvm.foundation.extras import needed


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
