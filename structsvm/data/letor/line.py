"""Rules of a line in LETOR's format, and messages about violations."""

import math
import re
from array import array
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from structsvm.data.blocks import is_plain_number
from structsvm.data.pairs import MOST_CHARACTERS
from structsvm.exceptions import quoted

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
