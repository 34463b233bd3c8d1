"""Find the faulty line of a TREC file. The search is slow, so it runs only after the reader has failed."""

import math
import re
from collections.abc import Iterable

from attrs import frozen

from structsvm.data.blocks import Block, is_plain_number
from structsvm.data.pairs import MOST_CHARACTERS
from structsvm.exceptions import DataFormatError, quoted

_MOST_COLUMNS = 20
"""Largest number of columns that are split and counted."""

BLANKS = re.compile(r"[ \t\r\n]+")
"""Separators of columns and lines; other white space may be part of an id."""


@frozen
class LineFormat:
    """A format with one document per line; ``number`` is the numeric column, and ``otherwise`` names another form."""

    name: str
    columns: tuple[str, ...]
    number: str
    whole: bool
    open: bool
    otherwise: str = ""

    @property
    def line(self) -> str:
        """Description of a line for messages."""
        columns = " ".join(column if column == "Q0" else f"<{column}>" for column in self.columns)
        return f"a line of {self.name} reads '{columns}'{self.otherwise}"


RUN = LineFormat("a run", ("topic", "Q0", "document", "rank", "score", "name"), "score", whole=False, open=True)
QRELS = LineFormat(
    "qrels",
    ("topic", "iteration", "document", "grade"),
    "grade",
    whole=True,
    open=False,
    otherwise=", or every line '<topic> <document> <grade>'",
)
THREE_COLUMNS = LineFormat(
    "qrels whose first line has three columns", ("topic", "document", "grade"), "grade", whole=True, open=False
)

_FIRST = re.compile(rb"^(?!#).*[^ \t\r\n].*$", re.MULTILINE)


def form_of_qrels(block: Block) -> LineFormat:
    """Return the format of judgments: `THREE_COLUMNS` if the first line has three, the last a number."""
    found = _FIRST.search(block.content)
    cells = found[0].decode(errors="replace").strip(" \t\r") if found else ""
    columns = BLANKS.split(cells, _MOST_COLUMNS)
    three = len(columns) == len(THREE_COLUMNS.columns) and _is_number(columns[-1], THREE_COLUMNS)
    return THREE_COLUMNS if three else QRELS


def first_fault(block: Block, form: LineFormat) -> DataFormatError | None:
    """Return the error of the first faulty line, or None."""
    for number, line in enumerate(block.content.split(b"\n")):
        try:
            _check_line(line, form)
        except ValueError as fault:
            return block.fault(number, str(fault))
    return None


def other_order(second: Iterable[str], third: Iterable[str], grades: Iterable[float]) -> str | None:
    """Return an error message if the second of the four columns of judgments seems to have the documents, else None."""
    ids, values = set(second), set(third)
    if len(ids) <= len(values):
        return None
    relevant = any(grades)
    why = "" if relevant else ", if all documents that it lists are relevant"
    example = ", ".join(map(quoted, sorted(values)[:3])) + (", ..." if len(values) > 3 else "")
    return (
        f"{QRELS.line}, but in this file the second column, with {len(ids)} different values, seems to have the "
        f"documents instead of the third, with {example}. Put the columns in order: "
        f"awk '{{print $1, 0, $2, {'$4' if relevant else 1}}}' FILE > NEW{why}"
    )


def _check_line(line: bytes, form: LineFormat) -> None:
    """Raise ValueError with a message unless the line is blank, a comment, or valid."""
    if line.startswith(b"#"):
        return
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise ValueError(
            f"this is not text: {quoted(line)} is not UTF-8. TREC files are text in UTF-8, plain or compressed"
        ) from None
    text = text.strip(" \t\r")
    if not text:
        return
    # str.split would also split at other white space.
    cells = BLANKS.split(text, _MOST_COLUMNS)
    shown = quoted(text)
    if len(cells) < len(form.columns) or (len(cells) > len(form.columns) and not form.open):
        columns = "is 1 column" if len(cells) == 1 else f"are {len(cells)} columns"
        if len(cells) > _MOST_COLUMNS:
            columns = f"are more than {_MOST_COLUMNS} columns"
        raise ValueError(f"there {columns} in {shown}, but {form.line}{_hint(cells, form)}")
    number = cells[form.columns.index(form.number)]
    if not _is_number(number, form):
        what = "a 64-bit whole number" if form.whole else "a finite number"
        raise ValueError(f"the {form.number} {quoted(number)} is not {what}, in {shown}; {form.line}")
    for column, text in (("topic", cells[0]), ("document", cells[form.columns.index("document")])):
        if len(text) > MOST_CHARACTERS:
            raise ValueError(f"the {column} has {len(text)} characters, in {shown}: it may have {MOST_CHARACTERS}")


def _hint(cells: list[str], form: LineFormat) -> str:
    """Return advice if the line is in the other format."""
    other = QRELS if form is RUN else RUN
    fits = len(cells) == len(other.columns) or (other.open and len(cells) > len(other.columns))
    if fits and _is_number(cells[other.columns.index(other.number)], other):
        return f". This looks like a line of {other.name}: are the two files swapped?"
    return ""


def _is_number(text: str, form: LineFormat) -> bool:
    if not is_plain_number(text):
        return False
    try:
        number = as_grade(text) if form.whole else float(text)
    except ValueError:
        return False
    return math.isfinite(number)


def as_grade(text: str) -> int:
    """Parse a whole number such as 1 or 1.0; raise ValueError if it does not fit 64 bits."""
    try:
        number: float = int(text)
    except ValueError:
        number = float(text)
    if not -(2**63) <= number < 2**63 or number != int(number):
        raise ValueError(f"{text} is not a 64-bit whole number")
    return int(number)
