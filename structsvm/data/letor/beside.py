"""Data beside the lines of a LETOR file: feature names at its head, and sizes of queries in a second file."""

import re
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import numpy as np

from structsvm.data.blocks import Block, is_plain_number, read_blocks
from structsvm.exceptions import DataFormatError, InputError, quoted
from structsvm.foundation.storage.packed import without_suffix
from structsvm.foundation.types import IntVector

SUFFIXES = (".query", ".group")
"""Suffixes of files of query sizes, as in LightGBM and XGBoost."""

_FEATURE = re.compile(rb"# feature (\d+) = (\S+)\s*")


def feature_names_of(path: Path) -> tuple[str, ...] | None:
    """Return the feature names at the head of a file, or None if it has no names."""
    head = Head()
    with closing(read_blocks(path)) as blocks:
        for block in blocks:
            head.read(block)
            if head.ended:
                break
    return head.names


class Head:
    """Parser of feature names at the head of a file, ``# feature 3 = title.L3``; read blocks until it has `ended`."""

    def __init__(self, first_index: int = 1) -> None:
        self._first_index = first_index
        self._names: list[str] = []
        self.ended = False

    @property
    def names(self) -> tuple[str, ...] | None:
        """Feature names so far; None without names."""
        return tuple(self._names) or None

    def read(self, block: Block) -> None:
        """Read the comments of a block up to the first line of data."""
        start = 0
        while not self.ended and start < len(block.content):
            end = block.content.find(b"\n", start) + 1 or len(block.content)
            line = block.content[start:end]
            match = _FEATURE.fullmatch(line)
            if match and match[1] == str(len(self._names) + self._first_index).encode():
                self._names.append(match[2].decode(errors="surrogateescape"))
            elif match:
                self._names, self.ended = [], True
            elif line.strip() and not line.startswith(b"#"):
                self.ended = True
            start = end


def agreed(names: Iterable[tuple[Path, tuple[str, ...] | None]]) -> tuple[str, ...] | None:
    """Return the feature names of files, or None if no file has names; raise InputError if two files differ."""
    named = [(path, found) for path, found in names if found is not None]
    if not named:
        return None
    first_path, first = named[0]
    for path, found in named[1:]:
        if found != first:
            k = next((k for k, (a, b) in enumerate(zip(first, found, strict=False)) if a != b), None)
            differ = (
                f"{first_path} names {len(first)} features, but {path} names {len(found)}"
                if k is None
                else f"feature {k + 1} is {first[k]!r} in {first_path}, but {found[k]!r} in {path}"
            )
            raise InputError(f"{differ}: write the columns of all files in the same order")
    return first


def places_beside(data: Path) -> list[Path]:
    """Return the possible paths of the file of query sizes for a data file."""
    names = dict.fromkeys([data.name, without_suffix(data).name]) if data.name else {}
    return [data.with_name(f"{name}{suffix}") for name in names for suffix in SUFFIXES]


def sizes_beside(data: Path) -> Path | None:
    """Return the existing file of sizes beside a data file, or None; raise InputError if there are two."""
    found = [path for path in places_beside(data) if _is_file(path)]
    if len(found) > 1:
        raise InputError(f"{found[0]} and {found[1]} both have the sizes of queries of {data}: remove one")
    return found[0] if found else None


def queries_of_sizes(path: Path, data: Path, rows: int, first: int) -> IntVector:
    """Return a query id, counted from ``first``, for each row of ``data``, from a file with one query size per line."""
    sizes: list[int] = []
    with closing(read_blocks(path)) as blocks:
        for block in blocks:
            for number, line in enumerate(block.content.splitlines()):
                cells = line.partition(b"#")[0].split()
                if not cells:
                    continue
                text = cells[0].decode(errors="replace")
                size = int(text) if is_plain_number(text) and text.isdecimal() and len(text) <= 18 else 0
                if size < 1 or len(cells) > 1:
                    raise block.fault(
                        number,
                        f"{quoted(line)} is not the size of a query: write one positive whole number per line, the "
                        f"number of rows of {data.name} in the next query",
                    )
                sizes.append(size)
    if sum(sizes) != rows:
        raise DataFormatError(
            path, None, f"the sizes of {len(sizes):,} queries add up to {sum(sizes):,}, but {data} has {rows:,} rows"
        )
    return np.repeat(np.arange(first, first + len(sizes)), sizes)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # The name is too long for a file.
        return False
