"""Formats of lines of runs and judgments, and the search for a faulty line, which runs after the reader has failed."""

import math
import re
from collections.abc import Iterable

from attrs import evolve, frozen

from structsvm.data.blocks import Block, is_plain_number
from structsvm.data.pairs import MOST_CHARACTERS
from structsvm.exceptions import DataFormatError, quoted

_MOST_COLUMNS = 20
"""Largest number of columns that are split and counted."""

RANK_CHARACTERS = b"0123456789+-."

_NO_BLANK = ": does a topic or document id contain a blank? Replace it, for example by an underscore"

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

_BLANK_BETWEEN_TABS = re.compile(r"[^\t]+\t *[^ \t]+ +[^ \t]+ *\t[^\t]+")

_HEADINGS = {
    "topic": "topic topicid query queryid qid",
    "Q0": "q0",
    "iteration": "iteration iter q0",
    "document": "document documentid doc docid docno corpusid passageid pid",
    "rank": "rank",
    "score": "score",
    "name": "name run runid runname tag system",
    "grade": "grade label rel relevance relevant score",
}
"""Headings of columns in the files of other tools, without - and _, by the name of the column here."""


def form_of(block: Block, form: LineFormat) -> tuple[LineFormat, Block]:
    """Return the format of a file by its first line, and its first block without the header."""
    first = _FIRST.search(block.content)
    line = first[0].decode(errors="replace").strip(" \t\r") if first else ""
    cells = BLANKS.split(line, _MOST_COLUMNS)
    columns = _header(cells, form)
    if first and columns is not None:
        named = evolve(form, name=f"{form.name} with this header", columns=columns, open=False, otherwise="")
        return named, evolve(block, content=block.content[: first.start()] + block.content[first.end() :])
    # A document id with a blank, between tabs, adds a column.
    three = len(cells) == len(THREE_COLUMNS.columns) or _BLANK_BETWEEN_TABS.fullmatch(line)
    return (THREE_COLUMNS if three and form is QRELS and _is_number(cells[-1], form) else form), block


def _header(cells: list[str], form: LineFormat) -> tuple[str, ...] | None:
    """Return the columns that a header names, or None if the line is not a header."""
    names = {heading: column for column in form.columns for heading in _HEADINGS[column].split()}
    columns = [names.get(re.sub("[-_]", "", cell).lower(), "") for cell in cells]
    valid = {"topic", "document", form.number} <= set(columns) and len(set(columns)) == len(columns)
    return tuple(columns) if valid and "" not in columns else None


def first_fault(block: Block, form: LineFormat) -> DataFormatError | None:
    """Return the error of the first faulty line, or None."""
    for number, line in enumerate(block.content.split(b"\n")):
        try:
            _check_line(line, form)
        except ValueError as fault:
            return block.fault(number, str(fault))
    return None


def other_order(
    topics: Iterable[str], second: Iterable[str], third: Iterable[str], grades: Iterable[float]
) -> str | None:
    """Return an error message if the second of the four columns of judgments seems to have the documents, else None."""
    ids, values = set(second), set(third)
    if len(ids) <= len(values):
        return None
    relevant = any(grades)
    names = [*topics, *ids]
    # awk's numbers have no leading zeros, so 01 becomes 1.
    number = " + 0" if are_numbers(names) and any(name.startswith("0") for name in names) else ""
    why = "" if relevant else ", if all documents that it lists are relevant"
    example = ", ".join(map(quoted, sorted(values)[:3])) + (", ..." if len(values) > 3 else "")
    return (
        f"{QRELS.line}, but in this file the second column, with {len(ids)} different values, seems to have the "
        f"documents instead of the third, with {example}. Put the columns in order: "
        f"awk '{{print $1{number}, 0, $2{number}, {'$4' if relevant else 1}}}' FILE > NEW{why}"
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
    if "rank" in form.columns:
        rank = cells[form.columns.index("rank")]
        if not is_rank(rank):
            raise ValueError(f"the rank {quoted(rank)} is not a number, in {shown}{_NO_BLANK}")
        if len(cells) > len(form.columns) and is_plain_number(cells[len(form.columns) - 1]):
            raise ValueError(f"there are {len(cells)} columns in {shown}, and the sixth is a number{_NO_BLANK}")
    for column in ("topic", "document"):
        text = cells[form.columns.index(column)]
        if len(text) > MOST_CHARACTERS:
            raise ValueError(f"the {column} has {len(text)} characters, in {shown}: it may have {MOST_CHARACTERS}")


def are_numbers(names: Iterable[str]) -> bool:
    """Return whether all names have only the digits 0 to 9."""
    return all(name.isascii() and name.isdecimal() for name in names)


def is_rank(text: str) -> bool:
    """Return whether a text may be a rank: digits, signs and points."""
    return not text.encode().translate(None, RANK_CHARACTERS)


def _hint(cells: list[str], form: LineFormat) -> str:
    """Return advice if the line is in another format."""
    if len(cells) == 1 and cells[0].count(",") >= 2:
        return r". Commas separate its columns: convert it with tr ',' '\t' < FILE > NEW"
    if form is RUN and len(cells) == len(THREE_COLUMNS.columns):
        return (
            ". If its third column is the rank, as in MS MARCO's runs, convert it with awk "
            '\'{print $1, "Q0", $2, $3, -$3, "NAME"}\' FILE > NEW; if it is the score, with awk '
            '\'{print $1, "Q0", $2, NR, $3, "NAME"}\' FILE > NEW'
        )
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
