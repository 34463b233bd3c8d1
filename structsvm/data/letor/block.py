"""Parse a block of lines in LETOR's format: plain lines in a compiled loop, other lines by `parse_line`."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from structsvm.data.blocks import Block
from structsvm.data.letor.line import LARGEST_INDEX, NO_ID, WHOLE, BeyondError, LineForm, document_id, parse_line
from structsvm.foundation.types import IntVector, Vector

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
    from structsvm.data.letor.plain import read_plain
    from structsvm.foundation.compute.decimals import powers_of_ten

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
