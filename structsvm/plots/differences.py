"""Plot the differences of two systems by query."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from structsvm.evaluation.significance.intervals import UNLIMITED, mean_interval, range_of_differences
from structsvm.evaluation.significance.paired import signed_ranks
from structsvm.exceptions import InputError
from structsvm.foundation.settings import require_kind
from structsvm.metrics import Measure, RankedLists, rank_lists
from structsvm.plots.base import Display, as_texts, scores_of, vector
from structsvm.plots.style import BLUE, GRAY, INK, VERMILION, artist_settings, as_label, measure_label
from structsvm.registry import measures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle, StepPatch


class QueryDifferencesDisplay(Display):
    """Differences of a measure between two systems: a bar for each query, the largest first.

    Bars are blue if the first system is better, and vermilion otherwise. The title counts wins, losses and ties. The
    dashed line is the mean, and the band around it the mean's 95% confidence interval (Student's).

    Parameters
    ----------
    first, second : values of the two systems for the same queries, shape (Q,) each.
    names : names of the systems.
    measure : label of the values.
    value_range : least and largest possible value, such as `Measure.value_range`; it limits the band.

    Attributes
    ----------
    bars_ : the bars above 0, and the bars below 0.
    mean_line_ : the line of the mean.
    interval : the ends of the band; None if all differences are equal, as for one query.
    band_ : the band; None without an interval.
    paired : wins, losses, ties and the p-value of Wilcoxon's test, a `structsvm.evaluation.significance.PairedTests`.
    differences : first minus second, descending, shape (Q,).

    Examples
    --------
    >>> display = QueryDifferencesDisplay([0.9, 0.5, 0.4], [0.5, 0.7, 0.4], names=("new", "old")).plot()
    >>> display.ax_.get_title(loc="left")
    'new against old: 1 better, 1 worse, 1 the same'
    """

    def __init__(
        self,
        first: ArrayLike,
        second: ArrayLike,
        *,
        names: tuple[str, str] = ("first", "second"),
        measure: str = "AP",
        value_range: tuple[float, float] = UNLIMITED,
    ) -> None:
        one = vector(first, "first")
        other = vector(second, "second", length=len(one))
        require_kind("measure", measure, str, "a label of the values")
        self.names = as_texts(names, "names", 2)
        self.measure = measure
        self.paired = signed_ranks(one, other)
        self.differences = np.sort(one - other)[::-1]
        self.interval = mean_interval(self.differences, value_range=range_of_differences(value_range))

    @classmethod
    def from_predictions(
        cls,
        first: ArrayLike,
        second: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        measure: str | Measure = "map",
        names: tuple[str, str] = ("first", "second"),
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the difference of two systems from their scores.

        Parameters
        ----------
        first, second : scores of the systems, shape (rows,) each, higher is better.
        y : labels, shape (rows,).
        qid : query id of each row; None: all rows are one query.
        measure : name or object; queries for which it is undefined are left out.
        names : see the class.
        """
        lists = (rank_lists(first, y, qid), rank_lists(second, y, qid))
        return cls.from_lists(*lists, measure=measure, names=names, ax=ax, **kwargs)

    @classmethod
    def from_lists(
        cls,
        first: RankedLists,
        second: RankedLists,
        *,
        measure: str | Measure = "map",
        names: tuple[str, str] = ("first", "second"),
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the difference of two rankings from `rank_lists` or `structsvm.evaluation.rank_run`.

        Queries without a value for both are left out.
        """
        for lists in (first, second):
            require_kind("a ranking", lists, RankedLists, "RankedLists, such as rank_lists returns")
        created: Measure = measures.create(measure)
        one, other = created.of(first), created.of(second)
        _, of_one, of_other = np.intersect1d(one.ids, other.ids, return_indices=True)
        if not len(of_one):
            raise InputError(f"no query has a value of {created} in both rankings: pass rankings of the same queries")
        of_a_query = {"MAP": "AP", "MRR": "RR"}.get(label := measure_label(str(created)), label)
        values = one.values[of_one], other.values[of_other]
        return cls(*values, names=names, measure=of_a_query, value_range=created.value_range).plot(ax, **kwargs)

    @classmethod
    def from_estimators(
        cls,
        first: Any,
        second: Any,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        measure: str | Measure = "map",
        names: tuple[str, str] | None = None,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the difference of two fitted rankers on the same queries.

        Parameters
        ----------
        first, second : fitted rankers.
        X, y, qid : features, labels and query ids, as in ``score``; rankers fitted with qid need it.
        measure : see `from_predictions`.
        names : see the class; None: names of the rankers' classes.
        """
        called = (type(first).__name__, type(second).__name__) if names is None else names
        scores = (scores_of(first, X, qid), scores_of(second, X, qid))
        return cls.from_predictions(*scores, y, qid, measure=measure, names=called, ax=ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the plot; ``**kwargs`` are settings of `matplotlib.axes.Axes.stairs`."""
        with self._drawing(ax) as axes:
            edges = np.arange(len(self.differences) + 1.0)
            settings = artist_settings("patches.StepPatch", {"fill": True}, kwargs)
            self.bars_: list[StepPatch] = []
            for sign, color in ((1.0, BLUE), (-1.0, VERMILION)):
                shown = np.where(sign * self.differences > 0.0, self.differences, 0.0)
                default = {} if {"color", "facecolor"} & settings.keys() else {"color": color}
                self.bars_.append(axes.stairs(shown, edges, **{**default, **settings}))
            axes.axhline(0.0, color=INK, linewidth=0.6)
            self.mean_line_ = axes.axhline(self.differences.mean(), color=INK, linewidth=0.9, linestyle="--")
            self.band_: Rectangle | None = None
            if self.interval is not None:
                self.band_ = axes.axhspan(*self.interval, color=GRAY, alpha=0.35, linewidth=0.0)
            one, other = map(as_label, self.names)
            tests = self.paired
            axes.set_title(
                f"{one} against {other}: {tests.wins} better, {tests.losses} worse, {tests.ties} the same", loc="left"
            )
            axes.set(xlabel="queries, by difference", ylabel=f"difference of {as_label(self.measure)}", xticks=[])
        return self
