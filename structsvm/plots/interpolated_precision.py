"""Plot precision against recall."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.foundation.settings import require_integer, require_kind
from structsvm.metrics import IPrec, RankedLists, rank_lists
from structsvm.plots.base import Display, named, scores_of, vector
from structsvm.plots.style import artist_settings, as_label, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


MOST_INSIDE = 8
"""Largest number of names in a legend inside the axes. Longer legends are beside the axes, the best system first."""


class InterpolatedPrecisionDisplay(Display):
    """Precision at levels of recall, interpolated as in trec_eval and averaged over queries.

    The interpolated precision at a level is the best precision at any rank that has at least this recall
    (`structsvm.metrics.IPrec`); 11 levels give trec_eval's ``iprec_at_recall``.

    Parameters
    ----------
    recall : the levels, shape (levels,).
    curves : for each system by name, the precision at these levels, shape (levels,).

    Attributes
    ----------
    lines_ : the line of each system, in the order of ``curves``.

    Examples
    --------
    >>> display = InterpolatedPrecisionDisplay.from_predictions([4.0, 3.0, 2.0, 1.0], [1, 0, 1, 0], levels=3)
    >>> display.recall.tolist(), display.curves["ranking"].round(2).tolist()
    ([0.0, 0.5, 1.0], [1.0, 1.0, 0.67])
    """

    def __init__(self, recall: ArrayLike, curves: Mapping[str, ArrayLike]) -> None:
        self.recall = vector(recall, "recall")
        require_kind("curves", curves, Mapping, "precision of each system, by name")
        self.curves = {
            name: vector(curve, f"the precision of {name!r}", length=len(self.recall))
            for name, curve in named("curves", curves, "").items()
        }

    @classmethod
    def from_predictions(
        cls,
        scores: "ArrayLike | Mapping[str, ArrayLike]",
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        levels: int = 11,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw systems from their scores.

        Parameters
        ----------
        scores : scores of a system, shape (rows,), higher is better, or of several by name.
        y : labels, relevant above 0, shape (rows,).
        qid : query id of each row; None: all rows are one query.
        levels : number of levels of recall, from 0 to 1.
        """
        lists = {name: rank_lists(ranking, y, qid) for name, ranking in named("scores", scores, "ranking").items()}
        return cls.from_lists(lists, levels=levels, ax=ax, **kwargs)

    @classmethod
    def from_lists(
        cls,
        lists: "RankedLists | Mapping[str, RankedLists]",
        *,
        levels: int = 11,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a ranking from `rank_lists` or `structsvm.evaluation.rank_run`, or several by name.

        Queries without a relevant document are left out, as in trec_eval.
        """
        require_integer("levels", levels, 2)
        recall = np.linspace(0.0, 1.0, levels)
        curves = {}
        for name, ranked in named("lists", lists, "ranking").items():
            require_kind(f"lists[{name!r}]", ranked, RankedLists, "RankedLists, such as rank_lists returns")
            columns = [IPrec(round(level, 12), empty="skip").of(ranked).values for level in recall.tolist()]
            if not len(columns[0]):
                raise InputError(f"no query of {name!r} has a relevant document: pass judged queries")
            curves[name] = np.mean(columns, axis=1)
        return cls(recall, curves).plot(ax, **kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        levels: int = 11,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a fitted ranker, or several by name; rankers that were fitted with qid need qid here, too."""
        scores = {}
        for name, ranker in named("estimator", estimator, "").items():
            scores[name or type(ranker).__name__] = scores_of(ranker, X, qid)
        return cls.from_predictions(scores, y, qid, levels=levels, ax=ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the plot; ``**kwargs`` are settings of `matplotlib.axes.Axes.plot` for all lines."""
        with self._drawing(ax) as axes:
            self.lines_: list[Line2D] = []
            for number, (name, precision) in enumerate(self.curves.items()):
                marker = "o" if len(self.recall) <= 21 else ""
                defaults = {**line_style(number), "label": as_label(name), "marker": marker, "markersize": 3.5}
                self.lines_ += axes.plot(self.recall, precision, **artist_settings("lines.Line2D", defaults, kwargs))
            axes.set(xlabel="recall", ylabel="interpolated precision", xlim=(-0.02, 1.02), ylim=(0.0, 1.02))
            if len(self.curves) > MOST_INSIDE:
                best_first = np.argsort([-precision.mean() for precision in self.curves.values()], kind="stable")
                axes.legend(handles=[self.lines_[k] for k in best_first], loc="upper left", bbox_to_anchor=(1.0, 1.02))
            elif len(self.curves) > 1:
                axes.legend()
        return self
