"""Progress on a terminal, drawn by rich; commands without a terminal do not import this module."""

from collections.abc import Callable

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

from structsvm.foundation.compute.compile_progress import what_is_compiled


def line() -> Progress:
    """Return a line for one task: its description, the compilation, and the time since its start."""
    return Progress(
        SpinnerColumn("line"),
        TextColumn("{task.description}", markup=False),
        _TextColumn(what_is_compiled),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def bar(left: Callable[[], str]) -> Progress:
    """Return a bar for the steps of one task; ``left`` returns the time left."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        _TextColumn(left, style="progress.remaining"),
        console=Console(stderr=True),
        transient=True,
    )


class _TextColumn(ProgressColumn):
    """A column with the text that a function returns at each refresh."""

    def __init__(self, text: Callable[[], str], style: str = "") -> None:
        super().__init__()
        self._text = text
        self._style = style

    def render(self, task: Task) -> Text:
        return Text(self._text(), style=self._style)
