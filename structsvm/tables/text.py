"""Tables as text of fixed width, by rich."""

import io
from collections.abc import Iterable, Sequence
from textwrap import fill

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable

from structsvm.tables.base import Table

_WIDEST = 10_000
_LINE = 100


def as_text(table: Table) -> str:
    """Return a table as text: title, headings, rows, and its notes in lines of up to 100 characters."""
    file = io.StringIO()
    console = Console(file=file, width=_WIDEST, color_system=None, highlight=False, markup=False, emoji=False)
    console.print(lay_out(table.headings, table.cells, [column.right for column in table.columns]))
    rows = "\n".join(line.rstrip() for line in file.getvalue().splitlines())
    return "\n".join([*filter(None, [table.title]), rows, *(("\n" + fill(note, _LINE)) for note in table.notes), ""])


def lay_out(
    headings: Sequence[str], sections: Iterable[Iterable[Sequence[str]]], to_the_right: Sequence[bool]
) -> RichTable:
    """Return a table for rich to print.

    Parameters
    ----------
    headings : of the columns.
    sections : rows of cells, in groups with an empty line between them.
    to_the_right : whether each column is aligned to the right.
    """
    laid_out = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    for heading, right in zip(headings, to_the_right, strict=True):
        laid_out.add_column(heading, justify="right" if right else "left")
    for section in sections:
        for row in section:
            laid_out.add_row(*row)
        laid_out.add_section()
    return laid_out
