"""Parse a block of lines in LETOR's format: plain lines in a compiled loop, other lines by `parse_line`."""

import math
import re
from array import array
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from structsvm.data.blocks import Block, is_plain_number
from structsvm.data.pairs import MOST_CHARACTERS
from structsvm.exceptions import quoted
from structsvm.foundation.types import IntVector, Vector

_LINE = "a line reads '<label> qid:<query> <index>:<value> ...'"
_QUERY = "qid:"
LARGEST_INDEX = 2**31 - 1
NO_ID = (
    "there is no comment '#docid = ...', so the document has no id: write one at the end of each line, or use a table "
    "with a column of ids (docid=..., or --docid COLUMN on the command line)"
)
_CELL = re.compile(rb"[^ \t]+")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_DOC_ID = re.compile(rb"#\s*docid\s*=\s*(\S+)")
_AFTER_ID = re.compile(rb"\s*(?:\Z|#|[\w.-]+\s*=)")
"""The end of a comment, another comment, or another name with a value, as in ``#docid = d1 inc = 0.5``."""


class LetorRow(NamedTuple):
    """A parsed line: label (NaN if missing), query id (0 if missing), and features with columns from 1, ascending."""

    label: float
    query: int
    indices: "array[int]"
    values: "array[float]"


class LineForm(NamedTuple):
    """Form of all lines: each must have a label or may lack it, and all or none have a query id.

    Indices begin at ``first_index``, 1 or 0.
    """

    labels: bool = True
    queries: bool = True
    first_index: int = 1


WHOLE = LineForm()


def parse_line(line: bytes, n_features: int | None, form: LineForm = WHOLE) -> LetorRow | None:
    """Parse a line, or return None if it is blank or a comment; raise ValueError if it breaks a rule."""
    cells = _cells(line.partition(b"#")[0].rstrip(b"\r\n"))
    first = next(cells, None)
    if first is None:
        return None
    second: str | None = first
    label, labeled = math.nan, form.labels or ":" not in first
    if labeled:
        if ":" in first:
            raise ValueError(f"there is no label: the line begins with {quoted(first)}, but {_LINE}")
        label, second = _finite(first, "the label {}", "leave the line out, or write a grade"), next(cells, None)
    if form.queries:
        query = _query_id(second, labeled)
    else:
        query = 0
        if second is not None and second.startswith(_QUERY):
            raise ValueError(
                f"{quoted(second)} is a query id, but the first line has no query id or a second file has the sizes of "
                "queries: give query ids in all lines or in no line"
            )
        cells = chain([] if second is None else [second], cells)
    row = LetorRow(label, query, array("i"), array("d"))
    previous = 0
    for cell in cells:
        name, colon, value = cell.partition(":")
        if not colon:
            raise ValueError(f"{quoted(cell)} has no colon: {_LINE}")
        index = _index(name, cell, form.first_index)
        column = index - form.first_index + 1
        if column <= previous:
            last = previous + form.first_index - 1
            raise ValueError(f"feature {index} follows feature {last}: indices must ascend, each at most once")
        if n_features is not None and column > n_features:
            raise BeyondError(index, column, n_features)
        row.indices.append(column)
        what = f"the value of feature {index}, {{}},"
        row.values.append(_finite(value, what, "leave the feature out, or replace its value"))
        previous = column
    return row


def _query_id(cell: str | None, labeled: bool) -> int:
    """Parse a cell as query id; it follows the label if there is one."""
    if cell is None or not cell.startswith(_QUERY):
        reason = f"{'after the label comes' if labeled else 'the line begins with'} {quoted(cell or '')}"
        raise ValueError(
            f"no query id: {reason if cell is not None else 'there is only a label'}, but {_LINE}. Or write the sizes "
            "of the queries to FILE.query beside the file, one per line"
        )
    digits, _, fraction = cell.removeprefix(_QUERY).partition(".")
    query = None if fraction.strip("0") or cell.endswith(".") else _whole(digits)
    if query is None or not -(2**63) <= query < 2**63:
        raise ValueError(f"the query id in {quoted(cell)} must be a 64-bit whole number")
    return query


def has_query_ids(content: bytes) -> bool | None:
    """Return whether the first line that is not a comment has a query id; None without a line."""
    for line in content.split(b"\n"):
        cells = _CELL.findall(line.partition(b"#")[0].rstrip(b"\r"))
        if cells:
            return any(cell.startswith(_QUERY.encode()) for cell in cells[:2])
    return None


