"""Plot importances of features with their intervals."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from structsvm.foundation.settings import require_integer, require_kind
from structsvm.inspection import FeatureImportance, query_permutation_importance
from structsvm.plots.base import Display
from structsvm.plots.style import BLUE, INK, artist_settings, as_label, measure_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D


class FeatureImportanceDisplay(Display):
    """Importances of features: a dot with an interval for each feature, the most important first.

    Parameters
    ----------
    importance : result of `structsvm.inspection.query_permutation_importance`.
    top : largest number of features.

    Attributes
    ----------
    dots_ : the dots.
    intervals_ : the lines of the intervals.
    names : names of the features in the plot, in its order.
    left_out : number of features that are not in the plot.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> from structsvm.data import load_digits_queries
    >>> train, test = load_digits_queries()
    >>> ranker = Ranker().fit(train.X, train.y, qid=train.qid)
    >>> display = FeatureImportanceDisplay.from_estimator(ranker, test.X, test.y, test.qid, top=3)
    >>> display.left_out, display.ax_.get_xlabel()
    (22, 'loss of MAP')
    """

    def __init__(self, importance: FeatureImportance, *, top: int | None = 20) -> None:
        require_kind("importance", importance, FeatureImportance, "the result of query_permutation_importance")
        require_integer("top", top, 1, optional=True)
        order = importance.order[:top]
        names = importance.feature_names or [f"feature {k + 1}" for k in range(len(importance.importances))]
        self.names = tuple(names[k] for k in order.tolist())
        self.values = importance.importances[order]
        self.ends = importance.intervals[order]
        self.left_out = len(names) - len(order)
        self.measure = measure_label(importance.measure)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        qid: Any = None,
        *,
        top: int | None = 20,
        ax: "Axes | None" = None,
        **settings: Any,
    ) -> Self:
        """Measure the importances, and draw them.

        Parameters
        ----------
        estimator, X, y, qid : the ranker and queries, as in `query_permutation_importance`.
        top : largest number of features.
        **settings : further arguments of `query_permutation_importance`, such as ``measure``.
        """
        return cls(query_permutation_importance(estimator, X, y, qid, **settings), top=top).plot(ax)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the plot; ``**kwargs`` are settings of `matplotlib.axes.Axes.plot` for the dots."""
        places = np.arange(len(self.values))
        with self._drawing(ax, (self._size[0], 0.8 + 0.2 * max(len(places), 4))) as axes:
            axes.axvline(0.0, color=INK, linewidth=0.6)
            defaults = {"color": BLUE, "marker": "o", "linestyle": "", "markersize": 5.0}
            self.dots_: Line2D = axes.plot(self.values, places, **artist_settings("lines.Line2D", defaults, kwargs))[0]
            certain = ~np.isnan(self.ends[:, 0])
            self.intervals_: LineCollection = axes.hlines(
                places[certain], *self.ends[certain].T, color=self.dots_.get_color(), linewidth=1.2
            )
            axes.set_yticks(places, labels=list(map(as_label, self.names)))
            axes.invert_yaxis()
            axes.set_xlabel(f"loss of {self.measure}")
        return self
