"""Plot means over topics with confidence intervals or single topics."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from structsvm.foundation.settings import require_kind, require_switch
from structsvm.foundation.types import Vector
from structsvm.plots.base import Display, matrix, named, vector
from structsvm.plots.style import artist_settings, as_label, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D


class MeanCurvesDisplay(Display):
    """A measure against a number, such as the length of the query: the mean over topics, a line for each method.

    Parameters
    ----------
    x : positions of the measured values, shape (K,).
    curves : for each method by name, the measure of each topic at these positions, shape (topics, K)
        or (K,).
    xlabel, ylabel : labels of the axes.
    interval : draw the 95% confidence interval of the mean by Student's t.

    Attributes
    ----------
    lines_ : the line of each mean, in the order of ``curves``.
    intervals_ : the areas of the confidence intervals, except for a single topic.

    Examples
    --------
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
        interval: bool = True,
    ) -> None:
        self.x = vector(x, "x")
        require_kind("curves", curves, Mapping, "values of each method, by name")
        require_switch("interval", interval)
        for name, label in (("xlabel", xlabel), ("ylabel", ylabel)):
            require_kind(name, label, str, "a text")
        self.curves = {
            name: matrix(each, f"curves[{name!r}]", len(self.x)) for name, each in named("curves", curves, "").items()
        }
        self.xlabel, self.ylabel, self.interval = xlabel, ylabel, interval

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the plot; ``**kwargs`` are settings of `matplotlib.axes.Axes.plot` for the means."""
        with self._drawing(ax) as axes:
            self.lines_: list[Line2D] = []
            self.intervals_: list[PolyCollection] = []
            for number, (name, values) in enumerate(self.curves.items()):
                own = {**line_style(number), "marker": "o", "markersize": 2.5, "label": as_label(name)}
                settings = artist_settings("lines.Line2D", own, kwargs)
                self.lines_ += axes.plot(self.x, values.mean(axis=0), **settings)
                color = self.lines_[-1].get_color()
                ends = [mean_interval(column) for column in values.T]
                known = [each for each in ends if each is not None]
                if self.interval and known:
                    low, high = np.array(known).T
                    area = axes.fill_between(self.x, low, high, color=color, alpha=0.15, linewidth=0.0)
                    self.intervals_.append(area)
            axes.set(xlabel=self.xlabel, ylabel=self.ylabel)
            if len(self.curves) > 1:
                axes.legend()
        return self


def mean_interval(values: Vector) -> tuple[float, float] | None:
    """Return the 95% confidence interval of a mean by Student's t; None for fewer than two values."""
    from scipy.stats import t

    n = len(values)
    if n < 2:
        return None
    reach = float(t.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n))
    return float(values.mean()) - reach, float(values.mean()) + reach
