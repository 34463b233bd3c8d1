"""Tables in the formats of files, and of terminals by rich."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from textwrap import fill
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable

from structsvm.exceptions import InputError, printable
from structsvm.settings import as_list, as_names, require_kind
from structsvm.tables.base import Table

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = "structsvm.tables"
_WIDEST = 10_000
_LINE = 100
_FORMULA = re.compile("'*[\n=+@\uff1d\uff0b\uff20\uff0d-]")
"""How a text begins that spreadsheets compute; the signs of full width are those of East Asian keyboards."""

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        '"': r"\textquotedbl{}",
        "|": r"\textbar{}",
        "[": "{[}",  # after the end of a row, this and a star have a meaning
        "*": r"\textasteriskcentered{}",
        **{character: "\\" + character for character in "&%$#_{}"},
    }
)


def as_text(table: Table) -> str:
    """Return a table as text: title, headings, rows, and its notes in lines of up to 100 characters.

    Parameters
    ----------
    table : the table.

    Examples
    --------
    >>> from structsvm.tables import Column, Table, as_text
    >>> columns = (Column.text("loss", "loss"), Column.number("MAP", "map", ".2f"))
    >>> print(as_text(Table("Test queries", columns, (({"loss": "map", "map": 0.715},),))))
    Test queries
    loss    MAP
    ───────────
    map    0.71
    """
    _checked([table])
    file = io.StringIO()
    console = Console(file=file, width=_WIDEST, color_system=None, highlight=False, markup=False, emoji=False)
    console.print(lay_out(table.headings, table.cells, [column.right for column in table.columns]))
    rows = "\n".join(line.rstrip() for line in file.getvalue().splitlines())
    title, *notes = map(printable, (table.title, *table.notes))
    return "\n".join([*filter(None, [title]), rows, *(("\n" + fill(note, _LINE)) for note in notes), ""])


def lay_out(
    headings: Sequence[str], sections: Iterable[Iterable[Sequence[str]]], to_the_right: Sequence[bool]
) -> RichTable:
    """Return a table for rich to print.

    Parameters
    ----------
    headings : headings of the columns.
    sections : rows of cells, in groups with an empty line between them.
    to_the_right : whether each column is aligned to the right.

    Examples
    --------
    >>> from rich.console import Console
    >>> from structsvm.tables import lay_out
    >>> table = lay_out(["loss", "MAP"], [[["map", "0.71"], ["ndcg", "0.69"]]], to_the_right=[False, True])
    >>> Console(width=40, color_system=None).print(table)
    loss    MAP
    ───────────
    map    0.71
    ndcg   0.69
    """
    laid_out = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    for heading, right in zip(headings, to_the_right, strict=True):
        laid_out.add_column(printable(heading), justify="right" if right else "left", no_wrap=right, overflow="fold")
    for section in sections:
        for row in section:
            laid_out.add_row(*map(printable, row))
        laid_out.add_section()
    return laid_out


def as_markdown(tables: Sequence[Table], *, escaped: bool = True) -> str:
    """Return tables as Markdown, in the flavour of GitHub, which has no sections.

    Parameters
    ----------
    tables : the tables.
    escaped : show texts as they are; False: they are Markdown themselves.

    Examples
    --------
    >>> from structsvm.tables import Column, Table, as_markdown
    >>> columns = (Column.text("loss", "loss"), Column.number("MAP", "map", ".2f"))
    >>> print(as_markdown([Table("Test queries", columns, (({"loss": "map", "map": 0.715},),))]))
    **Test queries**
    <BLANKLINE>
    | loss | MAP |
    |---|---:|
    | map | 0.71 |
    """
    shown = escape_markdown if escaped else str
    return environment(_TEMPLATES).get_template("tables.md.j2").render(tables=_checked(tables), shown=shown)


def as_latex(tables: Sequence[Table]) -> str:
    r"""Return tables as LaTeX: a ``table`` each, which needs the packages booktabs and fontenc (T1).

    Parameters
    ----------
    tables : the tables; there is a rule between their sections, and the notes are below.

    Examples
    --------
    >>> from structsvm.tables import Column, Table, as_latex
    >>> columns = (Column.text("loss", "loss"), Column.number("MAP", "map", ".2f"))
    >>> print(as_latex([Table("Test queries", columns, (({"loss": "map", "map": 0.715},),))]))
    % Needs \usepackage{booktabs} and \usepackage[T1]{fontenc}.
    <BLANKLINE>
    \begin{table}
      \centering\small
      \caption{Test queries}
      \begin{tabular}{lr}
        \toprule
        loss & MAP \\
        \midrule
        map & 0.71 \\
        \bottomrule
      \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    return environment(_TEMPLATES).get_template("tables.tex.j2").render(tables=_checked(tables))


