"""Two systems query by query."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.metrics import Measure, RankedLists, rank_lists
from structsvm.plots.base import Display, scores_of, texts, vector
from structsvm.plots.style import BLUE, INK, VERMILION, as_label, chosen, measure_label
from structsvm.registry import measures
from structsvm.settings import require_kind
from structsvm.significance import signed_rank_test

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import StepPatch


class QueryDifferencesDisplay(Display):
    """What a measure says of one system less what it says of another: a bar for each query, the largest first.

    Bars of queries on which the first does better are blue, the others vermilion. The title counts wins, losses
    and ties, and the dashed line is the mean.

    Parameters
    ----------
    first, second : values of the two systems for the same queries, shape (Q,) each.
    names : what the systems are called.
    measure : what the values are, in words.

    Attributes
    ----------
    ax_, figure_ : see `Display`.
    bars_ : the bars above 0, and those below.
    mean_line_ : the line of the mean.
    signed_rank : wins, losses, ties and the p-value of Wilcoxon's test, `structsvm.significance.SignedRankTest`.
    differences : first less second, descending, shape (Q,).

    Examples
    --------
    >>> from structsvm.plots import QueryDifferencesDisplay
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
    ) -> None:
        one = vector(first, "first")
        other = vector(second, "second", length=len(one))
        require_kind("measure", measure, str, "what the values are, in words")
        self.names = texts(names, "names", 2)
        self.measure = measure
        self.signed_rank = signed_rank_test(one, other)
        self.differences = np.sort(one - other)[::-1]

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        first: ArrayLike,
        second: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        measure: str | Measure = "map",
        names: tuple[str, str] = ("first", "second"),
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the difference of two systems of which the scores are known.

        Parameters
        ----------
        y : labels, shape (rows,).
        first, second : scores of the systems, larger is ahead, shape (rows,) each.
        qid : query id of each row; None: all are of one query.
        measure : by name or as an object. Queries of which it is undefined are left out.
        names : see the class.
        ax, **kwargs : see `plot`.

        Raises
        ------
        NotInstalledError : when Matplotlib is missing.
        InputError : the arrays cannot be used, or the measure has a value for no query.
        UnknownNameError : there is no measure of a name.
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
        """Draw the difference of two rankings, as `rank_lists` or `structsvm.evaluation.rank_run` returns them.

        Parameters
        ----------
        first, second : the rankings. Queries of which not both have a value are left out.
        measure, names, ax, **kwargs : see `from_predictions`.

        Raises
        ------
        NotInstalledError, InputError, UnknownNameError : as `from_predictions`.
        """
        for lists in (first, second):
            require_kind("a ranking", lists, RankedLists, "RankedLists, such as rank_lists returns")
        created: Measure = measures.create(measure)
        one, other = created.of(first), created.of(second)
        _, of_one, of_other = np.intersect1d(one.ids, other.ids, return_indices=True)
        if not len(of_one):
            raise InputError(f"{created} has a value for no query that both rankings have: there is nothing to draw")
        of_a_query = {"MAP": "AP", "MRR": "RR"}.get(label := measure_label(str(created)), label)
        return cls(one.values[of_one], other.values[of_other], names=names, measure=of_a_query).plot(ax, **kwargs)

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
        first, second : rankers, fitted.
        X, y, qid : features, labels and query ids, as `score` takes them: rankers that were fitted with qid need it.
        measure, ax, **kwargs : see `from_predictions`.
        names : see the class; None: names of their classes.

        Raises
        ------
        NotInstalledError, InputError, UnknownNameError : as `from_predictions`.
        """
        called = names or (type(first).__name__, type(second).__name__)
        scores = (scores_of(first, X, qid), scores_of(second, X, qid))
        return cls.from_predictions(y, *scores, qid, measure=measure, names=called, ax=ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw it; see `Display.plot`. ``**kwargs`` are those of `matplotlib.axes.Axes.stairs`."""
        with self._drawing(ax) as axes:
            edges = np.arange(len(self.differences) + 1.0)
            settings = chosen("patches.StepPatch", {"fill": True}, kwargs)
            self.bars_: list[StepPatch] = []
            for sign, colour in ((1.0, BLUE), (-1.0, VERMILION)):
                shown = np.where(sign * self.differences > 0.0, self.differences, 0.0)
                own = {} if {"color", "facecolor"} & settings.keys() else {"color": colour}
                self.bars_.append(axes.stairs(shown, edges, **{**own, **settings}))
            axes.axhline(0.0, color=INK, linewidth=0.6)
            self.mean_line_ = axes.axhline(self.differences.mean(), color=INK, linewidth=0.9, linestyle="--")
            one, other = map(as_label, self.names)
            found = self.signed_rank
            axes.set_title(
                f"{one} against {other}: {found.wins} better, {found.losses} worse, {found.ties} the same", loc="left"
            )
            axes.set(xlabel="queries, by difference", ylabel=f"difference of {as_label(self.measure)}", xticks=[])
        return self
