"""How plots look: colours, dashes, Matplotlib's settings, and text that is shown as it is."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from structsvm.exceptions import NotInstalledError, printable

INK = "#010203"
"""The colour of text and axes; in a page, that of the text around the plot."""

BLUE, VERMILION, GREEN, PURPLE, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a7f85"

COLOURS = (BLUE, VERMILION, GREEN, PURPLE, GREY, INK)
"""Colours of what is drawn, in the order of use.

Of those of Okabe and Ito ("Color Universal Design", 2008) the four that have a contrast of 3 to 1 on white as well as
on dark pages, a grey, and the colour of the text. All eyes tell them apart.

Examples
--------
>>> from matplotlib.figure import Figure
>>> from structsvm.plots import COLOURS
>>> axes = Figure().subplots()
>>> for colour, gaps in zip(COLOURS, ([1.0, 0.1, 0.01], [1.0, 0.5, 0.3])):
...     (line,) = axes.plot(gaps, color=colour)
>>> line.get_color()
'#d55e00'
"""

DASHES = ("-", "--", ":", "-.")
"""Styles of lines, which tell them apart where colours do not."""

STYLE: Any = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.prop_cycle": f"cycler(color={list(COLOURS)})",
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
>>> from structsvm.plots import STYLE
>>> with rc_context(STYLE):
...     axes = Figure().subplots()
>>> axes.spines["top"].get_visible(), axes.xaxis.get_gridlines()[0].get_visible()
(False, True)
"""


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


def measure_label(text: str) -> str:
    """Return the name of a measure as people write it: "NDCG@10" for ``ndcg@10``, "recall@5" as it is."""
    name, at, place = text.partition("@")
    return as_label(f"{name.upper() if len(name) <= 4 else name}{at}{place}")


def look(number: int) -> dict[str, Any]:
    """Return the colour and the dashes of a line, by its number from 0: no two of the first 24 are alike."""
    turn, place = divmod(number, len(COLOURS))
    return {"color": COLOURS[place], "linestyle": DASHES[(place + turn) % len(DASHES)]}


def chosen(artist: str, own: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of an artist: a display's own, and in place of them what a user gave, in long or short names.

    Parameters
    ----------
    artist : module and class of Matplotlib, ``"lines.Line2D"``.
    own, given : settings by name.
    """
    from matplotlib.cbook import normalize_kwargs

    module, _, name = artist.partition(".")
    kind = getattr(import_module(f"matplotlib.{module}"), name)
    return {**own, **normalize_kwargs(dict(given), kind)}
