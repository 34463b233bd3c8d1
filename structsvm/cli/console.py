"""Tables and the progress line."""

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from shutil import get_terminal_size
from textwrap import wrap
from typing import TextIO

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
)
from rich.text import Text

from structsvm.cli.grid import Grid
from structsvm.compute.compile_progress import what_is_compiled
from structsvm.exceptions import printable
from structsvm.tables import Table, lay_out

_WIDEST = 10_000
_SHOWN = 5
"""Topics that a note names."""

_LINE_EVERY = 30.0
"""Seconds between lines of progress where there is no terminal."""


def echo(*lines: str, err: bool = False) -> None:
    """Print lines on standard output, or standard error; what a terminal would act on is shown as an escape."""
    click.echo("\n".join(map(printable, lines)), err=err)


def echo_wrapped(*paragraphs: str, err: bool = False, indent: int = 0) -> None:
    """Print paragraphs, each wrapped at the width of the terminal; a line each where there is none.

    Parameters
    ----------
    paragraphs : texts without ends of lines.
    err : print on standard error.
    indent : number of blanks before the second line of a paragraph and those behind it.
    """
    width = _terminal_width(sys.stderr if err else sys.stdout)
    for text in map(printable, paragraphs):
        lines = [text] if width is None else wrap(text, width, subsequent_indent=" " * indent, break_on_hyphens=False)
        click.echo("\n".join(lines), err=err)


def note(text: str) -> None:
    """Print a note on standard error."""
    echo_wrapped(f"structsvm: note: {text}", err=True, indent=2)


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
    right = [numbers_from is not None and number >= numbers_from for number in range(len(columns))]
    _print(title, Grid(columns, [list(rows)], right))


def show_tables(*tables: Table) -> None:
    """Print tables on standard output, each note below the first table that has it."""
    said = set[str]()
    for table in tables:
        _print(table.title, Grid(table.headings, table.cells, [column.right for column in table.columns]))
        for each in dict.fromkeys(table.notes):
            if each not in said:
                echo_wrapped(each, "")
        said.update(table.notes)


def _print(title: str, grid: Grid) -> None:
    """Print a table as it fits the terminal, or else with a line for each row."""
    if title:
        echo_wrapped(title)
    width = _terminal_width(sys.stdout)
    for part in [grid] if width is None else grid.fitted(width):
        laid_out = lay_out(part.headings, part.sections, part.right)
        console = Console(width=width or _WIDEST, highlight=False, markup=False, emoji=False)
        console.print(laid_out)
        echo("")


def _terminal_width(stream: TextIO) -> int | None:
    """Return the width of the terminal that a stream is shown on; None if it is not shown on one."""
    return get_terminal_size().columns if stream.isatty() else None


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
        _LeftColumn(pace := _Pace()),
        console=Console(stderr=True),
        transient=True,
    )
    with progress:
        task = progress.add_task(what, total=None)

        def show(done: int, total: int) -> None:
            pace.report(done, total)
            progress.update(task, completed=done, total=total)

        yield show


class _Pace:
    """How fast steps are done, and when all will be.

    The first steps done pay for what is read and compiled once, so they do not count. Of the time since, the last half
    counts: the estimate soon forgets other slow beginnings, and steps may still take minutes.
    """

    def __init__(self) -> None:
        self._reports: deque[tuple[float, int]] = deque()
        self._before = self._began = math.nan
        self._total = 0

    def report(self, done: int, total: int) -> None:
        """Take notice of the number of steps done and that of all."""
        self._total = total
        if math.isnan(self._before):
            self._before = done  # an earlier run did these
        if done == (self._reports[-1][1] if self._reports else self._before):
            return
        now = time.monotonic()
        self._began = now if math.isnan(self._began) else self._began
        self._reports.append((now, done))
        while len(self._reports) > 2 and self._reports[1][0] <= (self._began + now) / 2:
            self._reports.popleft()

    @property
    def left(self) -> float | None:
        """Seconds until all steps are done; None before steps were done twice."""
        if len(self._reports) < 2:
            return None
        (begun, first), (ended, last) = self._reports[0], self._reports[-1]
        expected = (ended - begun) / (last - first) * (self._total - last)
        return max(0.0, expected - (time.monotonic() - ended))


class _LeftColumn(ProgressColumn):
    """The time left."""

    def __init__(self, pace: _Pace) -> None:
        super().__init__()
        self._pace = pace

    def render(self, task: Task) -> Text:
        left = self._pace.left
        return Text("-:--:--" if left is None else _clock(left), style="progress.remaining")


class _Lines:
    """Says how far work is in a line now and then."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = self._said = time.monotonic()
        self._pace = _Pace()

    def __call__(self, done: int, total: int) -> None:
        self._pace.report(done, total)
        now = time.monotonic()
        if now - self._said < _LINE_EVERY:
            return
        self._said, left = now, self._pace.left
        ending = "" if left is None else f", {_clock(left)} left"
        echo(f"structsvm: {done} of {total} {self._what} after {_clock(now - self._began)}{ending}", err=True)


def _clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """Return "1 query" or "2 queries"."""
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"


def first_of(names: Sequence[str]) -> str:
    """Return the first of some names, for a note."""
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
