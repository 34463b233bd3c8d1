"""A block of lines in LETOR's format: read by compiled loops, and line by line where these do not pay or do not help.

The compiled loop knows the plain form of a line and stops where one is not of it. Whether that line is right and what
it holds, `parse_line` says, which has the rules; then the loop goes on behind it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from structsvm.data.blocks import Block
from structsvm.data.letor_line import LARGEST_INDEX, NO_ID, WHOLE, BeyondError, Form, document_id, parse_line
from structsvm.data.letor_space import LINES, ROWS, Space, make_space
from structsvm.types import IntVector, Vector

WORTH_COMPILING = 2**17
"""Bytes of a block from which the compiled loop is used: it takes as long to be loaded as Python reads these."""


class Rows(NamedTuple):
    """What a block holds.

    Parameters
    ----------
    labels, queries : label and query id of each row, shape (n,); NaN and 0 where there is none.
    ends : number of stored features up to the end of each row, shape (n,).
    indices, values : the features that are not 0, row after row; indices count from 0.
    width : largest feature index in the block, counted from 1, also of a feature that is 0; 0 without features.
    doc_ids : document ids; None if they were not asked for.
    """

    labels: Vector
    queries: IntVector
    ends: IntVector
    indices: NDArray[np.int32]
    values: NDArray[np.floating[Any]]
    width: int
    doc_ids: list[str] | None


def parse_block(
    block: Block,
    n_features: int | None,
    *,
    doc_ids: bool,
    beyond: str | None,
    form: Form = WHOLE,
    dtype: DTypeLike = np.float64,
) -> Rows:
    """Return what a block holds.

    Parameters
    ----------
    block : the block.
    n_features : largest feature index allowed; None: any.
    doc_ids : whether to read document ids.
    beyond : what is said of a feature that is not allowed; None: what `parse_line` says.
    form : what stands before the features.
    dtype : of the values; float32 has the number nearest to the float64 that is nearest to the decimal digits.

    Raises
    ------
    DataFormatError : at the first line that breaks a rule, or has no document id where these are asked for.
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
                _narrowed(block, space, dtype)
                if doc_ids:
                    _doc_ids(block, space)
                said = beyond if beyond and isinstance(fault, BeyondError) else str(fault)
                raise block.fault(int(space.counts[LINES]), said) from None
            at = end
    rows, stored, _, width = space.counts.tolist()
    return Rows(
        space.labels[:rows],
        space.queries[:rows],
        space.ends[:rows],
        space.indices[:stored],
        _narrowed(block, space, dtype),
        width,
        _doc_ids(block, space) if doc_ids else None,
    )


def _compiled(n_features: int | None, form: Form) -> Callable[[NDArray[np.uint8], int, Space], int] | None:
    """Return the compiled loop, which is loaded here; None where nothing is compiled."""
    from structsvm.compute.environment import numba

    if numba.config.DISABLE_JIT:
        return None
    from structsvm.compute.decimals import powers_of_ten
    from structsvm.data.letor_plain import read_plain

    most = min(n_features or LARGEST_INDEX, LARGEST_INDEX)
    return lambda text, at, space: read_plain(text, at, most, *form, *powers_of_ten(), space)


def _narrowed(block: Block, space: Space, dtype: DTypeLike) -> NDArray[np.floating[Any]]:
    """Return the values in this type, where all of them are finite in it."""
    rows, stored = space.counts[:2].tolist()
    values = space.values[:stored]
    if np.dtype(dtype) == values.dtype:
        return values
    with np.errstate(over="ignore"):
        narrow: NDArray[np.floating[Any]] = values.astype(dtype)
    beyond = np.flatnonzero(~np.isfinite(narrow))
    if len(beyond):
        line = int(space.places[np.searchsorted(space.ends[:rows], beyond[0], side="right"), 0])
        raise block.fault(
            line,
            f"the value of feature {space.indices[beyond[0]] + 1}, {values[beyond[0]]:g}, is beyond {np.dtype(dtype)}: "
            "read the file as float64",
        )
    return narrow


def _read_line(line: bytes, at: int, n_features: int | None, form: Form, space: Space) -> None:
    """Write what a line holds that begins at a place of its block."""
    parsed = parse_line(line, n_features, form)
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
    for line, comment in space.places[: space.counts[ROWS]].tolist():
        try:
            if comment < 0:
                raise ValueError(NO_ID)
            end = block.content.find(b"\n", comment)
            found.append(document_id(block.content, comment, len(block.content) if end < 0 else end))
        except ValueError as fault:
            raise block.fault(line, str(fault)) from None
    return found
