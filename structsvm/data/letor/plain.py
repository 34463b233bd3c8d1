"""Compiled parser for plain lines in LETOR's format; it stops at lines in another form."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.compute.decimals import UNDECIDED, decimal
from structsvm.foundation.types import Vector

_MOST_DIGITS = 18


@compiled
def read_plain(
    text: NDArray[np.uint8],
    at: int,
    most: int,
    with_labels: bool,
    with_queries: bool,
    first_index: int,
    exact: Vector,
    leading: NDArray[np.uint64],
    space: tuple[Any, ...],
) -> int:
    """Append plain lines from ``at`` on to a `Space`; return the start of the first other line, or the end."""
    labels, queries, ends, places, indices, values, counts = space
    end = len(text)
    row, stored, lines, width = counts[0], counts[1], counts[2], counts[3]
    start = at
    while start < end:
        at = _after_blanks(text, start, end)
        entries, largest = stored, 0
        if not _ends_line(text, at, end):
            first = at
            labels[row], at = decimal(text, at, end, exact, leading)
            if not with_labels and (text[first] == 113 or (at != UNDECIDED and at < end and text[at] == 58)):
                labels[row], at = np.nan, first
            elif at == UNDECIDED or (
                at == _after_blanks(text, at, end) and (with_queries or not _ends_line(text, at, end))
            ):
                break
            at = _after_blanks(text, at, end)
            queries[row] = 0
            if with_queries:
                if at + 4 >= end or text[at] != 113 or text[at + 1] != 105 or text[at + 2] != 100 or text[at + 3] != 58:
                    break
                queries[row], at = _whole(text, at + 4, end)
                if at == UNDECIDED:
                    break
                # A merge with missing rows has made floats of the ids.
                if at + 1 < end and text[at] == 46 and text[at + 1] == 48:
                    at += 2
                    while at < end and text[at] == 48:
                        at += 1
            begin = -1 if with_queries else at
            while True:
                after = _after_blanks(text, at, end)
                if _ends_line(text, after, end):
                    at = after
                    break
                if after == at and at != begin:
                    at = UNDECIDED
                    break
                index, at = _whole(text, after, end)
                index += 1 - first_index
                if at == UNDECIDED or at >= end or text[at] != 58 or not largest < index <= most:
                    at = UNDECIDED
                    break
                value, at = decimal(text, at + 1, end, exact, leading)
                if at == UNDECIDED:
                    break
                largest = index
                if value != 0.0:
                    indices[entries], values[entries] = index - 1, value
                    entries += 1
            if at == UNDECIDED:
                break
            places[row, 0], places[row, 1] = lines, -1
            if at < end and text[at] == 35:
                places[row, 1] = at
            ends[row] = entries
            row += 1
        while at < end and text[at] != 10:
            at += 1
        start = min(at + 1, end)
        lines += 1
        stored = entries
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
    """Return whether the line ends or its comment begins; blocks have carriage returns only at line ends."""
    return at >= end or text[at] == 10 or text[at] == 35 or text[at] == 13


@compiled
def _whole(text: NDArray[np.uint8], at: int, end: int) -> tuple[Any, int]:
    """Read a whole number of about 18 digits, see `decimal`."""
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
