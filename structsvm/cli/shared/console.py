"""Print tables, notes and progress."""

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from shutil import get_terminal_size
from textwrap import wrap
from typing import TextIO

import click
from attrs import evolve
from rich.cells import cell_len

from structsvm.exceptions import printable
from structsvm.foundation.tables.layout import GAP, lay_out
from structsvm.foundation.tables.table import Column, Table, with_notes_once

_LINE_EVERY = 30.0
"""Seconds between lines of progress if standard error is not a terminal."""


def echo(*lines: str, err: bool = False) -> None:
    """Print lines with control characters escaped."""
    click.echo("\n".join(map(printable, lines)), err=err)


def echo_wrapped(*paragraphs: str, err: bool = False, indent: int = 0) -> None:
    """Print paragraphs, wrapped on a terminal and indented from the second line."""
    width = _terminal_width(sys.stderr if err else sys.stdout)
    for text in map(printable, paragraphs):
        lines = [text] if width is None else wrap(text, width, subsequent_indent=" " * indent, break_on_hyphens=False)
        click.echo("\n".join(lines), err=err)


def note(text: str) -> None:
    """Print a note on standard error, once per command."""
    context = click.get_current_context(silent=True)
    shown = set() if context is None else context.find_root().meta.setdefault(f"{__name__}.notes", set())
    if text not in shown:
        shown.add(text)
        echo_wrapped(f"structsvm: note: {text}", err=True, indent=2)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings for users as notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_where: note(str(message))
        yield


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of texts and an empty line."""
    columns = tuple(Column.text(heading, heading) for heading in headings)
    show_tables(Table("", columns, (tuple(dict(zip(headings, row, strict=True)) for row in rows),)))


def show_tables(*tables: Table) -> None:
    """Print tables, in parts that fit the terminal, with each note only once, below its first table."""
    width = _terminal_width(sys.stdout)
    for table in with_notes_once(tables):
        if table.title:
            echo_wrapped(table.title)
        for part in [table] if width is None else fitted(table, width):
            right = [column.right for column in part.columns]
            echo(*lay_out(part.headings, part.cells, right, width), "")
        for text in table.notes:
            echo_wrapped(text, "")


def fitted(table: Table, width: int) -> list[Table]:
    """Return a table, with wrapped text if needed, or several tables with the leading text columns each."""
    lines = [table.headings, *(row for section in table.cells for row in section)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    right = [column.right for column in table.columns]
    if sum(widths) + GAP * (len(widths) - 1) <= width or not any(right):
        return [table]
    keys = min(right.index(True), len(right) - 1)
    named = min(sum(widths[:keys]) + GAP * keys, width // 2)
    parts, used = [list(range(keys))], named
    for column in range(keys, len(widths)):
        if used + widths[column] > width and len(parts[-1]) > keys:
            parts.append(list(range(keys)))
            used = named
        parts[-1].append(column)
        used += widths[column] + GAP
    return [evolve(table, columns=tuple(table.columns[k] for k in part)) for part in parts]


def _terminal_width(stream: TextIO) -> int | None:
    return get_terminal_size().columns if stream.isatty() else None


@contextmanager
def progress_line(*, shown: bool = True) -> Iterator[Callable[[str], None]]:
    """Show a line on standard error if it is a terminal; yield a function that changes the text."""
    if not (shown and sys.stderr.isatty()):
        yield lambda text: None
        return
    from structsvm.cli.shared import live_progress

    with live_progress.line() as progress:
        task = progress.add_task("", total=None)
        yield lambda text: progress.update(task, description=printable(text))


@contextmanager
def progress_bar(what: str, *, shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar with the time left; yield a function of the number of finished steps and their total.

    Without a terminal, as in the log of a job, print a line every 30 seconds.
    """
    if not shown:
        yield lambda done, total: None
        return
    if not sys.stderr.isatty():
        yield _Lines(what)
        return
    from structsvm.cli.shared import live_progress

    with live_progress.bar() as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


class _Lines:
    """Lines of progress with the time left at the mean pace; the first call counts the steps of an earlier run."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = self._said = time.monotonic()
        self._before: int | None = None

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._before is None:
            self._before = done
        if now - self._said < _LINE_EVERY:
            return
        self._said, steps = now, done - self._before
        left = f", {_clock((now - self._began) / steps * (total - done))} left" if steps else ""
        echo(f"structsvm: {done} of {total} {self._what} after {_clock(now - self._began)}{left}", err=True)


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
