"""``--plot``: what commands draw to files."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from structsvm.cli.console import note
from structsvm.cli.failures import Failure
from structsvm.cli.paths import OUTPUT
from structsvm.exceptions import InputError
from structsvm.storage.files import check_writable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T", bound=Callable[..., Any])


def with_plot(help: str) -> Callable[[T], T]:
    """Return the option that names the file of a plot.

    Parameters
    ----------
    help : what is drawn, and an example of a name.
    """
    return click.option("--plot", "plot_path", metavar="FILE", type=OUTPUT, help=help)


def check_plot(path: Path | None) -> None:
    """Make sure that a plot can be written, before the work begins; None is no plot.

    Raises
    ------
    NotInstalledError : when Matplotlib is missing.
    InputError : when no file can be put there, or its name asks for a format that Matplotlib does not know.
    """
    if path is not None:
        from structsvm.plots.files import require_format

        check_writable(path)
        require_format(path)


def write_plot(
    path: Path, width: float, height: float, draw: "Callable[[Axes], object]", *, quiet: bool = False
) -> None:
    """Write a plot in the style of the library, and say so.

    Parameters
    ----------
    path : its file.
    width, height : of the figure, in inches.
    draw : draws it on axes.
    quiet : whether to say nothing.

    Raises
    ------
    Failure : there is nothing to draw; it names the file.
    InputError : when no file can be put there.
    """
    from structsvm.plots.files import drawn_to

    with drawn_to(path, width, height) as axes:
        try:
            draw(axes)
        except InputError as error:
            raise Failure(f"{path} was not written: {error}") from None
    if not quiet:
        note(f"wrote the plot to {path}")
