"""Plots: Matplotlib, which they need and nothing else does, how they look, and a figure as an element of a page."""

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from attrs import frozen

from structsvm.exceptions import InputError, NotInstalledError, printable
from structsvm.storage.files import replacement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_INTERNAL = re.compile(r"url\(#([^)]+)\)")

INK = "#010203"
"""Stands for the colour of the text around the plot."""

BLUE, ORANGE, GREEN = "#2b87c8", "#d9701a", "#1a9a72"
"""Told apart on light and dark."""

SETTINGS: Any = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlepad": 4.0,
    "axes.titlesize": 9.5,
    "font.family": "sans-serif",
    "font.size": 9.0,
    "grid.alpha": 0.15,
    "grid.color": INK,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "structsvm",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
"""Matplotlib's, in force while the plots of a page are drawn."""


@frozen
class Plot:
    """A plot.

    Parameters
    ----------
    caption : what it shows.
    svg : an ``<svg>`` element for an HTML page, which is a file of its own as well.
    """

    caption: str
    svg: str


def require_matplotlib() -> None:
    """Make sure that plots can be drawn.

    Raises
    ------
    NotInstalledError : when Matplotlib is missing.
    """
    try:
        for module in ("matplotlib", "matplotlib.figure"):
            import_module(module)
    except ImportError as error:
        raise NotInstalledError("plots need Matplotlib: pip install 'structural-svm[plot]'.") from error


def as_label(text: str) -> str:
    """Return text that Matplotlib shows as it is, if it is `printable`: it reads mathematics between dollar signs."""
    return printable(text).replace("$", r"\$")


def as_inline_svg(figure: "Figure", name: str, description: str, colours: Mapping[str, str]) -> str:
    """Return a figure of Matplotlib as an ``<svg>`` element that fills the width it is given, up to its own.

    Parameters
    ----------
    figure : the figure.
    name : goes in front of all ids, which must be unique in a page.
    description : what screen readers say.
    colours : CSS colours to put in place of the figure's (``#rrggbb``).
    """
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # the file has text, for any font
        figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue().decode()
    for old, new in colours.items():
        text = text.replace(old, new)
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    root = ElementTree.fromstring(text)
    for metadata in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(metadata)
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "id":
                element.set(key, f"{name}-{value}")
            elif key in {"href", f"{{{_LINK}}}href"} and value.startswith("#"):
                element.set(key, f"#{name}-{value[1:]}")
            else:
                element.set(key, _INTERNAL.sub(rf"url(#{name}-\1)", value))
    width = float(root.get("viewBox", "0 0 600 0").split()[2])
    for key in ("width", "height"):
        root.attrib.pop(key, None)
    root.set("style", f"max-width: {width * 4.0 / 3.0:.0f}px")
    root.set("role", "img")
    root.set("aria-label", printable(description))
    return ElementTree.tostring(root, encoding="unicode")


@contextmanager
def figure_of(name: str, width: float, height: float) -> Iterator[tuple["Figure", Callable[[str], Plot]]]:
    """Make a figure of a size in inches, and what turns it into a plot when it is drawn: it is given the caption."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="none")
    yield figure, lambda caption: Plot(caption, as_inline_svg(figure, name, caption, {INK: "currentColor"}))


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
