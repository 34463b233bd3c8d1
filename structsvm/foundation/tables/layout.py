"""Tables as lines of text."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len, chop_cells

from structsvm.exceptions import printable

GAP = 3
"""Blanks between columns."""


def lay_out(
    headings: Sequence[str],
    sections: Iterable[Iterable[Sequence[str]]],
    right: Sequence[bool],
    width: int | None = None,
) -> Iterator[str]:
    """Yield the lines of a table; ``right`` marks columns aligned to the right, and text is wrapped to ``width``."""
    head = list(map(printable, headings))
    groups = [[list(map(printable, row)) for row in rows] for rows in sections]
    every = [head, *(row for rows in groups for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*every, strict=True)]
    if width is not None:
        _narrow(widths, right, width)
    yield from _lines(head, widths, right)
    yield "─" * (sum(widths) + GAP * (len(widths) - 1))
    for number, rows in enumerate(groups):
        if number:
            yield ""
        for row in rows:
            yield from _lines(row, widths, right)


def _narrow(widths: list[int], right: Sequence[bool], width: int) -> None:
    """Narrow columns of text, the widest first, until the table fits a width or each has one cell."""
    texts = [column for column, number in enumerate(right) if not number]
    excess = sum(widths) + GAP * (len(widths) - 1) - width
    while excess > 0 and max((widths[column] for column in texts), default=1) > 1:
        widths[max(texts, key=widths.__getitem__)] -= 1
        excess -= 1


def _lines(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> Iterator[str]:
    """Yield the lines of a row, each cell wrapped at the width of its column."""
    wrapped = [
        [cell] if cell_len(cell) <= width else _wrapped(cell, width) for cell, width in zip(row, widths, strict=True)
    ]
    for cells in zip_longest(*wrapped, fillvalue=""):
        columns = []
        for cell, width, to_the_right in zip(cells, widths, right, strict=True):
            blanks = " " * (width - cell_len(cell))
            columns.append(blanks + cell if to_the_right else cell + blanks)
        yield (" " * GAP).join(columns).rstrip()


def _wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text, wrapped at blanks, and within words that are wider than a line."""
    lines = [""]
    for word in text.split():
        if cell_len(f"{lines[-1]} {word}".strip()) <= width:
            lines[-1] = f"{lines[-1]} {word}".strip()
        else:
            lines += chop_cells(word, width)
    return lines if lines[0] else lines[1:]
