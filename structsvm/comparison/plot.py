"""The certified gap against time."""

from typing import TYPE_CHECKING

from structsvm.comparison.table import Comparison, Row
from structsvm.exceptions import InputError
from structsvm.settings import require_kind
from structsvm.tables.plots import as_label, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Told apart by all eyes: Okabe and Ito, "Color Universal Design", 2008."""

_STYLES = ("-", "--", ":", "-.")

_SMALLEST = 1e-12
"""Gap, in units of C, that stands for those which rounding cannot tell from 0."""


def gap_against_time(comparison: Comparison) -> "Figure":
    """Draw the certified gap, in units of C, against seconds: a line for each solver and backend, a panel for each C.

    Both axes are logarithmic. The colour is that of the backend, the style that of the solver, a cross is
    where a run ended without being converged, and the grey line is the gap that was asked for.

    Parameters
    ----------
    comparison : the rows.

    Returns
    -------
    A figure of Matplotlib that no window belongs to: ``gap_against_time(comparison).savefig("gaps.svg")``.

    Raises
    ------
    NotInstalledError : when Matplotlib is missing.
    InputError : when no row has a result.
    """
    require_kind("comparison", comparison, Comparison, "a Comparison, such as compare returns")
    require_matplotlib()
    from matplotlib.figure import Figure

    drawn = [row for row in comparison if row.history]
    if not drawn:
        raise InputError("there is nothing to draw: no combination has a result")
    losses = list(dict.fromkeys(row.loss for row in drawn))
    Cs = list(dict.fromkeys(row.C for row in drawn))
    colours = dict(zip(dict.fromkeys(row.backend for row in drawn), _repeated(_COLOURS, len(drawn)), strict=False))
    styles = dict(zip(dict.fromkeys(row.solver for row in drawn), _repeated(_STYLES, len(drawn)), strict=False))
    figure = Figure(figsize=(1.8 + 3.2 * len(Cs), 0.4 + 3.0 * len(losses)), layout="constrained")
    panels = figure.subplots(len(losses), len(Cs), sharex=True, sharey=True, squeeze=False)
    lines: dict[str, Line2D] = {}
    for i, loss in enumerate(losses):
        for j, C in enumerate(Cs):
            axes = panels[i, j]
            axes.set(
                xscale="log", yscale="log", title=f"C = {C:g}" if len(losses) == 1 else f"{as_label(loss)}, C = {C:g}"
            )
            axes.grid(alpha=0.25)
            for row in drawn:
                if (row.loss, row.C) == (loss, C):
                    label = as_label(", ".join(filter(None, [row.solver, row.backend])))
                    lines[label] = _draw(axes, row, colours[row.backend], styles[row.solver])
            axes.axhline(drawn[0].tol, color="grey", linewidth=0.8)
    figure.supxlabel("seconds", fontsize="medium")
    figure.supylabel("certified gap / C", fontsize="medium")
    figure.legend(list(lines.values()), list(lines), loc="outside right upper", frameon=False, fontsize="small")
    return figure


def _draw(axes: "Axes", row: Row, colour: str, style: str) -> "Line2D":
    """Draw the gap of a row, which holds from one step to the next, and return its line."""
    seconds = [max(second, 1e-6) for second, _ in row.curve]
    gaps = [max(gap, _SMALLEST) for _, gap in row.curve]
    if row.seconds is not None and row.gap is not None:
        seconds.append(max(row.seconds, seconds[-1]))
        gaps.append(max(row.gap, _SMALLEST))
    (line,) = axes.plot(seconds, gaps, f".{style}", color=colour, linewidth=1.2, markersize=3.0, drawstyle="steps-post")
    if row.status != "converged":
        axes.plot(seconds[-1:], gaps[-1:], "x", color=colour)
    return line


def _repeated(things: tuple[str, ...], number: int) -> list[str]:
    return [things[k % len(things)] for k in range(number)]
