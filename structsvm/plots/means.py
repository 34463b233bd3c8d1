"""Plot means over queries with their confidence intervals."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from structsvm.evaluation.significance.intervals import UNLIMITED, mean_interval
from structsvm.exceptions import InputError
from structsvm.foundation.settings import require_kind, require_number
from structsvm.metrics import Measure, RankedLists
from structsvm.plots.base import Display, named, vector
from structsvm.plots.style import INK, artist_settings, as_label, measure_label
from structsvm.registry import measures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer


class MeansDisplay(Display):
    """Mean over queries of each system, with its confidence interval: a dot and a line in the row of the system.

    Two intervals may overlap although the systems differ on almost every query. To compare systems, draw the means of
    their differences from one system.

    Parameters
    ----------
    values : for each system by name, its value for each query, shape (Q,).
    measure : label of the values.
    method, confidence_level, value_range : settings of the intervals; see `structsvm.evaluation.mean_interval`.

    Attributes
    ----------
    means : the mean of each system by name.
    intervals : the ends of each interval by name, (low, high); None if all values are equal.
    dots_ : the dots and lines, a container of Matplotlib's error bars.

    Examples
    --------
    >>> display = MeansDisplay({"old": [0.2, 0.5, 0.4], "new": [0.3, 0.5, 0.7]}, measure="AP").plot()
    >>> low, high = display.intervals["new"]
    >>> round(low, 3), round(display.means["new"], 3), round(high, 3)
    (0.003, 0.5, 0.997)
    """

    def __init__(
        self,
        values: Mapping[str, ArrayLike],
        *,
        measure: str = "mean",
        method: str = "t",
        confidence_level: float = 0.95,
        value_range: tuple[float, float] = UNLIMITED,
    ) -> None:
        require_kind("values", values, Mapping, "values of each system, by name")
        require_kind("measure", measure, str, "a text")
        samples = {name: vector(data, f"the values of {name!r}") for name, data in named("values", values, "").items()}
        self.measure = measure
        self.means = {name: float(data.mean()) for name, data in samples.items()}
        self.intervals = {
            name: mean_interval(data, method=method, confidence_level=confidence_level, value_range=value_range)
            for name, data in samples.items()
        }

    @classmethod
    def from_lists(
        cls,
        lists: "RankedLists | Mapping[str, RankedLists]",
        *,
        measure: str | Measure = "map",
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a ranking from `rank_lists` or `structsvm.evaluation.rank_run`, or several by name."""
        created: Measure = measures.create(measure)
        if created.summary != "mean":
            raise InputError(f"{created} is a {created.summary} over queries: choose a measure that is a mean")
        values = {}
        for name, ranked in named("lists", lists, "ranking").items():
            require_kind(f"lists[{name!r}]", ranked, RankedLists, "RankedLists, such as rank_lists returns")
            values[name] = created.of(ranked).values
        return cls(values, measure=measure_label(str(created)), value_range=created.value_range).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, *, shift: float = 0.0, **kwargs: Any) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : axes, or None for a new figure.
        shift : number of rows by which to move all dots down, such as 0.2 for the second display on the same axes.
        **kwargs : settings of `matplotlib.axes.Axes.errorbar`.
        """
        require_number("shift", shift)
        places, means = np.arange(len(self.means)), np.array(list(self.means.values()))
        ends = np.array([ends or (mean, mean) for ends, mean in zip(self.intervals.values(), means, strict=True)])
        with self._drawing(ax, (self._size[0], 0.8 + 0.26 * max(len(places), 3))) as axes:
            settings = artist_settings("lines.Line2D", {"marker": "o", "linestyle": "", "elinewidth": 1.0}, kwargs)
            beside = np.abs(ends.T - means)
            self.dots_: ErrorbarContainer = axes.errorbar(means, places + shift, xerr=beside, **settings)
            axes.set_yticks(places, labels=list(map(as_label, self.means)))
            axes.set_ylim(len(places) - 0.5, -0.5)
            axes.grid(visible=False, axis="y")
            if means.size and ends.min() < 0.0:
                axes.axvline(0.0, color=INK, linewidth=0.6)
            axes.set_xlabel(as_label(self.measure))
        return self
