"""Style of plots: colors, dashes, Matplotlib's settings, and escaped labels."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from structsvm.exceptions import printable
from structsvm.foundation.extras import needed

INK = "#010203"
"""Color of text and axes; pages replace it by their text color."""

BLUE, VERMILION, GREEN, PURPLE, GRAY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a7f85"

COLORS = (BLUE, VERMILION, GREEN, PURPLE, GRAY, INK)
"""Colors of lines and bars, in the order of use.

They are the four colors of Okabe and Ito ("Color Universal Design", 2008) that have a contrast of 3 to 1 on white and
on dark pages, a gray, and the color of the text. People with color blindness can distinguish them.

Examples
--------
>>> from matplotlib.figure import Figure
>>> axes = Figure().subplots()
>>> for color, gaps in zip(COLORS, ([1.0, 0.1, 0.01], [1.0, 0.5, 0.3])):
...     (line,) = axes.plot(gaps, color=color)
>>> line.get_color()
'#d55e00'
"""

DASHES = ("-", "--", ":", "-.")
"""Line styles, which distinguish lines without colors."""

WIDTHS = (2.4, 1.8, 1.4, 1.0)  # points

STYLE: Any = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.prop_cycle": f"cycler(color={list(COLORS)})",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlepad": 4.0,
    "axes.titlesize": 9.5,
    "figure.dpi": 100.0,
    "figure.titlesize": 10.0,
    "font.family": "sans-serif",
    "font.size": 9.0,
    "grid.alpha": 0.15,
    "grid.color": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.0,
    "svg.fonttype": "none",
    "svg.hashsalt": "structsvm",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
"""Matplotlib's settings, for ``matplotlib.pyplot.style.use`` and ``matplotlib.rc_context``.

Examples
--------
>>> from matplotlib import rc_context
>>> from matplotlib.figure import Figure
>>> with rc_context(STYLE):
...     axes = Figure().subplots()
>>> axes.spines["top"].get_visible(), axes.xaxis.get_gridlines()[0].get_visible()
(False, True)
"""


def require_matplotlib() -> None:
    """Raise NotInstalledError if Matplotlib is missing."""
    with needed("plots need Matplotlib", "plot"):
        for module in ("matplotlib", "matplotlib.figure"):
            import_module(module)


def as_label(text: str) -> str:
    """Return `printable` text with dollar signs escaped, because Matplotlib would parse them as mathematics."""
    return printable(text).replace("$", r"\$")


def measure_label(text: str) -> str:
    """Return the label of a measure: "NDCG@10" for ``ndcg@10``, "recall@5" unchanged."""
    name, at, place = text.partition("@")
    return as_label(f"{name.upper() if len(name) <= 4 else name}{at}{place}")


def line_style(number: int) -> dict[str, Any]:
    """Return color, dashes and width of a line by its number from 0; the first 24 differ.

    Later lines are drawn above earlier ones and are thinner, so that lines that coincide remain visible.
    """
    turn, place = divmod(number, len(COLORS))
    width = WIDTHS[min(number, len(WIDTHS) - 1)]
    return {"color": COLORS[place], "linestyle": DASHES[(place + turn) % len(DASHES)], "linewidth": width}


def artist_settings(artist: str, defaults: Mapping[str, Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of an artist such as ``"lines.Line2D"``; user settings replace them, by long or short name."""
    from matplotlib.cbook import normalize_kwargs

    module, _, name = artist.partition(".")
    kind = getattr(import_module(f"matplotlib.{module}"), name)
    return {**defaults, **normalize_kwargs(dict(kwargs), kind)}
