"""Weight search: hill-climbing on mean average precision with an exhaustive search of each direction."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from attrs import define, field
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from structsvm.estimators.parameters import measure_of, random_of
from structsvm.estimators.ranking import RankingEstimator
from structsvm.estimators.saving import Stored, record, set_features
from structsvm.exceptions import InputError, brief, stacklevel_of_user
from structsvm.features.operators import Rows
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import place, require_integer, require_switch
from structsvm.foundation.storage.archives import finite_numbers
from structsvm.foundation.types import Matrix, Vector
from structsvm.metrics import Measure
from structsvm.models.linear import LinearModel
from structsvm.rankers.weight_search_line import EQUAL, ONE, ExhaustiveSearch
from structsvm.registry.capabilities import Capabilities
from structsvm.training.data import TrainingData
from structsvm.training.filling import without_missing
from structsvm.training.grouped import GroupedData
from structsvm.training.scaling import scaled

_FINEST = 2.0**-40
_WIDER = 16.0


class SearchedDirection(NamedTuple):
    """The search of one direction among ``terms`` features: its step, 0 if no step gains, and the MAP after it."""

    terms: int
    round: int
    direction: int
    step: float
    map: float


_ONE_KIND = (
    "none has both relevant documents (label > 0) and others, and average precision needs both. Check the labels and "
    "qid; if relevant documents start at a higher grade, pass y >= that grade"
)


def _require_settings(ranker: Any) -> None:
    measure_of(ranker)
    require_integer(place(ranker, "max_iter"), ranker.max_iter, 1)
    require_switch(place(ranker, "fix_first"), ranker.fix_first)
    require_switch(place(ranker, "incremental"), ranker.incremental)


def _restore(ranker: Any) -> None:
    """Set and check the path and the history of the search."""
    _require_settings(ranker)
    arrays = ranker.model_.training.arrays
    ranker.coef_path_ = finite_numbers(arrays, "coef_path", (None, ranker.model_.n_features))
    ranker.map_path_ = finite_numbers(arrays, "map_path", (len(ranker.coef_path_),))
    history = finite_numbers(arrays, "history", (None, len(SearchedDirection._fields)))
    if not len(ranker.coef_path_) or not np.array_equal(ranker.coef_path_[-1], ranker.coef_):
        raise ValueError("'coef_path' does not end at its weights")
    ranker.map_ = float(ranker.map_path_[-1])
    ranker.history_ = tuple(
        SearchedDirection(int(terms), int(number), int(direction), step, value)
        for terms, number, direction, step, value in history.tolist()
    )


@define(slots=False, eq=False, repr=False)
class WeightSearch(RankingEstimator):
    """A linear ranker by direct maximization of mean average precision, one direction of the weights at a time.

    Along a direction, training MAP is constant between the steps at which a relevant and another document of a query
    have the same score. The search evaluates all intervals between steps, for all queries together, and moves the
    weights into the best one (Morgan, Greiff and Henderson, "Direct maximization of average precision by hill-climbing,
    with a comparison to a maximum entropy approach", HLT-NAACL 2004, section 3). Every step increases training MAP. The
    search ends at a local maximum, where no direction of a round increases it; the maximum depends on the start.

    Parameters
    ----------
    directions : "coordinates": one weight at a time in the order of the columns; "random": new random directions in
        each round, one for each weight to choose; or an array, shape (directions, d).
    start : weights to start from. "first": 1 for the first feature and 0 for all others, as in the paper; "equal": 1
        for all; or an array, shape (d,).
    fix_first : keep the first weight at its value, as in the paper.
    incremental : add features one at a time, in the order of the columns, and search weights after each (section 4 of
        the paper). A direction of an array waits until all features that it changes are added.
    max_iter : largest number of rounds; in an incremental search, after each feature.
    random_state : seed of random directions.
    measure, normalize, missing : as in `Ranker`.

    Attributes
    ----------
    model_, n_features_in_, n_examples_, n_left_out_ : as in `Ranker`.
    coef_ : weights of the (normalized) features, shape (d,). Positive multiples rank alike.
    coef_path_ : weights with 1, 2, ..., d features of an incremental search, shape (d, d); otherwise only
        ``coef_``, shape (1, d).
    map_ : training MAP; queries without relevant documents count 0.
    map_path_ : training MAP of each row of ``coef_path_``.
    history_ : each direction that was searched, in order, with ``terms`` (number of features), ``round``,
        ``direction``, ``step`` and ``map``.
    n_rounds_ : number of rounds, including one that ended early.

    Examples
    --------
    >>> X = [[3, 1], [2, 3], [1, 0], [1, 4], [2, 1], [0, 2]]
    >>> ranker = WeightSearch(fix_first=True).fit(X, [0, 1, 0, 1, 0, 0], qid=[1, 1, 1, 2, 2, 2])
    >>> ranker.coef_, ranker.map_
    (array([1. , 1.5]), 1.0)
    """

    capabilities = Capabilities(takes_qid_at_predict=True, takes_sparse=True)
    stored: ClassVar[Stored] = Stored(
        "WeightSearch",
        LinearModel,
        {"_fitted_with_qid": bool, "n_examples_": 1, "n_left_out_": 0, "n_rounds_": 0},
        _restore,
    )

    directions: str | ArrayLike = "coordinates"
    start: str | ArrayLike = "first"
    fix_first: bool = field(default=False, kw_only=True)
    incremental: bool = field(default=False, kw_only=True)
    max_iter: int = field(default=100, kw_only=True)
    random_state: int | np.random.RandomState | None = field(default=None, kw_only=True)
    measure: str | Measure | None = field(default=None, kw_only=True)
    normalize: str | None = field(default=None, kw_only=True)
    missing: str | float | None = field(default=None, kw_only=True)

    def fit(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from queries.

        Parameters
        ----------
        X, y, qid : as in `Ranker.fit`; labels above 0 are relevant.
        sample_weight : weight of each query in the mean, repeated on all rows of the query.

        Warns
        -----
        OneQueryWarning : qid is missing, so all rows are one query.
        ConvergenceWarning : all of the ``max_iter`` rounds increased training MAP.
        """
        _require_settings(self)
        random = random_of(self)
        owner = type(self).__name__
        data = TrainingData.of(owner, X, y, qid, sample_weight, missing=self.missing is not None)
        grouped = GroupedData.of(data)
        rows, fill = without_missing(owner, self.missing, grouped.X, data.names)
        rows, scaling = scaled(
            owner,
            self.normalize,
            rows,
            lambda: Queries.of_sizes(grouped.queries.sizes),
            grouped.row_weights,
            warn=False,
        )
        set_features(self, data.n_features, data.names, data.categories)
        self._fitted_with_qid = qid is not None
        search, constant = self._search(grouped)
        climb = HillClimb(search, Rows.one_row_per_example(rows), constant, self._start())
        if not np.isfinite(climb.scores).all():
            raise InputError("the scores at WeightSearch(start=...) are not finite: scale the features, or the weights")
        fixed = self._directions()
        d = self.n_features_in_
        path, history, rounds, stopped = [], [], 0, True
        for terms in range(1, d + 1) if self.incremental else [d]:
            idle = 0
            for number in range(1, self.max_iter + 1):
                directions = self._round(fixed, terms, random)
                if idle >= len(directions):
                    break
                rounds += 1
                for k, direction in enumerate(directions):
                    step = climb.move(direction)
                    history.append(SearchedDirection(terms, number, k, step, climb.map))
                    idle = 0 if step else idle + 1
                    if idle >= len(directions):
                        break
            stopped = stopped and idle >= len(directions)
            path.append((climb.w, climb.map))
        if not stopped:
            warnings.warn(
                f"each of the {self.max_iter} rounds increased MAP: a larger max_iter may find a larger MAP",
                ConvergenceWarning,
                stacklevel=stacklevel_of_user(),
            )
        self.coef_path_: Matrix = np.array([w for w, _ in path])
        self.map_path_: Vector = np.array([value for _, value in path])
        coef, self.map_ = path[-1]
        self.history_ = tuple(history)
        self.n_rounds_ = rounds
        searched = np.array(history, dtype=np.float64).reshape(-1, len(SearchedDirection._fields))
        arrays = {"coef_path": self.coef_path_, "map_path": self.map_path_, "history": searched}
        self.model_ = LinearModel(
            n_features=data.n_features,
            feature_names=data.names,
            coef=coef,
            scaling=scaling,
            categories=data.categories,
            fill=fill,
            training=record(self, arrays, data.statistics()),
        )
        return self

    def _search(self, grouped: GroupedData) -> tuple[ExhaustiveSearch, float]:
        """Return the search of a direction, and the share of MAP from queries whose documents are all relevant."""
        relevant, ptr, sizes = np.asarray(grouped.y) > 0.0, grouped.queries.ptr, grouped.queries.sizes
        count = np.add.reduceat(relevant, ptr[:-1], dtype=np.int64)
        usable = grouped.usable((count > 0) & (count < sizes), _ONE_KIND)
        self.n_examples_, self.n_left_out_ = int(usable.sum()), int((~usable).sum())
        weights = grouped.shares / grouped.shares.sum()
        return ExhaustiveSearch.of(relevant, ptr, weights), float(weights[count == sizes].sum())

    def _start(self) -> Vector:
        d = self.n_features_in_
        if isinstance(self.start, str) and self.start in ("first", "equal"):
            start = np.eye(1, d)[0] if self.start == "first" else np.ones(d)
        else:
            start = self._numbers("start", "'first', 'equal'")
        if start.shape != (d,):
            raise InputError(f"WeightSearch(start=...) must have a weight for each of {d} features: {start.shape}")
        if self.incremental and start[1:].any():
            raise InputError(
                "an incremental search starts with the first feature alone: WeightSearch(start=...) must be 'first', "
                "or 0 for all other features"
            )
        return start

    def _directions(self) -> Matrix | None:
        """Return the user's directions, or the unit vectors; None for random directions."""
        d = self.n_features_in_
        if isinstance(self.directions, str) and self.directions in ("coordinates", "random"):
            return np.eye(d)[int(self.fix_first) :] if self.directions == "coordinates" else None
        rows = self._numbers("directions", "'coordinates', 'random'")
        if rows.ndim != 2 or rows.shape[1] != d or len(rows) == 0:
            raise InputError(f"WeightSearch(directions=...) must have rows of {d} numbers: its shape is {rows.shape}")
        for wrong, why in (
            (~rows.any(axis=1), "leads nowhere: all its numbers are 0"),
            (self.fix_first & (rows[:, 0] != 0.0), "changes the first weight, which fix_first=True keeps"),
        ):
            if wrong.any():
                raise InputError(f"row {int(wrong.argmax())} of WeightSearch(directions=...) {why}: leave it out")
        return rows

    def _numbers(self, name: str, choices: str) -> Matrix:
        value = getattr(self, name)
        try:
            numbers = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            numbers = np.full(1, np.nan)
        if not np.isfinite(numbers).all():
            raise InputError(
                f"WeightSearch({name}=...) must be {choices} or an array of finite numbers, got {brief(value)}"
            )
        return numbers

    def _round(self, fixed: Matrix | None, terms: int, random: np.random.RandomState) -> Matrix:
        d, first = self.n_features_in_, int(self.fix_first)
        if fixed is not None:
            return fixed[~fixed[:, terms:].any(axis=1)]
        free = max(0, terms - first)
        directions = np.zeros((free, d))
        directions[:, first:terms] = random.normal(size=(free, free))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return directions


class HillClimb:
    """Weights with their scores and MAP, which `move` changes; ``constant`` is the share of MAP outside the search."""

    def __init__(self, search: ExhaustiveSearch, rows: Rows, constant: float, start: Vector) -> None:
        self.w = start
        self._search = search
        self._rows = rows
        self._constant = constant
        self.scores = rows.scores(start)
        self._value = search.value(self.scores)

    @property
    def map(self) -> float:
        """Mean average precision at the weights."""
        return self._value / ONE + self._constant

    def move(self, direction: Vector) -> float:
        """Move to the best step along a direction, judged by the scores after it; return 0 if none gains anything."""
        unit = _unit(self.w, direction)
        direction = unit * direction
        slopes = self._rows.scores(direction)
        w, here, step, narrowest = self.w, self.scores, 0.0, _FINEST
        while region := self._search.best(here, slopes, narrowest=narrowest):
            if region.value <= self._value + EQUAL:
                break
            moved = w + region.step * direction
            scores = self._rows.scores(moved)
            value = self._search.value(scores) if np.isfinite(scores).all() else 0
            if value > self._value + EQUAL:
                self.w, self.scores, self._value, step = moved, scores, value, unit * region.step
            if value >= region.value - EQUAL:
                break
            narrowest = _WIDER * max(narrowest, region.width)
        return step


def _unit(w: Vector, direction: Vector) -> float:
    """Return the power of 2 by which to scale a direction so that its largest entry is about the largest weight."""
    largest = float(np.abs(w).max())
    if largest == 0.0:
        return 1.0
    power = np.round(np.log2(largest) - np.log2(np.abs(direction).max()))
    return float(2.0 ** np.clip(power, -1022.0, 1023.0))
