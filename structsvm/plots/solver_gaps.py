"""Plot the certified gap of a comparison against time."""

from itertools import cycle, product
from typing import TYPE_CHECKING

from structsvm.exceptions import InputError
from structsvm.foundation.settings import require_kind
from structsvm.plots.convergence import ConvergenceDisplay
from structsvm.plots.style import COLORS, DASHES, STYLE, as_label, line_style, require_matplotlib
from structsvm.solvers.comparison.table import Comparison, ComparisonRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_MARKERS = (".", "s", "^", "D")
"""Markers of backends; each marker has all colors."""


def gap_against_time(comparison: Comparison) -> "Figure":
    """Draw the certified gap, in units of C, against seconds: a line for each solver and backend, a panel for each C.

    Both axes are logarithmic. Color and marker show the backend, the line style the solver. A cross marks the end of a
    run that did not converge; the gray line is the target gap. The legend shows the status of runs without a result.

    Parameters
    ----------
    comparison : the rows.

    Returns
    -------
    A Matplotlib figure without a window: ``gap_against_time(comparison).savefig("gaps.svg")``.

    Raises
    ------
    NotInstalledError : Matplotlib is missing.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.solvers.comparison import compare
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map")
    >>> figure = gap_against_time(compare(problem, ["one-slack", "frank-wolfe"], "active-set", Cs=[1, 10]))
    >>> [axes.get_title() for axes in figure.axes]
    ['C = 1', 'C = 10']
    """
    require_kind("comparison", comparison, Comparison, "a Comparison, such as compare returns")
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    drawn = [row for row in comparison if row.history]
    if not drawn:
        raise InputError("the comparison is empty: no combination has a result to draw")
    losses = list(dict.fromkeys(row.loss for row in drawn))
    Cs = list(dict.fromkeys(row.C for row in drawn))
    looks = dict(zip(dict.fromkeys(row.backend for row in comparison), cycle(product(_MARKERS, COLORS)), strict=False))
    dashes = dict(zip(dict.fromkeys(row.solver for row in comparison), cycle(DASHES), strict=False))
    runs = {_label(row): row for row in comparison}
    widths = {name: line_style(number)["linewidth"] for number, name in enumerate(runs)}
    with rc_context(STYLE):
        figure = Figure(figsize=(1.8 + 3.2 * len(Cs), 0.4 + 3.0 * len(losses)), layout="constrained")
        panels = figure.subplots(len(losses), len(Cs), sharex=True, sharey=True, squeeze=False)
        # A run without a result has no line, but a cross and its status in the legend.
        entries = {
            name: Line2D(
                *([], []),
                color=looks[row.backend][1],
                linestyle="none",
                marker="x",
                label=as_label(f"{name}: {row.status}"),
            )
            for name, row in runs.items()
        }
        for i, loss in enumerate(losses):
            for j, C in enumerate(Cs):
                axes = panels[i, j]
                rows = {_label(row): row for row in drawn if (row.loss, row.C) == (loss, C)}
                if rows:
                    display = _display(rows).plot(axes)
                    for line, (name, row) in zip(display.lines_, rows.items(), strict=True):
                        marker, color = looks[row.backend]
                        line.set(marker=marker, color=color, linestyle=dashes[row.solver], linewidth=widths[name])
                        entries[name] = line
                        if name in display.crosses_:
                            display.crosses_[name].set_color(color)
                    if (legend := axes.get_legend()) is not None:
                        legend.remove()
                title = f"C = {C:g}" if len(losses) == 1 else f"{as_label(loss)}, C = {C:g}"
                axes.set(title=title, xlabel="", ylabel="")
        figure.supxlabel("seconds (wall clock)", fontsize="medium")
        figure.supylabel("certified gap / C", fontsize="medium")
        handles = list(entries.values())
        figure.legend(handles, [str(handle.get_label()) for handle in handles], loc="outside right upper")
    return figure


def _label(row: ComparisonRow) -> str:
    return ", ".join(filter(None, [row.solver, row.backend]))


def _display(rows: dict[str, ComparisonRow]) -> ConvergenceDisplay:
    """Return the gaps of some rows, to the end of each."""
    curves = {}
    for name, row in rows.items():
        seconds, gaps = map(list, zip(*row.curve, strict=True))
        if row.seconds is not None and row.gap is not None:
            seconds.append(max(row.seconds, seconds[-1]))
            gaps.append(row.gap)
        curves[name] = (seconds, gaps)
    (tol,) = {row.tol for row in rows.values()}
    ended = [name for name, row in rows.items() if row.status != "converged"]
    return ConvergenceDisplay(curves, tol=tol, unfinished=ended)