class BeyondError(ValueError):
    """A feature index exceeds the number of features."""

    def __init__(self, index: int, column: int, n_features: int) -> None:
        super().__init__(
            f"feature {index} is beyond n_features={n_features}; pass n_features={column} or more, or None"
        )


def document_id(text: bytes, start: int = 0, end: int | None = None) -> str:
    """Return the document id in the comment of the line ``text[start:end]``; raise ValueError without a valid id."""
    end = len(text) if end is None else end
    match = _DOC_ID.search(text, start, end)
    if match is None:
        raise ValueError(NO_ID)
    if not _AFTER_ID.match(text, match.end(), end):
        raise ValueError(
            f"the document id {quoted(text[match.start(1) : end].rstrip())} contains a blank: replace it, for example "
            "by an underscore, or write the rest as 'name = value'"
        )
    if len(match[1]) > MOST_CHARACTERS:
        raise ValueError(f"the document id {quoted(match[1])} is too long: it may have {MOST_CHARACTERS} bytes")
    return match[1].decode(errors="surrogateescape")


def _cells(content: bytes) -> Iterator[str]:
    """Yield the cells of a line one by one, because a line may have millions."""
    for cell in _CELL.finditer(content):
        try:
            yield cell[0].decode()
        except UnicodeDecodeError:
            raise ValueError(
                f"this is not text: {quoted(cell[0])} is not UTF-8. LETOR files are text, plain or compressed"
            ) from None


def _index(name: str, cell: str, first: int) -> int:
    index = _whole(name)
    if index is None:
        raise ValueError(f"the feature index in {quoted(cell)} must be a whole number")
    if index == 0 < first:
        raise ValueError(
            f"{quoted(cell)} has index 0, but LETOR counts features from 1: if the file counts from 0, pass "
            "zero_based=True (--zero-based of structsvm train and predict), or add 1 to every index"
        )
    if not first <= index < LARGEST_INDEX + first:
        raise ValueError(f"the feature index in {quoted(cell)} must be from {first} to {LARGEST_INDEX + first - 1}")
    return index


def _finite(text: str, what: str, remedy: str) -> float:
    try:
        number = float(text) if is_plain_number(text) or _NOT_FINITE.fullmatch(text) else None
    except ValueError:
        number = None
    if number is None:
        foreign = "" if text.isascii() else "; digits are 0 to 9, and blanks and tabs separate"
        raise ValueError(f"{what.format(quoted(text))} is not a number{foreign}")
    if not math.isfinite(number):
        raise ValueError(f"{what.format(quoted(text))} is not finite: {remedy}")
    return number


def _whole(text: str) -> int | None:
    try:
        return int(text) if is_plain_number(text) else None
    except ValueError:
        return None


WORTH_COMPILING = 2**17
"""Smallest block in bytes for the compiled loop: loading it takes as long as Python needs for these bytes."""

ROWS, LINES = 0, 2
"""Indices of the numbers of rows and lines in `Space.counts`."""

_SHORTEST_FEATURE = len(" 1:1")


class BlockRows(NamedTuple):
    """The rows of a block in CSR form; row i ends at ``ends[i]``, and missing labels and query ids are NaN and 0."""

    labels: Vector
    queries: IntVector
    ends: IntVector
    indices: NDArray[np.int32]
    values: NDArray[np.floating[Any]]
    width: int
    doc_ids: list[str] | None


class Space(NamedTuple):
    """Output buffers for the rows of a block, as `BlockRows`; ``places`` has each row's line and start of comment."""

    labels: Vector
    queries: IntVector
    ends: IntVector
    places: IntVector
    indices: NDArray[np.int32]
    values: Vector
    counts: IntVector


def make_space(content: bytes) -> Space:
    """Allocate buffers for a block; unused parts take no memory."""
    rows, features = content.count(b"\n") + 1, len(content) // _SHORTEST_FEATURE + 1
    return Space(
        np.empty(rows),
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty((rows, 2), dtype=np.int64),
        np.empty(features, dtype=np.int32),
        np.empty(features),
        np.zeros(4, dtype=np.int64),
    )


