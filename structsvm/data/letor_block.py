"""A block of lines in LETOR's format: read by compiled loops, and line by line where these do not pay or do not help.

The compiled loop knows the plain form of a line and stops where one is not of it. Whether that line is right and what
it holds, `parse_line` says, which has the rules; then the loop goes on behind it.
"""

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structsvm.data.blocks import Block
from structsvm.data.letor_line import LARGEST_INDEX, NO_ID, BeyondError, document_id, parse_line
from structsvm.types import IntVector, Vector

WORTH_COMPILING = 2**17
"""Bytes of a block from which the compiled loop is used: it takes as long to be loaded as Python reads these."""

WORTH_LOADING = 2**21
"""The same where numba is not loaded yet."""

_ROWS, _LINES = 0, 2
_SHORTEST_LINE, _SHORTEST_FEATURE = len("1 qid:1\n"), len(" 1:1")


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


class Space(NamedTuple):
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
    compile_it = len(content) >= (WORTH_COMPILING if "numba" in sys.modules else WORTH_LOADING)
    at = 0
    while at < len(content):
        if compile_it:
            from structsvm.data.letor_plain import read_plain

            at = read_plain(text, at, min(n_features or LARGEST_INDEX, LARGEST_INDEX), space)
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


def _make_space(size: int) -> Space:
    rows, features = size // _SHORTEST_LINE + 1, size // _SHORTEST_FEATURE + 1
    return Space(
        np.empty(rows),
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty((rows, 2), dtype=np.int64),
        np.empty(features, dtype=np.int32),
        np.empty(features),
        np.zeros(4, dtype=np.int64),
    )


def _read_line(line: bytes, at: int, n_features: int | None, space: Space) -> None:
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


def _doc_ids(block: Block, space: Space) -> list[str]:
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
