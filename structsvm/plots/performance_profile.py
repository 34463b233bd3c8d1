"""Plot the performance profile of a comparison."""

from typing import TYPE_CHECKING

import numpy as np

from structsvm.exceptions import InputError
from structsvm.foundation.settings import require_kind
from structsvm.plots.style import COLORS, DASHES, INK, STYLE, as_label, require_matplotlib
from structsvm.solvers.comparison.table import Comparison, time_ratios

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def performance_profile(comparison: Comparison) -> "Figure":
    """Draw a performance profile of the backends: fractions of fits solved within a multiple of the shortest time.

    A fit is a problem, a solver and a C. The ratio of a backend is its time for the working set and QPs, divided by the
    time of the fastest backend for the same fit. A backend's line shows, for each τ, the fraction of fits with a ratio
    of at most τ (Dolan and Moré, Mathematical Programming 2002). At τ = 1 it is the fraction of fits for which the
    backend is the fastest, and at the right end the fraction that it solves. Rows that did not converge, or handed
    programs over to the built-in backend, count as not solved. A thin line adds the rows with programs handed over.
    Fits that not all backends ran are left out. The legend marks backends that solve no fit.

    Parameters
    ----------
    comparison : the rows.

    Returns
    -------
    A Matplotlib figure without a window: ``performance_profile(comparison).savefig("profile.svg")``.

    Raises
    ------
    NotInstalledError : Matplotlib is missing.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.solvers.comparison import compare
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map")
    >>> figure = performance_profile(compare(problem, ["one-slack", "n-slack"], "active-set", Cs=[1, 10]))
    >>> figure.axes[0].get_title()
    'fits: 4'
    """
    require_kind("comparison", comparison, Comparison, "a Comparison, such as compare returns")
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    fits = comparison.fits()
    if not fits:
        raise InputError("the comparison has no fit that all its backends ran: compare solvers that use a backend")
    alone, together = (
        {name: np.array([fit[name] for fit in ratios]) for name in ratios[0]}
        for ratios in ([time_ratios(rows, handed_over=counted) for rows in fits] for counted in (False, True))
    )
    largest = max([2.0, *(ratio for ratios in together.values() for ratio in ratios if np.isfinite(ratio))])
    with rc_context(STYLE):
        figure = Figure(figsize=(6.0, 3.6), layout="constrained")
        axes = figure.subplots()
        thin = False
        for k, backend in enumerate(alone):
            color, dashes = COLORS[k % len(COLORS)], DASHES[k // len(COLORS) % len(DASHES)]
            solves = np.isfinite(together[backend]).any()
            lines = [(as_label(backend if solves else f"{backend}: solves none"), alone[backend], 1.6)]
            if not np.array_equal(together[backend], alone[backend]):
                thin = True
                lines.append(("_", together[backend], 0.6))
            for label, ratios, width in lines:
                solved = np.sort(ratios[np.isfinite(ratios)])
                x = [1.0, *solved, 1.1 * largest]
                y = np.array([0, *range(1, len(solved) + 1), len(solved)]) / len(fits)
                axes.step(x, y, where="post", label=label, color=color, linestyle=dashes, linewidth=width)
        axes.set(xscale="log", xlabel="time / time of the fastest backend (τ)", ylabel="fraction of fits within τ")
        axes.set(title=f"fits: {len(fits)}", xlim=(1.0, 1.1 * largest), ylim=(0.0, 1.03))
        if thin:
            axes.plot([], [], color=INK, linewidth=0.6, label="thin: with programs\nhanded over")
        figure.legend(loc="outside right upper")
    return figure
