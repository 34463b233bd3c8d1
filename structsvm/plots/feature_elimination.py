"""Plot a measure against the number of features."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from structsvm.estimators.feature_elimination_cv import FeatureEliminationCV
from structsvm.foundation.settings import require_kind
from structsvm.plots.base import Display, require_fitted
from structsvm.plots.style import BLUE, VERMILION, artist_settings, measure_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection
    from matplotlib.lines import Line2D


class FeatureEliminationDisplay(Display):
    """A measure on held-out queries against the number of features, with a band of intervals over queries.

    Parameters
    ----------
    search : a fitted `structsvm.estimators.FeatureEliminationCV`.

    Attributes
    ----------
    line_ : the means.
    band_ : the intervals. They are not independent, because all numbers of features use the same queries.
    chosen_ : the mark at the chosen number of features.

    Examples
    --------
    >>> from structsvm.data import load_digits_queries
    >>> from structsvm.estimators import FeatureEliminationCV
    >>> train, _ = load_digits_queries()
    >>> search = FeatureEliminationCV(step=5, cv=2).fit(train.X, train.y, qid=train.qid)
    >>> display = FeatureEliminationDisplay(search).plot()
    >>> display.ax_.get_xlabel(), bool(display.chosen_.get_xdata()[0] == search.n_features_)
    ('number of features', True)
    """

    def __init__(self, search: FeatureEliminationCV) -> None:
        require_kind("search", search, FeatureEliminationCV, "a fitted FeatureEliminationCV")
        self.search = require_fitted(search)
        self.measure = measure_label(search.measure_name_)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the plot; ``**kwargs`` are settings of `matplotlib.axes.Axes.plot` for the line."""
        search = self.search
        with self._drawing(ax) as axes:
            defaults = {"color": BLUE, "marker": "."}
            settings = artist_settings("lines.Line2D", defaults, kwargs)
            self.line_: Line2D = axes.plot(search.sizes_, search.mean_scores_, **settings)[0]
            ends = np.where(np.isnan(search.intervals_), search.mean_scores_[:, None], search.intervals_).T
            color = self.line_.get_color()
            self.band_: FillBetweenPolyCollection = axes.fill_between(
                search.sizes_, *ends, color=color, alpha=0.12, linewidth=0.0, label="95% interval"
            )
            mark: Any = {"color": VERMILION, "marker": "D", "linestyle": ""}
            mark["label"] = f"chosen: {search.n_features_}"
            self.chosen_: Line2D = axes.plot([search.n_features_], [search.best_score_], **mark)[0]
            axes.set(xlabel="number of features", ylabel=self.measure)
            axes.legend()
        return self
