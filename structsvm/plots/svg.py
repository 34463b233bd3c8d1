"""A figure as an element of a page."""

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from attrs import frozen

from structsvm.exceptions import printable
from structsvm.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_INTERNAL = re.compile(r"url\(#([^)]+)\)")


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
