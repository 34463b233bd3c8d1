"""Plot the convergence of solvers."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from structsvm.exceptions import InputError, brief
from structsvm.foundation.settings import as_list, require_choice, require_kind, require_number
from structsvm.foundation.types import Vector
from structsvm.plots.base import Display, matrix, named, require_fitted, vector
from structsvm.plots.style import GRAY, artist_settings, as_label, line_style
from structsvm.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Cost = Literal["seconds", "iterations", "passes", "argmaxes", "calls"]
Value = Literal["gap", "excess", "primal", "dual", "bounds"]

_COSTS = {
    "seconds": "seconds (wall clock)",
    "iterations": "iterations",
    "passes": "passes over the data",
    "argmaxes": "argmaxes of each example",
    "calls": "calls of the workers",
}
_VALUES = {
    "gap": "certified gap / C",
    "excess": "(primal − best lower bound) / C",
    "primal": "primal",
    "dual": "dual",
    "bounds": "primal and dual",
}
_SMALLEST = 1e-12
"""Smallest gap in the plot, in units of C; rounding makes smaller ones meaningless."""

_SOONEST = 1e-6
"""Smallest time in the plot, in seconds."""


class ConvergenceDisplay(Display):
    """Bounds of the optimum, or the gap between them, against time, iterations or passes, one line per run.

    Lines are stairs, because a value lasts until the next step. A cross marks the end of a run that has not converged,
    and the gray line is the target gap. Axes of gaps and seconds are logarithmic.

    Parameters
    ----------
    curves : for each run by name, the costs of its steps, shape (steps,), and their values, shape (steps,); for
        "bounds" the primal and the dual, shape (steps, 2).
    x : the cost: "seconds", "iterations" of the solver, "passes" over the data, "argmaxes" of each example, or "calls"
        of the workers of a cluster.
    y : "gap": the certified gap in units of C, like ``tol``; "excess": the primal minus the best lower bound of all
        runs, in the same units; "primal", "dual", or "bounds" for both.
    tol : target gap, drawn if ``y`` is "gap" or "excess"; None: not drawn.
    unfinished : names of the runs that have not converged.

    Attributes
    ----------
    lines_ : a line for each run, in the order of ``curves``; the line of the primal if ``y`` is "bounds".
    dual_lines_ : lines of the dual if ``y`` is "bounds", else empty.
    crosses_ : the cross of each run that has not converged, by name.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> ranker = Ranker().fit([[0.0], [1.0], [2.0], [1.0]], [0, 1, 1, 0], qid=[0, 0, 1, 1])
    >>> display = ConvergenceDisplay.from_estimator(ranker, x="passes", y="bounds")
    >>> display.ax_.get_xlabel()
    'passes over the data'
    """

    def __init__(
        self,
        curves: Mapping[str, tuple[Any, Any]],
        *,
        x: Cost = "seconds",
        y: Value = "gap",
        tol: float | None = None,
        unfinished: Collection[str] = (),
    ) -> None:
        require_choice("x", x, _COSTS)
        require_choice("y", y, _VALUES)
        require_number("tol", tol, above=0.0, optional=True)
        require_kind("curves", curves, Mapping, "pairs of costs and values, by name of the run")
        self.x, self.y, self.tol = x, y, tol
        self.curves = {name: _curve(name, curve, y) for name, curve in named("curves", curves, "").items()}
        self.unfinished = frozenset(_known(unfinished, self.curves))

    @classmethod
    def from_results(
        cls,
        results: "Result | Mapping[str, Result]",
        *,
        x: Cost = "seconds",
        y: Value = "gap",
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the history of a `Result`, or of several by name; "excess" needs results for the same C."""
        require_choice("x", x, _COSTS)
        require_choice("y", y, _VALUES)
        if isinstance(results, Result):
            results = {results.solver_name: results}
        of = named("results", results, "result")
        for name, result in of.items():
            require_kind(f"results[{name!r}]", result, Result, "a Result, such as a solver returns or ranker.result_")
            if not result.history:
                raise InputError(f"results[{name!r}] has no history to draw: pass the result of a finished fit")
        if y == "excess" and len({result.C for result in of.values()}) > 1:
            raise InputError("y='excess' compares runs of one objective, but the values of C differ: draw y='gap'")
        lowest = max(result.dual / result.C for result in of.values())
        cost = "iteration" if x == "iterations" else x
        curves = {
            name: ([getattr(step, cost) for step in result.history], _values(result, y, lowest))
            for name, result in of.items()
        }
        tols = {result.tol for result in of.values()}
        display = cls(
            curves,
            x=x,
            y=y,
            tol=tols.pop() if len(tols) == 1 else None,
            unfinished=[name for name, result in of.items() if not result.converged],
        )
        return display.plot(ax, **kwargs)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, x: Cost = "seconds", y: Value = "gap", ax: "Axes | None" = None, **kwargs: Any
    ) -> Self:
        """Draw the convergence of a fitted estimator with ``result_``, such as `Ranker`, or of several by name."""
        results = {}
        for name, single in named("estimator", estimator, "").items():
            result = getattr(require_fitted(single), "result_", None)
            if not isinstance(result, Result):
                raise InputError(
                    f"{type(single).__name__} has no result_ to draw: give a fitted Ranker, a fitted StructuralSVM, or "
                    "another estimator of a convex problem"
                )
            results[name or result.solver_name] = result
        return cls.from_results(results, x=x, y=y, ax=ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the plot; ``**kwargs`` are settings of `matplotlib.axes.Axes.plot` for all lines."""
        with self._drawing(ax) as axes:
            self.lines_: list[Line2D] = []
            self.dual_lines_: list[Line2D] = []
            self.crosses_: dict[str, Line2D] = {}
            for number, name in enumerate(self.curves):
                self._draw(axes, name, line_style(number), kwargs)
            if self.y in ("gap", "excess"):
                axes.set_yscale("log")
                if self.tol is not None:
                    axes.axhline(self.tol, color=GRAY, linewidth=0.8)
            if self.x == "seconds":
                axes.set_xscale("log")
            axes.set(xlabel=_COSTS[self.x], ylabel=_VALUES[self.y])
            if len(self.curves) > 1 or self.y == "bounds":
                axes.legend()
        return self

    def _draw(self, axes: "Axes", name: str, defaults: dict[str, Any], kwargs: Mapping[str, Any]) -> None:
        costs, values = self.curves[name]
        if self.x == "seconds":
            costs = np.maximum(costs, _SOONEST)
        settings = artist_settings("lines.Line2D", {**defaults, "marker": ".", "drawstyle": "steps-post"}, kwargs)
        label = as_label(name)
        if self.y == "bounds":
            settings["linestyle"] = "-" if "linestyle" not in kwargs and "ls" not in kwargs else settings["linestyle"]
            primal, dual = values.T
            self.lines_ += axes.plot(costs, primal, **{"label": f"{label}, primal", **settings})
            settings |= {"color": self.lines_[-1].get_color(), "linestyle": "--", "label": f"{label}, dual"}
            self.dual_lines_ += axes.plot(costs, dual, **settings)
            axes.fill_between(costs, dual, primal, step="post", alpha=0.1, linewidth=0.0, color=settings["color"])
            last = primal[-1:]
        else:
            shown = np.maximum(values, _SMALLEST) if self.y in ("gap", "excess") else values
            self.lines_ += axes.plot(costs, shown, **{"label": label, **settings})
            last = shown[-1:]
        if name in self.unfinished:
            (self.crosses_[name],) = axes.plot(costs[-1:], last, "x", color=self.lines_[-1].get_color())


def _curve(name: str, curve: Any, y: str) -> tuple[Vector, Any]:
    if not isinstance(curve, tuple | list) or len(curve) != 2:
        raise InputError(f"curves[{name!r}] must be a pair (costs, values), got {brief(curve)}")
    costs = vector(curve[0], f"the costs of {name!r}")
    if y != "bounds":
        return costs, vector(curve[1], f"the values of {name!r}", length=len(costs))
    bounds = matrix(curve[1], f"the bounds of {name!r}", 2)
    if len(bounds) != len(costs):
        raise InputError(f"the bounds of {name!r} must have a row for each of {len(costs)} steps, got {len(bounds)}")
    return costs, bounds


def _known(names: Any, curves: Mapping[str, Any]) -> list[str]:
    listed = [names] if isinstance(names, str) else as_list("unfinished", names, "names of curves")
    for name in listed:
        if not isinstance(name, str) or name not in curves:
            raise InputError(f"unfinished must be names of curves, {', '.join(map(repr, curves))}, got {brief(name)}")
    return listed


def _values(result: Result, y: str, lowest: float) -> list[Any]:
    C = result.C
    if y == "bounds":
        return [[step.primal, step.dual] for step in result.history]
    if y == "gap":
        return [step.gap / C for step in result.history]
    if y == "excess":
        return [step.primal / C - lowest for step in result.history]
    return [getattr(step, y) for step in result.history]
