"""What is wrong with lines of a TREC file. Slow, so asked only after the reader has failed."""

import math
import re
from collections.abc import Iterable

from attrs import frozen

from structsvm.data.blocks import Block, is_plain
from structsvm.data.pairs import MOST_CHARACTERS
from structsvm.exceptions import DataFormatError, quoted

_MOST_COLUMNS = 20
"""Columns that are told apart and counted."""

BLANKS = re.compile(r"[ \t\r\n]+")
"""What separates columns and lines; other white space may be part of an id."""

NO_WORD = re.compile(r"[ \t\r\n\0]")
"""What no id or name in a text file has in it: `BLANKS`, and NUL, which makes the file a binary one."""


@frozen
class Format:
    """A file format: one document a line, in columns that blanks or tabs separate.

    Parameters
    ----------
    name : what a file of it is called.
    columns : names of its columns.
    number : the column that is a number.
    whole : whether that number must be whole; `1.0` is whole, too.
    open : whether a line may have more columns, which are ignored.
    otherwise : what is said of another way to write it.
    """

    name: str
    columns: tuple[str, ...]
    number: str
    whole: bool
    open: bool
    otherwise: str = ""

    @property
    def line(self) -> str:
        """How a line reads."""
        columns = " ".join(column if column == "Q0" else f"<{column}>" for column in self.columns)
        return f"a line of {self.name} reads '{columns}'{self.otherwise}"


RUN = Format("a run", ("topic", "Q0", "document", "rank", "score", "name"), "score", whole=False, open=True)
QRELS = Format(
    "qrels",
    ("topic", "iteration", "document", "grade"),
    "grade",
    whole=True,
    open=False,
    otherwise=", or every line '<topic> <document> <grade>'",
)
THREE_COLUMNS = Format(
    "qrels whose first line has three columns", ("topic", "document", "grade"), "grade", whole=True, open=False
)

_FIRST = re.compile(rb"^(?!#).*[^ \t\r\n].*$", re.MULTILINE)


def form_of_qrels(block: Block) -> Format:
    """Return the format of judgments by their first line: `THREE_COLUMNS` if it has three, the last a number.

    Parameters
    ----------
    block : lines of a file, of which all before are blank or comments.
    """
    found = _FIRST.search(block.content)
    cells = found[0].decode(errors="replace").strip(" \t\r") if found else ""
    columns = BLANKS.split(cells, _MOST_COLUMNS)
    three = len(columns) == len(THREE_COLUMNS.columns) and _is_number(columns[-1], THREE_COLUMNS)
    return THREE_COLUMNS if three else QRELS


def first_fault(block: Block, form: Format) -> DataFormatError | None:
    """Return the error of the first faulty line, or None if no line is at fault.

    Parameters
    ----------
    block : lines of a file.
    form : what it should be.
    """
    for number, line in enumerate(block.content.split(b"\n")):
        try:
            _check_line(line, form)
        except ValueError as fault:
            return block.fault(number, str(fault))
    return None


def other_order(second: Iterable[str], third: Iterable[str], grades: Iterable[float]) -> str | None:
    """Return what is wrong if the second of four columns of judgments seems to hold the documents, else None.

    Parameters
    ----------
    second, third : the values of the two columns.
    grades : the values of the fourth.
    """
    ids, values = set(second), set(third)
    if len(ids) <= len(values):
        return None
    relevant = any(grades)
    why = "" if relevant else ", if all documents that it lists are relevant"
    example = ", ".join(map(quoted, sorted(values)[:3])) + (", ..." if len(values) > 3 else "")
    return (
        f"{QRELS.line}; in this file the second column, with {len(ids)} different values, seems to hold the documents, "
        f"and not the third, with {example}. Put the columns in order: "
        f"awk '{{print $1, 0, $2, {'$4' if relevant else 1}}}' FILE > NEW{why}"
    )


def _check_line(line: bytes, form: Format) -> None:
    """Raise ValueError, with the fault as its message, unless the line is blank, a comment, or right."""
    if line.startswith(b"#"):
        return
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise ValueError(
            "this is not text; TREC files are text in UTF-8 or ASCII, plain or compressed, "
            f"and {quoted(line)} is not UTF-8"
        ) from None
    text = text.strip(" \t\r")
    if not text:
        return
    cells = BLANKS.split(text, _MOST_COLUMNS)  # str.split would split at more than these
    shown = quoted(text)
    if len(cells) < len(form.columns) or (len(cells) > len(form.columns) and not form.open):
        columns = "is 1 column" if len(cells) == 1 else f"are {len(cells)} columns"
        if len(cells) > _MOST_COLUMNS:
            columns = f"are more than {_MOST_COLUMNS} columns"
        raise ValueError(f"there {columns} in {shown}, but {form.line}{_hint(cells, form)}")
    _check_number(cells[form.columns.index(form.number)], shown, form)
    for column, text in (("topic", cells[0]), ("document", cells[form.columns.index("document")])):
        if len(text) > MOST_CHARACTERS:
            raise ValueError(f"the {column} has {len(text)} characters, in {shown}; it may have {MOST_CHARACTERS}")


def _hint(cells: list[str], form: Format) -> str:
    """Say so if the line is one of the other format."""
    other = QRELS if form is RUN else RUN
    fits = len(cells) == len(other.columns) or (other.open and len(cells) > len(other.columns))
    if fits and _is_number(cells[other.columns.index(other.number)], other):
        return f". This looks like a line of {other.name}: are the two files swapped?"
    return ""


def _check_number(text: str, shown: str, form: Format) -> None:
    if not _is_number(text, form):
        what = "a whole number of 64 bits" if form.whole else "a finite number"
        raise ValueError(f"the {form.number} {quoted(text)} is not {what}, in {shown}; {form.line}")


def _is_number(text: str, form: Format) -> bool:
    if not is_plain(text):
        return False
    try:
        number = as_grade(text) if form.whole else float(text)
    except ValueError:
        return False
    return math.isfinite(number)


def as_grade(text: str) -> int:
    """Return a whole number, such as 1 or 1.0; ValueError if the text is none of 64 bits."""
    try:
        number: float = int(text)
    except ValueError:
        number = float(text)
    if not -(2**63) <= number < 2**63 or number != int(number):
        raise ValueError(f"{text} is not a whole number of 64 bits")
    return int(number)