def as_csv(tables: Sequence[Table], names: Iterable[str] | None = None) -> str:
    """Return the records of tables as CSV, with one line of headings; what is None is empty.

    Numbers stay numbers. Texts are `printable`, and those that a spreadsheet would take for formulas (they begin with
    ``=``, ``+``, ``-``, ``@`` or the end of a line, and are no numbers) have an apostrophe in front of them, as OWASP
    advises; so have those that begin with apostrophes and such a sign, so that texts that differ are told apart. JSON
    keeps texts as they are.

    Parameters
    ----------
    tables : the tables.
    names : names of the columns; None: those of the first record.

    Raises
    ------
    InputError : a record has other names than the first one.

    Examples
    --------
    >>> from structsvm.tables import Column, Table, as_csv
    >>> print(as_csv([Table("Test queries", (Column.text("loss", "loss"),), (({"loss": "map", "map": 0.715},),))]))
    loss,map
    map,0.715
    """
    text = io.StringIO()
    records = [record for table in _checked(tables) for record in table.records]
    columns = tuple(records[0] if records else ()) if names is None else as_names("names", names)
    for number, record in enumerate(records):
        if not set(record) <= set(columns):
            raise InputError(
                f"row {number} has the values {', '.join(map(repr, record))}, and the columns are "
                f"{', '.join(map(repr, columns))}: all rows of a CSV file have the same names"
            )
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _harmless(value) for name, value in record.items()} for record in records)
    return text.getvalue()


def as_json(tables: Sequence[Table]) -> str:
    """Return tables as a JSON list of objects with ``title``, ``rows`` (the records) and ``notes``.

    Parameters
    ----------
    tables : the tables.

    Raises
    ------
    InputError : a number is not finite, or a value is of a kind that JSON does not have.

    Examples
    --------
    >>> from structsvm.tables import Column, Table, as_json
    >>> print(as_json([Table("Test queries", (Column.text("loss", "loss"),), (({"loss": "map", "map": 0.715},),))]))
    [
      {
        "title": "Test queries",
        "rows": [
          {
            "loss": "map",
            "map": 0.715
          }
        ],
        "notes": []
      }
    ]
    """
    content = [{"title": table.title, "rows": table.records, "notes": table.notes} for table in _checked(tables)]
    try:
        text = json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"a table has a value that JSON cannot hold: {error}. Use finite numbers and texts") from None
    return re.sub(r"[^\n]", lambda sign: sign[0] if sign[0].isprintable() else json.dumps(sign[0])[1:-1], text) + "\n"


def _checked(tables: Sequence[Table]) -> list[Table]:
    """Return tables as a list; raise InputError if one of them is not a Table."""
    found = as_list("tables", tables, "a list of Table")
    for table in found:
        require_kind("each of tables", table, Table, "a Table")
    return found


def _harmless(value: object) -> object:
    """Return a value for a cell of a spreadsheet."""
    if not isinstance(value, str):
        return value
    text = "\n".join(map(printable, value.split("\n")))
    return f"'{text}" if _FORMULA.match(text) and not _is_numeral(text) else text


def _is_numeral(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def escape_latex(text: str) -> str:
    """Return text that LaTeX sets as it is, if it is `printable`."""
    return printable(text).translate(_LATEX)


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, if it is `printable`, in a cell of a table too."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", printable(" ".join(text.split())))


def page_style() -> str:
    """Return the style sheet of HTML pages."""
    return (files(_TEMPLATES) / "templates" / "page.css").read_text(encoding="utf-8")


@cache
def environment(package: str) -> "Environment":
    """Return Jinja's environment for the folder ``templates`` of a package; values are `printable`, in HTML escaped.

    The templates that are here, ``parts.html.j2`` of pages among them, are known in every one. The filter ``latex``
    escapes values in LaTeX.

    Parameters
    ----------
    package : such as ``"structsvm.tables"``.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape

    made = Environment(
        loader=ChoiceLoader([PackageLoader(each) for each in dict.fromkeys((package, _TEMPLATES))]),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: printable(value) if type(value) is str else value,  # not markup
    )
    made.filters["latex"] = escape_latex
    return made
