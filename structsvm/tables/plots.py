"""Plots: Matplotlib, which they need and nothing else does, and a figure as an element of an HTML page."""

import io
import re
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from structsvm.exceptions import NotInstalledError, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_INTERNAL = re.compile(r"url\(#([^)]+)\)")


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
