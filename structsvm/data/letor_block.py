"""A block of lines in LETOR's format: read by compiled loops, and line by line where these do not pay or do not help.

The compiled loop knows the plain form of a line and stops where one is not of it. Whether that line is right and what
it holds, `parse_line` says, which has the rules; then the loop goes on behind it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled
from structsvm.compute.decimals import UNDECIDED, decimal, powers_of_ten
from structsvm.compute.environment import numba
from structsvm.data.blocks import Block
from structsvm.data.letor_line import LARGEST_INDEX, NO_ID, BeyondError, document_id, parse_line
from structsvm.types import IntVector, Vector

WORTH_COMPILING = 2**17
"""Bytes of a block from which the compiled loop is used: it takes as long to be loaded as Python reads these."""

_ROWS, _LINES = 0, 2
_SHORTEST_LINE, _SHORTEST_FEATURE = len("1 qid:1\n"), len(" 1:1")
_MOST_DIGITS = 18


class Rows(NamedTuple):
    """What a block holds.

    Parameters
    ----------
    labels, queries : label and query id of each row, shape (n,).
    ends : number of stored features up to the end of each row, shape (n,).
    indices, values : the features that are not 0, row after row; indices count from 0.
    width : largest feature index in the block, counted from 1, also of a feature that is 0; 0 without features.
    doc_ids : document ids; None if they were not asked for.
    """

    labels: Vector
    queries: IntVector
    ends: IntVector
    indices: NDArray[np.int32]
    values: Vector
    width: int
    doc_ids: list[str] | None


class _Space(NamedTuple):
    """Where rows are written, with room for as many as a block can hold.

    Parameters
    ----------
    labels, queries, ends, indices, values : as `Rows`.
    places : of each row its line in the block, from 0, and where its comment begins, -1 without one; shape (n, 2).
    counts : rows and features that are written, lines that are read, and the largest index; shape (4,).
    """

    labels: Vector
    queries: IntVector
    ends: IntVector
    places: IntVector
    indices: NDArray[np.int32]
    values: Vector
    counts: IntVector


def parse_block(block: Block, n_features: int | None, *, doc_ids: bool, beyond: str | None) -> Rows:
    """Return what a block holds.

    Parameters
    ----------
    block : the block.
    n_features : largest feature index allowed; None: any.
    doc_ids : whether to read document ids.
    beyond : what is said of a feature that is not allowed; None: what `parse_line` says.

    Raises
    ------
    DataFormatError : at the first line that breaks a rule, or has no document id where these are asked for.
    """
    content = block.content
    text = np.frombuffer(content, dtype=np.uint8)
    space = _make_space(len(content))
    compile_it = len(content) >= WORTH_COMPILING and not numba.config.DISABLE_JIT
    at = 0
    while at < len(content):
        if compile_it:
            at = _read_plain(text, at, min(n_features or LARGEST_INDEX, LARGEST_INDEX), *powers_of_ten(), space)
        if at < len(content):
            end = content.find(b"\n", at) + 1 or len(content)
            try:
                _read_line(content[at:end], at, n_features, space)
            except ValueError as fault:
                if doc_ids:
                    _doc_ids(block, space)
                said = beyond if beyond and isinstance(fault, BeyondError) else str(fault)
                raise block.fault(int(space.counts[_LINES]), said) from None
            at = end
    rows, stored, _, width = space.counts.tolist()
    return Rows(
        space.labels[:rows],
        space.queries[:rows],
        space.ends[:rows],
        space.indices[:stored],
        space.values[:stored],
        width,
        _doc_ids(block, space) if doc_ids else None,
    )


def _make_space(size: int) -> _Space:
    rows, features = size // _SHORTEST_LINE + 1, size // _SHORTEST_FEATURE + 1
    return _Space(
        np.empty(rows),
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty((rows, 2), dtype=np.int64),
        np.empty(features, dtype=np.int32),
        np.empty(features),
        np.zeros(4, dtype=np.int64),
    )


def _read_line(line: bytes, at: int, n_features: int | None, space: _Space) -> None:
    """Write what a line holds that begins at a place of its block."""
    parsed = parse_line(line, n_features)
    row, stored, number, width = space.counts.tolist()
    if parsed is not None:
        values = np.array(parsed.values)
        kept = np.flatnonzero(values)
        space.values[stored : stored + len(kept)] = values[kept]
        space.indices[stored : stored + len(kept)] = np.array(parsed.indices, dtype=np.int64)[kept] - 1
        comment = line.find(b"#")
        space.labels[row], space.queries[row], space.ends[row] = parsed.label, parsed.query, stored + len(kept)
        space.places[row] = number, comment if comment < 0 else at + comment
        row, stored, width = row + 1, stored + len(kept), max([width, *parsed.indices[-1:]])
    space.counts[:] = row, stored, number + 1, width


def _doc_ids(block: Block, space: _Space) -> list[str]:
    found = []
    for line, comment in space.places[: space.counts[_ROWS]].tolist():
        try:
            if comment < 0:
                raise ValueError(NO_ID)
            end = block.content.find(b"\n", comment)
            found.append(document_id(block.content, comment, len(block.content) if end < 0 else end))
        except ValueError as fault:
            raise block.fault(line, str(fault)) from None
    return found


@compiled
def _read_plain(
    text: NDArray[np.uint8], at: int, most: int, exact: Vector, leading: NDArray[np.uint64], space: _Space
) -> int:
    """Write what lines of the plain form hold, and return where the first begins that is of another; or the end.

    Parameters
    ----------
    text : the block.
    at : where a line begins.
    most : largest feature index allowed.
    exact, leading : `powers_of_ten`.
    space : where to.
    """
    labels, queries, ends, places, indices, values, counts = space
    end = len(text)
    row, stored, lines, width = counts[0], counts[1], counts[2], counts[3]
    start = at
    while start < end:
        at = _after_blanks(text, start, end)
        kept, largest = stored, 0
        if not _ends_line(text, at, end):
            labels[row], at = decimal(text, at, end, exact, leading)
            if at == UNDECIDED or at == _after_blanks(text, at, end):
                break
            at = _after_blanks(text, at, end)
            if at + 4 >= end or text[at] != 113 or text[at + 1] != 105 or text[at + 2] != 100 or text[at + 3] != 58:
                break
            queries[row], at = _whole(text, at + 4, end)
            if at == UNDECIDED:
                break
            while True:
                after = _after_blanks(text, at, end)
                if _ends_line(text, after, end):
                    at = after
                    break
                if after == at:
                    at = UNDECIDED
                    break
                index, at = _whole(text, after, end)
                if at == UNDECIDED or at >= end or text[at] != 58 or not largest < index <= most:
                    at = UNDECIDED
                    break
                value, at = decimal(text, at + 1, end, exact, leading)
                if at == UNDECIDED:
                    break
                largest = index
                if value != 0.0:
                    indices[kept], values[kept] = index - 1, value
                    kept += 1
            if at == UNDECIDED:
                break
            places[row, 0], places[row, 1] = lines, -1
            if at < end and text[at] == 35:
                places[row, 1] = at
            ends[row] = kept
            row += 1
        while at < end and text[at] != 10:
            at += 1
        start = min(at + 1, end)
        lines += 1
        stored = kept
        width = max(width, largest)
    counts[0], counts[1], counts[2], counts[3] = row, stored, lines, width
    return start


@compiled
def _after_blanks(text: NDArray[np.uint8], at: int, end: int) -> int:
    while at < end and (text[at] == 32 or text[at] == 9):
        at += 1
    return at


@compiled
def _ends_line(text: NDArray[np.uint8], at: int, end: int) -> bool:
    """Say whether the line ends here, or its comment begins: a carriage return ends it, as no other is in a block."""
    return at >= end or text[at] == 10 or text[at] == 35 or text[at] == 13


@compiled
def _whole(text: NDArray[np.uint8], at: int, end: int) -> tuple[Any, int]:
    """Read a whole number of some 18 digits: see `decimal`."""
    negative = at < end and text[at] == 45
    if negative:
        at += 1
    first, number = at, np.int64(0)
    while at < end and np.uint8(text[at] - np.uint8(48)) <= 9:
        number = number * 10 + np.int64(text[at]) - 48
        at += 1
    if not 0 < at - first <= _MOST_DIGITS:
        return np.int64(0), UNDECIDED
    return -number if negative else number, at
