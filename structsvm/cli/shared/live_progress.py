"""Progress on a terminal, drawn by rich; commands without a terminal do not import this module."""

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
from rich.text import Text

from structsvm.foundation.compute.compile_progress import what_is_compiled


def line() -> Progress:
    """Return a line for one task: its description, the compilation, and the time since its start."""
    return Progress(
        SpinnerColumn("line"),
        TextColumn("{task.description}", markup=False),
        _CompilationColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def bar() -> Progress:
    """Return a bar for the steps of one task, with the time left at their mean pace."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        # A step may take minutes, so no step is too old for the estimate.
        speed_estimate_period=float("inf"),
    )


class _CompilationColumn(ProgressColumn):
    """The code that is being compiled."""

    def render(self, task: Task) -> Text:
        return Text(what_is_compiled())
