"""Write figures to files, and as elements of HTML pages."""

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from attrs import frozen

from structsvm.exceptions import InputError, printable
from structsvm.foundation.storage.files import replacement
from structsvm.plots.style import INK, STYLE, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_INTERNAL = re.compile(r"url\(#([^)]+)\)")


def require_plot_format(path: Path) -> None:
    """Raise InputError if Matplotlib cannot write the format of a file name, NotInstalledError without Matplotlib."""
    require_matplotlib()
    from matplotlib.figure import Figure

    formats = sorted(Figure().canvas.get_supported_filetypes())
    if path.suffix.lower().removeprefix(".") not in formats:
        raise InputError(f"{path} cannot be written: choose a name that ends in .{', .'.join(formats)}")


@contextmanager
def drawn_to(path: Path, width: float, height: float) -> Iterator["Axes"]:
    """Yield axes in the style of the library, and write their figure to a file on exit; sizes are in inches."""
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure.subplots()
        write_figure(figure, path)


def write_figure(figure: "Figure", path: Path) -> None:
    """Write a figure to a file atomically, in the format of its name."""
    # Draw to memory first, because Matplotlib's PDF backend raises AttributeError on a full disk.
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix.lower().removeprefix("."))
    with replacement(path) as temporary:
        temporary.write_bytes(drawn.getvalue())


@frozen
class Plot:
    """A plot as an ``<svg>`` element, which is also valid as a file, with its caption."""

    caption: str
    svg: str


@contextmanager
def figure_of(name: str, width: float, height: float) -> Iterator[tuple["Figure", Callable[[str], Plot]]]:
    """Yield a figure, with its size in inches, and a function that turns it into a plot from a caption."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="none")
    yield figure, lambda caption: Plot(caption, _as_inline_svg(figure, name, caption))


def _as_inline_svg(figure: "Figure", name: str, description: str) -> str:
    """Return an ``<svg>`` element in the text color of the page; ``name`` makes its ids unique.

    The element grows with the page, up to 1.35 times its own width, at which its text has the size of the page's text.
    """
    file = io.BytesIO()
    with warnings.catch_warnings():
        # The file contains text, not glyphs, so missing glyphs do not matter.
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue().decode().replace(INK, "currentColor")
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
    root.set("style", f"max-width: {width * 1.8:.0f}px")
    root.set("role", "img")
    root.set("aria-label", printable(description))
    return ElementTree.tostring(root, encoding="unicode")