def parse_block(
    block: Block,
    n_features: int | None,
    *,
    doc_ids: bool | None,
    beyond: str | None,
    form: LineForm = WHOLE,
    dtype: DTypeLike = np.float64,
) -> BlockRows:
    """Parse a block of lines; ``beyond`` replaces the message about indices above ``n_features``.

    If ``doc_ids`` is None, they are read if each line has one.
    """
    content = block.content
    text = np.frombuffer(content, dtype=np.uint8)
    space = make_space(content)
    read = _compiled(n_features, form) if len(content) >= WORTH_COMPILING else None
    at = 0
    while at < len(content):
        if read is not None:
            at = read(text, at, space)
        if at < len(content):
            end = content.find(b"\n", at) + 1 or len(content)
            try:
                _read_line(content[at:end], at, n_features, form, space)
            except ValueError as fault:
                _narrowed(block, space, form.first_index, dtype)
                if doc_ids:
                    _doc_ids(block, space)
                said = beyond if beyond and isinstance(fault, BeyondError) else str(fault)
                raise block.fault(int(space.counts[LINES]), said) from None
            at = end
    rows, stored, _, width = space.counts.tolist()
    return BlockRows(
        space.labels[:rows],
        space.queries[:rows],
        space.ends[:rows],
        space.indices[:stored],
        _narrowed(block, space, form.first_index, dtype),
        width,
        None if doc_ids is False else _doc_ids(block, space, optional=doc_ids is None),
    )


def _compiled(n_features: int | None, form: LineForm) -> Callable[[NDArray[np.uint8], int, Space], int] | None:
    """Load and return the compiled loop; None if compilation is disabled."""
    from structsvm.foundation.compute.environment import numba

    if numba.config.DISABLE_JIT:
        return None
    from structsvm.data.letor.plain import powers_of_ten, read_plain

    most = min(n_features or LARGEST_INDEX, LARGEST_INDEX)
    return lambda text, at, space: read_plain(text, at, most, *form, *powers_of_ten(), space)


def _narrowed(block: Block, space: Space, first_index: int, dtype: DTypeLike) -> NDArray[np.floating[Any]]:
    """Return the values as ``dtype``; raise DataFormatError if one is not finite in it."""
    rows, stored = space.counts[:2].tolist()
    values = space.values[:stored]
    if np.dtype(dtype) == values.dtype:
        return values
    with np.errstate(over="ignore"):
        narrow: NDArray[np.floating[Any]] = values.astype(dtype)
    beyond = np.flatnonzero(~np.isfinite(narrow))
    if len(beyond):
        line = int(space.places[np.searchsorted(space.ends[:rows], beyond[0], side="right"), 0])
        index, value = space.indices[beyond[0]] + first_index, values[beyond[0]]
        raise block.fault(
            line,
            f"the value of feature {index}, {value:g}, is beyond {np.dtype(dtype)}: read the file as float64",
        )
    return narrow


def _read_line(line: bytes, at: int, n_features: int | None, form: LineForm, space: Space) -> None:
    """Parse the line that begins at ``at`` of its block, and append it to ``space``."""
    parsed = parse_line(line, n_features, form)
    row, stored, number, width = space.counts.tolist()
    if parsed is not None:
        values = np.array(parsed.values)
        nonzero = np.flatnonzero(values)
        space.values[stored : stored + len(nonzero)] = values[nonzero]
        space.indices[stored : stored + len(nonzero)] = np.array(parsed.indices, dtype=np.int64)[nonzero] - 1
        comment = line.find(b"#")
        space.labels[row], space.queries[row], space.ends[row] = parsed.label, parsed.query, stored + len(nonzero)
        space.places[row] = number, comment if comment < 0 else at + comment
        row, stored, width = row + 1, stored + len(nonzero), max([width, *parsed.indices[-1:]])
    space.counts[:] = row, stored, number + 1, width


def _doc_ids(block: Block, space: Space, *, optional: bool = False) -> list[str] | None:
    ids = []
    for line, comment in space.places[: space.counts[ROWS]].tolist():
        try:
            if comment < 0:
                raise ValueError(NO_ID)
            end = block.content.find(b"\n", comment)
            ids.append(document_id(block.content, comment, len(block.content) if end < 0 else end))
        except ValueError as fault:
            if optional:
                return None
            raise block.fault(line, str(fault)) from None
    return ids
