"""Plot a measure against C."""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from structsvm.estimators.search import Grid, held_scores
from structsvm.evaluation.significance.intervals import mean_intervals
from structsvm.exceptions import InputError, brief
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import as_list, require_integer, require_kind
from structsvm.foundation.types import Matrix, Vector
from structsvm.metrics import Measure
from structsvm.plots.base import Display, as_texts, matrix, vector
from structsvm.plots.style import BLUE, GRAY, VERMILION, artist_settings, as_label, measure_label
from structsvm.registry import measures
from structsvm.registry.capabilities import takes_missing
from structsvm.training.choose import HeldScores, choose, splits_of
from structsvm.training.data import TrainingData

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection, PathCollection
    from matplotlib.lines import Line2D

_Cs = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


class RegularizationPathDisplay(Display):
    """A measure for each C, on training, validation and test queries.

    With several splits, lines are means, and the bands around them extend one standard deviation to either side. With
    ``intervals``, the band of the validation queries is the confidence interval of their mean instead. The area of a
    disc shows the share of splits in which validation chose that C.

    Parameters
    ----------
    Cs : values of C, on a logarithmic axis if all are above 0; or names of settings.
    validation : values on validation queries, shape (K,) or (splits, K).
    train, test : values on training and on test queries; None: not drawn.
    intervals : ends of the confidence interval of the mean over all validation queries, shape (K, 2); None: unknown. An
        interval is too optimistic at the C that these queries chose.
    picks : number of splits that chose each C, shape (K,); None: each split chooses its best C on validation, the first
        among equals.
    measure : label of the values.

    Attributes
    ----------
    lines_ : the line of each part, by name: "train", "validation", "test".
    areas_ : the bands, by the same names.
    discs_ : the discs, on the line of test queries if it exists, else of validation queries.

    Examples
    --------
    >>> display = RegularizationPathDisplay([0.1, 1.0, 10.0], [0.5, 0.7, 0.6], train=[0.5, 0.8, 0.9]).plot()
    >>> display.picks.tolist(), list(display.lines_)
    ([0.0, 1.0, 0.0], ['train', 'validation'])
    """

    def __init__(
        self,
        Cs: Any,
        validation: ArrayLike,
        *,
        train: ArrayLike | None = None,
        test: ArrayLike | None = None,
        intervals: ArrayLike | None = None,
        picks: ArrayLike | None = None,
        measure: str = "MAP",
    ) -> None:
        grid = as_list("Cs", Cs, "a list of values of C")
        named = bool(grid) and all(isinstance(value, str) for value in grid)
        self.Cs: Vector | None = None if named else vector(grid, "Cs")
        self.names = as_texts(grid, "Cs", len(grid)) if named else None
        self.values = {
            part: matrix(values, part, len(grid))
            for part, values in (("train", train), ("validation", validation), ("test", test))
            if values is not None
        }
        if "validation" not in self.values:
            raise InputError("validation must have a number for each C, got None")
        self.intervals: Matrix | None = None
        if intervals is not None:
            ends = numbers(intervals, "intervals")
            if ends.shape != (len(grid), 2):
                raise InputError(f"intervals must be of shape ({len(grid)}, 2), two ends for each C, got {ends.shape}")
            mean = self.values["validation"].mean(axis=0)
            # An interval is NaN if all values are equal.
            self.intervals = np.where(np.isnan(ends), mean[:, None], ends)
        if picks is None:
            best = self.values["validation"].argmax(axis=1)
            picks = np.bincount(best, minlength=len(grid))
        self.picks = vector(picks, "picks", length=len(grid))
        if (self.picks < 0.0).any() or not self.picks.any():
            raise InputError("picks must be counts from 0, with at least one above 0")
        require_kind("measure", measure, str, "a text")
        self.measure = measure

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike,
        *,
        Cs: Iterable[float] = _Cs,
        folds: int = 5,
        measure: str | Measure | None = None,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Cross-validate a ranker for each C, and draw its measure on training and held-out queries.

        Each fold is held out in turn; on the other folds, each fit starts from the fit at the next smaller C.

        Parameters
        ----------
        estimator : a ranker with ``C``, such as ``Ranker(loss="map")``; it stays unchanged.
        X, y, qid : features, labels and query ids, as in ``fit``.
        Cs : values of C.
        folds : number of folds.
        measure : name or object; None: the estimator's measure, by default "map".
        """
        from sklearn.base import clone
        from sklearn.model_selection import GroupKFold

        params: dict[str, Any] = getattr(estimator, "get_params", dict)() if not isinstance(estimator, type) else {}
        if "C" not in params or not hasattr(estimator, "score"):
            raise InputError(f"estimator must be a ranker with C, such as Ranker(), got {brief(estimator)}")
        values = np.sort(vector(as_list("Cs", Cs, "a list of values of C"), "Cs"))
        require_integer("folds", folds, 2)
        of: Measure = measures.create(params.get("measure") or "map" if measure is None else measure)
        grid = Grid(clone(estimator), values.tolist(), None, None)
        check = partial(TrainingData.of, type(estimator).__name__, missing=takes_missing(estimator))
        data = grid.read((X, y, qid, None), check)

        def score(ranker: Any, parts: tuple[TrainingData, ...]) -> HeldScores:
            train, held = (held_scores({"": of}, ranker, part) for part in parts)
            return HeldScores([*train.scores, *held.scores], held.by_query)

        splits = splits_of("folds", GroupKFold(folds), data, np.random.RandomState(0))
        parts = (tuple(map(data.subset, split)) for split in splits)
        choice = choose(((train, (train, held)) for train, held in parts), folds, grid.fits, score)
        queries, (train, validation) = choice.by_query, np.moveaxis(choice.scores, 2, 0)
        ends = None if queries is None else mean_intervals(queries.values, value_range=of.value_range)
        display = cls(values, validation, train=train, intervals=ends, measure=measure_label(str(of)))
        return display.plot(ax, **kwargs)

    @classmethod
    def from_search(cls, search: Any, *, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw a search over C: a fitted `structsvm.RankerCV`, `structsvm.StructuralSVMCV` or `GridSearchCV`.

        The grid of a `sklearn.model_selection.GridSearchCV` must vary only C.
        """
        if hasattr(search, "scores_by_name_"):
            name, scores = next(iter(search.scores_by_name_.items()))
            ends = getattr(search, "intervals_", None)
            return cls(search.Cs_, scores, intervals=ends, measure=measure_label(name)).plot(ax, **kwargs)
        results = getattr(search, "cv_results_", None)
        if not isinstance(results, dict) or "params" not in results:
            raise InputError(f"search must be a fitted RankerCV, StructuralSVMCV or GridSearchCV, got {brief(search)}")
        varied = sorted({name for params in results["params"] for name in params})
        if varied != ["C"]:
            raise InputError(f"the grid must vary only C, but varies {', '.join(varied)}: fix the other settings")
        order = np.argsort([params["C"] for params in results["params"]], kind="stable")
        parts = {
            part: np.array([results[f"split{k}_{part}_score"] for k in range(search.n_splits_)])[:, order]
            for part in ("train", "test")
            if f"split0_{part}_score" in results
        }
        Cs = np.array([params["C"] for params in results["params"]])[order]
        measure = measure_label(str(getattr(search.estimator, "measure", None) or "map"))
        return cls(Cs, parts["test"], train=parts.get("train"), measure=measure).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the plot; ``**kwargs`` are settings of `matplotlib.axes.Axes.plot` for all lines."""
        looks = {
            "train": {"color": GRAY, "linestyle": ":"},
            "validation": {"color": VERMILION, "linestyle": "--"},
            "test": {"color": BLUE, "linestyle": "-"},
        }
        x = np.arange(1.0, len(self.picks) + 1.0) if self.Cs is None else self.Cs
        with self._drawing(ax) as axes:
            self.lines_: dict[str, Line2D] = {}
            self.areas_: dict[str, FillBetweenPolyCollection] = {}
            for part, values in self.values.items():
                mean, deviation = values.mean(axis=0), values.std(axis=0)
                settings = artist_settings("lines.Line2D", {**looks[part], "label": part}, kwargs)
                (self.lines_[part],) = axes.plot(x, mean, **settings)
                of_queries = self.intervals if part == "validation" else None
                if len(values) > 1 or of_queries is not None:
                    color = self.lines_[part].get_color()
                    ends = (mean - deviation, mean + deviation) if of_queries is None else of_queries.T
                    self.areas_[part] = axes.fill_between(x, *ends, color=color, alpha=0.12, linewidth=0.0)
            carrier = "test" if "test" in self.values else "validation"
            self.discs_: PathCollection = axes.scatter(
                x,
                self.values[carrier].mean(axis=0),
                s=160.0 * self.picks / self.picks.sum(),
                color=self.lines_[carrier].get_color(),
                alpha=0.6,
                linewidths=0.0,
                label="picked by validation",
            )
            if self.names is not None:
                axes.set_xticks(x, labels=list(map(as_label, self.names)))
            elif x.min() > 0.0:
                axes.set_xscale("log")
            # Limits of axes ignore the size of discs.
            axes.margins(y=0.12)
            axes.set(xlabel="C" if self.names is None else "setting", ylabel=as_label(self.measure))
            axes.legend(markerscale=0.7)
        return self
