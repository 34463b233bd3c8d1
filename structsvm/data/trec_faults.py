"""What is wrong with a TREC file, and in which line. Slow, so read only after the reader has failed."""

import gzip
import math
import re
from codecs import BOM_UTF8
from pathlib import Path

from attrs import frozen

from structsvm.data.pairs import MOST_CHARACTERS
from structsvm.exceptions import DataFormatError
from structsvm.files import open_bytes

BLANKS = re.compile(r"[ \t\r\n]+")
"""What separates columns and lines; other white space may be part of an id."""


@frozen
class Format:
    """A file format: one document a line, in columns that blanks or tabs separate.

    Parameters
    ----------
    name : what a file of it is called.
    columns : names of its columns.
    number : the column that is a number.
    whole : whether that number must be whole.
    open : whether a line may have more columns, which are ignored.
    """

    name: str
    columns: tuple[str, ...]
    number: str
    whole: bool
    open: bool

    @property
    def line(self) -> str:
        """How a line reads."""
        columns = " ".join(column if column == "Q0" else f"<{column}>" for column in self.columns)
        return f"a line of {self.name} reads '{columns}'"


RUN = Format("a run", ("topic", "Q0", "document", "rank", "score", "name"), "score", whole=False, open=True)
QRELS = Format("qrels", ("topic", "iteration", "document", "grade"), "grade", whole=True, open=False)


def first_fault(path: Path, form: Format) -> DataFormatError | None:
    """Return the error of the first faulty line, or None if no line is at fault.

    Parameters
    ----------
    path : the file, plain or gzip.
    form : what it should be.
    """
    seen: dict[tuple[str, str], int] = {}
    with open_bytes(path) as file:
        misnamed = path.suffix == ".gz" and not isinstance(file, gzip.GzipFile)
        for number, line in enumerate(file, start=1):
            try:
                pair = _check_line(line.removeprefix(BOM_UTF8) if number == 1 else line, form)
                if pair is not None and pair in seen:
                    raise ValueError(
                        f"document {pair[1]!r} is in topic {pair[0]!r} twice, first in line {seen[pair]}; leave one out"
                    )
            except ValueError as fault:
                hint = "; in spite of its name the file is not compressed with gzip" if misnamed else ""
                return DataFormatError(path, number, f"{fault}{hint}")
            if pair is not None:
                seen[pair] = number
    return None


def _check_line(line: bytes, form: Format) -> tuple[str, str] | None:
    """Return topic and document, None for a blank line or a comment; ValueError has the fault as its message."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise ValueError(
            "this is not text; TREC files are text in UTF-8 or ASCII, plain or compressed with gzip"
        ) from None
    if "\0" in text:
        raise ValueError("this is binary or UTF-16, not text; TREC files are UTF-8 or ASCII, plain or gzip")
    cells = [cell for cell in BLANKS.split(text) if cell]  # str.split would split at more than these
    if not cells or text.startswith("#"):
        return None
    shown = text.strip() if len(text) <= 100 else f"{text[:100].strip()}..."
    if len(cells) < len(form.columns) or (len(cells) > len(form.columns) and not form.open):
        columns = "is 1 column" if len(cells) == 1 else f"are {len(cells)} columns"
        raise ValueError(f"there {columns} in '{shown}', but {form.line}{_hint(cells, form)}")
    _check_number(cells[form.columns.index(form.number)], shown, form)
    for column, text in (("topic", cells[0]), ("document", cells[2])):
        if len(text) > MOST_CHARACTERS:
            raise ValueError(f"the {column} has {len(text)} characters, in '{shown}'; it may have {MOST_CHARACTERS}")
    return cells[0], cells[2]


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
        raise ValueError(f"the {form.number} {text!r} is not {what}, in '{shown}'; {form.line}")


def _is_number(text: str, form: Format) -> bool:
    if not is_plain(text):
        return False
    try:
        return -(2**63) <= int(text) < 2**63 if form.whole else math.isfinite(float(text))
    except ValueError:
        return False


def is_plain(text: str) -> bool:
    """Say whether a text has nothing that Python reads in numbers and other tools do not, as in ``1_000``."""
    return "_" not in text and text.isascii()
