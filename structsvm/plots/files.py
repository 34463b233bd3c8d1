"""Figures as files."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from structsvm.exceptions import InputError
from structsvm.plots.style import STYLE, require_matplotlib
from structsvm.storage.files import replacement

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def require_format(path: Path) -> None:
    """Make sure that a plot can be written in the format that the name of a file asks for.

    Raises
    ------
    NotInstalledError : when Matplotlib is missing.
    InputError : when it knows no such format.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    known = sorted(Figure().canvas.get_supported_filetypes())
    if path.suffix.lower().removeprefix(".") not in known:
        raise InputError(f"{path} cannot be written: a plot's name ends in one of .{', .'.join(known)}")


@contextmanager
def drawn_to(path: Path, width: float, height: float) -> Iterator["Axes"]:
    """Give axes in the style of the library, and write their figure to a file when something was drawn on them.

    Parameters
    ----------
    path : of the file, which is written whole or not at all.
    width, height : of the figure, in inches.

    Raises
    ------
    NotInstalledError : when Matplotlib is missing.
    InputError : when no file can be put there.
    """
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure.subplots()
        write_figure(figure, path)


def write_figure(figure: "Figure", path: Path) -> None:
    """Write a figure to a file, whole or not at all, in the format that its name asks for.

    Raises
    ------
    InputError : when no file can be put there.
    """
    drawn = io.BytesIO()  # a full disk is no AttributeError then, as it is from Matplotlib's PDF
    figure.savefig(drawn, format=path.suffix.lower().removeprefix("."))
    with replacement(path) as temporary:
        temporary.write_bytes(drawn.getvalue())
