"""Data beside the lines of a LETOR file: feature names at its head; sizes of queries and weights in other files."""

import math
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from structsvm.data.blocks import Block, is_plain_number, read_blocks
from structsvm.exceptions import DataFormatError, InputError, counted, first_of, quoted, stacklevel_of_user
from structsvm.foundation.queries import Queries
from structsvm.foundation.storage.files import without_suffix
from structsvm.foundation.types import IntVector, Vector

T = TypeVar("T", int, float)

SUFFIXES = (".query", ".group")
"""Suffixes of files of query sizes, as in LightGBM and XGBoost."""

WEIGHTS = (".weight",)
"""Suffix of files of weights, one per row in LightGBM, one per row or query in XGBoost."""

UNREAD = (".position", ".init")
"""Suffixes of other files that LightGBM reads: positions of shown documents, and scores to begin with."""

_FEATURE = re.compile(rb"^# feature (\d+) = (\S+)[^\S\n]*$", re.MULTILINE)
_DATA = re.compile(rb"^(?!#)[^\n]*\S", re.MULTILINE)
_ROW = re.compile(rb"^[ \t]*[^\s#]", re.MULTILINE)


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
        data = _DATA.search(block.content)
        for match in _FEATURE.finditer(block.content, 0, data.start() if data else len(block.content)):
            if match[1] != str(len(self._names) + self._first_index).encode():
                self._names, self.ended = [], True
                return
            self._names.append(match[2].decode(errors="surrogateescape"))
        self.ended = data is not None


def agreed(names: Iterable[tuple[Path, tuple[str, ...] | None]]) -> tuple[str, ...] | None:
    """Return the feature names of files, or None if no file has names; raise InputError if two files differ."""
    named = [(path, titles) for path, titles in names if titles is not None]
    if not named:
        return None
    first_path, first = named[0]
    for path, titles in named[1:]:
        if titles != first:
            k = next((k for k, (a, b) in enumerate(zip(first, titles, strict=False)) if a != b), None)
            differ = (
                f"{first_path} names {len(first)} features, but {path} names {len(titles)}"
                if k is None
                else f"feature {k + 1} is {first[k]!r} in {first_path}, but {titles[k]!r} in {path}"
            )
            raise InputError(f"{differ}: write the columns of all files in the same order")
    return first


def places_beside(data: Path, suffixes: Sequence[str] = SUFFIXES) -> list[Path]:
    """Return the possible paths of the file of query sizes for a data file, or of a file with other suffixes."""
    names = dict.fromkeys([data.name, without_suffix(data).name]) if data.name else {}
    return [data.with_name(f"{name}{suffix}") for name in names for suffix in suffixes]


def sizes_beside(data: Path) -> Path | None:
    """Return the existing file of sizes beside a data file, or None; raise InputError if there are two."""
    places = [path for path in places_beside(data) if _is_file(path)]
    if len(places) > 1:
        raise InputError(f"{places[0]} and {places[1]} both have the sizes of queries of {data}: remove one")
    return places[0] if places else None


def queries_of_sizes(path: Path, data: Path, rows: int, first: int) -> IntVector:
    """Return a query id, counted from ``first``, for each row of ``data``, from a file with one query size per line."""
    fault = (
        "is not the size of a query: write one positive whole number per line, the number of rows of "
        f"{data.name} in the next query"
    )
    sizes = _one_per_line(path, _size, fault)
    if sum(sizes) != rows:
        raise DataFormatError(
            path, None, f"the sizes of {len(sizes):,} queries add up to {sum(sizes):,}, but {data} has {rows:,} rows"
        )
    return np.repeat(np.arange(first, first + len(sizes)), sizes)


def warn_of_unread(paths: Sequence[Path], suffixes: Sequence[str], why: str) -> None:
    """Warn if there are files with these suffixes beside the data files."""
    unread = [place for path in paths for place in places_beside(path, suffixes) if _is_file(place)]
    if unread:
        warnings.warn(f"not read: {first_of(map(str, unread))}. {why}", UserWarning, stacklevel=stacklevel_of_user())


def weight_files(paths: Sequence[Path]) -> list[Path | None]:
    """Return the existing file of weights beside each data file, or None."""
    return [next(filter(_is_file, places_beside(path, WEIGHTS)), None) for path in paths]


def weights_beside(paths: Sequence[Path], qid: NDArray[Any]) -> Vector | None:
    """Return a weight for each row from the files beside the data files; None without such files.

    Warns about other files beside that are not read.
    """
    warn_of_unread(paths, UNREAD, "Rankers learn without positions of documents and without scores to begin with")
    beside = weight_files(paths)
    files = [path for path in beside if path is not None]
    if not files:
        return None
    if len(files) < len(paths):
        data = paths[beside.index(None)]
        raise InputError(
            f"{files[0]} has weights, but there is no {places_beside(data, WEIGHTS)[0]}: add or remove one"
        )
    # Each file must have its own weights, so count its rows again; the cache has only their sum.
    rows = [len(qid)] if len(paths) == 1 else list(map(_count_rows, paths))
    parts = np.split(qid, np.cumsum(rows)[:-1])
    return np.concatenate([_weights_in(path, part) for path, part in zip(files, parts, strict=True)])


def _count_rows(path: Path) -> int:
    with closing(read_blocks(path)) as blocks:
        return sum(len(_ROW.findall(block.content)) for block in blocks)


def _weights_in(path: Path, qid: NDArray[Any]) -> Vector:
    """Return a weight for each row of a data file from its file of weights."""
    fault = "is not a weight: write one number of at least 0 per line"
    weights = np.array(_one_per_line(path, _weight, fault))
    if len(weights) != len(qid):
        queries = Queries.of(qid, len(qid))
        if len(weights) != len(queries):
            raise DataFormatError(
                path,
                None,
                f"it has {counted(len(weights), 'weight')}, but the data have {counted(len(qid), 'row')} and "
                f"{counted(len(queries), 'query', 'queries')}: write one weight for each row, or for each query",
            )
        weights = weights[queries.number]
    return weights


def _one_per_line(path: Path, parse: Callable[[str], T | None], fault: str) -> list[T]:
    """Return the number on each line that is not empty; ``parse`` returns None for a faulty text."""
    values = list[T]()
    with closing(read_blocks(path)) as blocks:
        for block in blocks:
            for number, line in enumerate(block.content.splitlines()):
                cells = line.partition(b"#")[0].split()
                if cells:
                    text = cells[0].decode(errors="replace")
                    value = parse(text) if is_plain_number(text) and len(cells) == 1 else None
                    if value is None:
                        raise block.fault(number, f"{quoted(line)} {fault}")
                    values.append(value)
    return values


def _size(text: str) -> int | None:
    size = int(text) if text.isdecimal() and len(text) <= 18 else 0
    return size if size > 0 else None


def _weight(text: str) -> float | None:
    try:
        weight = float(text)
    except ValueError:
        return None
    return weight if 0.0 <= weight < math.inf else None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # The name is too long for a file.
        return False
