"""Plot the certified gap of a comparison against time."""

from itertools import cycle
from typing import TYPE_CHECKING

from structsvm.exceptions import InputError
from structsvm.foundation.settings import require_kind
from structsvm.plots.convergence import ConvergenceDisplay
from structsvm.plots.style import COLORS, DASHES, STYLE, as_label, require_matplotlib
from structsvm.solvers.comparison.table import Comparison, ComparisonRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


def gap_against_time(comparison: Comparison) -> "Figure":
    """Draw the certified gap, in units of C, against seconds: a line for each solver and backend, a panel for each C.

    Both axes are logarithmic. The color shows the backend and the line style the solver. A cross marks the end of a
    run that did not converge; the gray line is the target gap.

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

    drawn = [row for row in comparison if row.history]
    if not drawn:
        raise InputError("the comparison is empty: no combination has a result to draw")
    losses = list(dict.fromkeys(row.loss for row in drawn))
    Cs = list(dict.fromkeys(row.C for row in drawn))
    colors = dict(zip(dict.fromkeys(row.backend for row in drawn), cycle(COLORS), strict=False))
    dashes = dict(zip(dict.fromkeys(row.solver for row in drawn), cycle(DASHES), strict=False))
    with rc_context(STYLE):
        figure = Figure(figsize=(1.8 + 3.2 * len(Cs), 0.4 + 3.0 * len(losses)), layout="constrained")
        panels = figure.subplots(len(losses), len(Cs), sharex=True, sharey=True, squeeze=False)
        lines: dict[str, Line2D] = {}
        for i, loss in enumerate(losses):
            for j, C in enumerate(Cs):
                axes = panels[i, j]
                rows = {_label(row): row for row in drawn if (row.loss, row.C) == (loss, C)}
                if rows:
                    display = _display(rows).plot(axes)
                    for line, (name, row) in zip(display.lines_, rows.items(), strict=True):
                        line.set(color=colors[row.backend], linestyle=dashes[row.solver])
                        if name in display.crosses_:
                            display.crosses_[name].set_color(colors[row.backend])
                    lines |= dict(zip(rows, display.lines_, strict=True))
                    if (legend := axes.get_legend()) is not None:
                        legend.remove()
                title = f"C = {C:g}" if len(losses) == 1 else f"{as_label(loss)}, C = {C:g}"
                axes.set(title=title, xlabel="", ylabel="")
        figure.supxlabel("seconds (wall clock)", fontsize="medium")
        figure.supylabel("certified gap / C", fontsize="medium")
        figure.legend(list(lines.values()), list(map(as_label, lines)), loc="outside right upper")
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
