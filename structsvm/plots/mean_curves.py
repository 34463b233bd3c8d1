"""Means over topics, with what they are means of."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from structsvm.arrays import numbers
from structsvm.exceptions import InputError
from structsvm.plots.base import Display, named, vector
from structsvm.plots.style import as_label, chosen, look
from structsvm.settings import require_choice, require_kind
from structsvm.significance.student import mean_interval
from structsvm.types import Matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

Around = Literal["interval", "lines", "nothing"]


class MeanCurvesDisplay(Display):
    """A measure against a number, such as the length of the query: the mean over topics, a line for each method.

    Parameters
    ----------
    x : where the measure is known, shape (K,).
    curves : for each method, by name, the measure of each topic there, shape (topics, K).
    xlabel, ylabel : what both axes are.
    around : what is drawn beside the means: "interval", their 95% confidence interval by Student's t; "lines", a thin
        line for each topic; or "nothing".

    Attributes
    ----------
    ax_, figure_ : see `Display`.
    lines_ : the line of each mean, in the order of ``curves``.
    intervals_ : the areas of the confidence intervals; of one topic there is none.
    topic_lines_ : the lines of topics.

    Examples
    --------
    >>> from structsvm.plots import MeanCurvesDisplay
    >>> of_topics = [[0.2, 0.4, 0.5], [0.4, 0.4, 0.7]]
    >>> display = MeanCurvesDisplay([1, 2, 3], {"SVM-map": of_topics}, xlabel="terms", ylabel="AP").plot()
    >>> display.lines_[0].get_ydata().round(2).tolist()
    [0.3, 0.4, 0.6]
    """

    def __init__(
        self,
        x: ArrayLike,
        curves: Mapping[str, ArrayLike],
        *,
        xlabel: str = "",
        ylabel: str = "",
        around: Around = "interval",
    ) -> None:
        self.x = vector(x, "x")
        require_kind("curves", curves, Mapping, "values of each method, by name")
        require_choice("around", around, ("interval", "lines", "nothing"))
        for name, label in (("xlabel", xlabel), ("ylabel", ylabel)):
            require_kind(name, label, str, "a text")
        self.curves = {
            name: _matrix(each, f"curves[{name!r}]", len(self.x)) for name, each in named("curves", curves, "").items()
        }
        self.xlabel, self.ylabel, self.around = xlabel, ylabel, around

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw it; see `Display.plot`. ``**kwargs`` are those of `matplotlib.axes.Axes.plot`, for the means."""
        with self._drawing(ax) as axes:
            self.lines_: list[Line2D] = []
            self.topic_lines_: list[Line2D] = []
            self.intervals_: list[PolyCollection] = []
            for number, (name, values) in enumerate(self.curves.items()):
                own = {**look(number), "marker": "o", "markersize": 2.5, "label": as_label(name)}
                settings = chosen("lines.Line2D", own, kwargs)
                self.lines_ += axes.plot(self.x, values.mean(axis=0), **settings)
                colour = self.lines_[-1].get_color()
                if self.around == "lines":
                    self.topic_lines_ += axes.plot(self.x, values.T, color=colour, linewidth=0.7, alpha=0.5)
                ends = [mean_interval(column) for column in values.T]
                known = [each for each in ends if each is not None]
                if self.around == "interval" and known:
                    low, high = np.array(known).T
                    area = axes.fill_between(self.x, low, high, color=colour, alpha=0.15, linewidth=0.0)
                    self.intervals_.append(area)
            axes.set(xlabel=self.xlabel, ylabel=self.ylabel)
            if len(self.curves) > 1:
                axes.legend()
        return self


def _matrix(values: Any, what: str, columns: int) -> Matrix:
    found = numbers(values, what)
    if found.ndim != 2 or not len(found) or found.shape[1] != columns:
        raise InputError(f"{what} must have a row for each topic, of {columns} numbers; its shape is {found.shape}")
    if not np.isfinite(found).all():
        raise InputError(f"{what} must be finite, to be drawn")
    return found
