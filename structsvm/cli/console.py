"""Tables and the progress line."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as RichTable
from rich.text import Text

from structsvm.compute.compile_progress import what_is_compiled
from structsvm.exceptions import printable
from structsvm.tables import Table, lay_out

_WIDTH_OF_FILES = 200
_WIDEST = 10_000
_SHOWN = 5
"""Topics that a note names."""

_LINE_EVERY = 30.0
"""Seconds between lines of progress where there is no terminal."""

_A_DAY = 24 * 3600.0
"""Seconds that an estimate of the time left looks back: steps may take minutes."""


def echo(*lines: str, err: bool = False) -> None:
    """Print lines on standard output, or standard error; what a terminal would act on is shown as an escape."""
    click.echo("\n".join(map(printable, lines)), err=err)


def note(text: str) -> None:
    """Print a note on standard error."""
    echo(f"structsvm: note: {text}", err=True)


def note_left_out(left_out: Mapping[str, str]) -> None:
    """Print a note on topics that take no part, and why, if there are any."""
    if left_out:
        reasons = [f"{topic} ({reason})" for topic, reason in left_out.items()]
        more = f" and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
        note(f"{counted(len(reasons), 'topic')} left out: {', '.join(reasons[:_SHOWN])}{more}")


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    numbers_from: int | None = None,
) -> None:
    """Print a table and an empty line on standard output.

    Parameters
    ----------
    columns : headings.
    rows : cells, as text.
    title : line above the table.
    numbers_from : number of the first column that is aligned to the right; None: none is.
    """
    to_the_right = [numbers_from is not None and number >= numbers_from for number in range(len(columns))]
    _print(title, lay_out(columns, [rows], to_the_right), whole=False)


def show_table(table: Table) -> None:
    """Print a table, its notes, and an empty line on standard output; no cell is cut off."""
    _print(table.title, lay_out(table.headings, table.cells, [column.right for column in table.columns]), whole=True)
    for each in table.notes:
        echo(each, "")


def _print(title: str, table: RichTable, *, whole: bool) -> None:
    """Print a table; whole: in lines longer than the terminal where cells would be cut off otherwise."""
    if title:
        echo(title)
    width = Console().width if sys.stdout.isatty() else _WIDTH_OF_FILES
    if whole:
        width = max(width, Console(width=_WIDEST).measure(table).maximum)
    Console(width=width, highlight=False, markup=False, emoji=False).print(table)
    echo("")


class _CompilingColumn(ProgressColumn):
    """What is compiled right now, which a first run does for seconds."""

    def render(self, task: Task) -> Text:
        return Text(what_is_compiled())


@contextmanager
def progress_line(*, shown: bool = True) -> Iterator[Callable[[str], None]]:
    """Keep one line on standard error while work goes on, if that is a terminal.

    Parameters
    ----------
    shown : False shows nothing.

    Returns
    -------
    A function that changes the text of the line.
    """
    if not (shown and sys.stderr.isatty()):
        yield lambda text: None
        return
    progress = Progress(
        SpinnerColumn("line"),
        TextColumn("{task.description}", markup=False),
        _CompilingColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with progress:
        task = progress.add_task("", total=None)
        yield lambda text: progress.update(task, description=printable(text))


@contextmanager
def progress_bar(what: str, *, shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Keep a bar on standard error while steps are done, with an estimate of the time left.

    Where that is no terminal, such as the log of a job, a line says so every half a minute.

    Parameters
    ----------
    what : the steps, in a word.
    shown : False shows nothing.

    Returns
    -------
    A function that is given the number of steps done and that of all.
    """
    if not shown:
        yield lambda done, total: None
        return
    if not sys.stderr.isatty():
        yield _Lines(what)
        return
    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        speed_estimate_period=_A_DAY,
    )
    with progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


class _Lines:
    """Says how far work is in a line now and then."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = self._said = time.monotonic()
        self._before: int | None = None

    def __call__(self, done: int, total: int) -> None:
        if self._before is None:
            self._before = done  # an earlier run did these
        now = time.monotonic()
        if now - self._said < _LINE_EVERY or done == self._before:
            return
        self._said, took = now, now - self._began
        left = took / (done - self._before) * (total - done)
        echo(f"structsvm: {done} of {total} {self._what} after {_clock(took)}, {_clock(left)} left", err=True)


def _clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """Return "1 query" or "2 queries"."""
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"


def first_of(names: Sequence[str]) -> str:
    """Return the first of some names, for a note."""
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
