"""Weight search: hill-climbing on mean average precision, each direction searched exhaustively."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from attrs import astuple, frozen
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from structsvm.estimators.linear import LinearScores
from structsvm.estimators.model_file import Trained
from structsvm.estimators.parameters import measure_of, random_of
from structsvm.exceptions import InputError, stacklevel_of_user
from structsvm.metrics import Measure
from structsvm.operators import Rows
from structsvm.queries import Queries
from structsvm.rankers.preferences import Preferences
from structsvm.rankers.ranker_file import SavedRanker
from structsvm.rankers.training import Training, checked_training
from structsvm.rankers.weight_search_line import EQUAL, ONE, ExhaustiveSearch
from structsvm.serving.linear import weights_of_path
from structsvm.serving.scorer import Description
from structsvm.settings import place, require_integer, require_number, require_switch
from structsvm.storage.archives import finite_numbers, require_numbers, shape
from structsvm.types import Matrix, Vector

_FINEST = 2.0**-40
_WIDER = 16.0


@frozen
class SearchedDirection:
    """What the search of one direction gave.

    Parameters
    ----------
    terms : number of features that took part; all of them unless the search is incremental.
    round : number of the round, from 1; in an incremental search, of those with this many terms.
    direction : number of the direction in the round, from 0.
    step : how far the weights were moved along it; 0 where that gains nothing.
    map : training MAP afterwards.
    """

    terms: int
    round: int
    direction: int
    step: float
    map: float


_OF_A_DIRECTION = 5
"""Numbers that are kept of each."""

_ONE_KIND = (
    "none has both relevant documents (label > 0) and others, and average precision needs both. Check the labels and "
    "qid; where relevant starts at a higher grade, pass y >= that grade"
)


class WeightSearch(SavedRanker, LinearScores):
    """A linear ranker by direct maximisation of mean average precision, one direction of the weights at a time.

    Along a direction, training MAP is constant between the steps at which a relevant and another document of
    a query have the same score. All of these regions are looked at, for all queries together, and the
    weights move into the best of them (Morgan, Greiff and Henderson, "Direct maximization of average
    precision by hill-climbing, with a comparison to a maximum entropy approach", HLT-NAACL 2004, section 3).
    Directions come in turn, round after round, until as many of them as a round has gain nothing one after the
    other: a local maximum, which depends on the start. A step is only taken where training MAP is larger afterwards.

    Parameters
    ----------
    directions : "coordinates", one weight at a time in the order of the columns; "random", as many random
        directions a round as there are weights to choose, new ones each round; or an array, one a row, shape
        (directions, d).
    start : weights to start from: "first", 1 for the first feature and 0 for the others, as in the paper; "equal",
        1 for all; or an array, shape (d,).
    fix_first : whether the first weight keeps its value, as in the paper: its feature then keeps its sign.
    incremental : whether features are added one at a time, in the order of the columns, and weights are searched
        after each, from the last ones with a 0 appended (section 4 of the paper). With directions of one's own,
        those take part that are 0 for the features to come.
    max_rounds : most rounds; in an incremental search, after each feature.
    offset : how far beyond the last crossing a step goes where the best region is unbounded, as a multiple of the
        step to that crossing, or of the largest weight where this is more.
    memory : bytes for crossings; where there are more, a direction is searched piece by piece.
    random_state : seed of random directions.
    measure : what `score` reports, by name ("map", "ndcg@10", "p@5", ...) or as an object; None is "map".
    normalise : what is done to features first: "query-min-max", "query-z-score", "standard" or nothing, None; see
        `Ranker`.

    Attributes
    ----------
    coef_ : weights, shape (d,), of the normalised features where they are normalised. Any multiple of them above 0
        ranks alike.
    coef_path_ : weights with 1, 2, ..., d features of an incremental search, one a row, shape (d, d); otherwise only
        `coef_`, shape (1, d).
    map_ : training MAP; queries without relevant documents count 0.
    map_path_ : training MAP of each row of ``coef_path_``.
    history_ : tuple of `SearchedDirection`: each direction that was searched, in order.
    n_rounds_ : number of rounds that were begun.
    n_features_in_ : number of features.
    n_examples_ : number of queries learned from.
    n_left_out_ : number of queries without both relevant and other documents, whose average precision is
        the same at all weights, or of weight 0.

    Examples
    --------
    >>> from structsvm.rankers import WeightSearch
    >>> X = [[3, 1], [2, 3], [1, 0], [1, 4], [2, 1], [0, 2]]
    >>> ranker = WeightSearch(fix_first=True).fit(X, [0, 1, 0, 1, 0, 0], qid=[1, 1, 1, 2, 2, 2])
    >>> ranker.coef_, ranker.map_
    (array([1. , 1.5]), 1.0)
    """

    _kind = "weight_search"
    _counts: ClassVar[Mapping[str, int]] = {**SavedRanker._counts, "n_rounds_": 0}
    _takes_sparse = True
    _weighs_scales = False
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True}

    def __init__(
        self,
        directions: str | ArrayLike = "coordinates",
        start: str | ArrayLike = "first",
        *,
        fix_first: bool = False,
        incremental: bool = False,
        max_rounds: int = 100,
        offset: float = 1.0,
        memory: int = 256 * 2**20,
        random_state: int | np.random.RandomState | None = None,
        measure: str | Measure | None = None,
        normalise: str | None = None,
    ) -> None:
        self.directions = directions
        self.start = start
        self.fix_first = fix_first
        self.incremental = incremental
        self.max_rounds = max_rounds
        self.offset = offset
        self.memory = memory
        self.random_state = random_state
        self.measure = measure
        self.normalise = normalise

    def fit(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from queries.

        Parameters
        ----------
        X : features, one document a row, shape (rows, d); dense, CSR or a `BinnedMatrix`.
        y : labels, shape (rows,); relevant above 0.
        qid : query id of each row (not group sizes); rows of a query need not be together.
            None: all rows are one query.
        sample_weight : weight of each row, the same for all rows of a query: that of the query in the mean.

        Raises
        ------
        InputError : when a parameter or the data cannot be used; it says why.

        Warns
        -----
        OneQueryWarning : when there is no qid, and more rows than one query plausibly has.
        ConvergenceWarning : when ``max_rounds`` rounds have all gained something.
        """
        self._require_settings()
        random = random_of(self)
        if isinstance(y, Preferences):
            raise InputError("WeightSearch maximises average precision, which needs labels: y cannot be Preferences")
        training = checked_training(self, X, y, qid, sample_weight)
        rows = self._normalised_for_fit(training.X, lambda: Queries.of_sizes(training.queries.sizes))
        self._fitted_with_qid = qid is not None
        search, constant = self._search(training)
        climb = HillClimb(search, Rows.one_each(rows), constant, self._start(), float(self.offset))
        if not climb.finite:
            raise InputError("the scores at WeightSearch(start=...) are not finite: scale the features, or the weights")
        given = self._directions()
        d = self.n_features_in_
        path, history, rounds, stopped = [], [], 0, True
        for terms in range(1, d + 1) if self.incremental else [d]:
            idle = 0
            for number in range(1, self.max_rounds + 1):
                directions = self._round(given, terms, random)
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
                f"{self.max_rounds} rounds have each gained something: a larger max_rounds may find a larger MAP",
                ConvergenceWarning,
                stacklevel=stacklevel_of_user(),
            )
        self.coef_path_: Matrix = np.array([w for w, _ in path])
        self.map_path_: Vector = np.array([value for _, value in path])
        self.coef_, self.map_ = path[-1]
        self.history_ = tuple(history)
        self.n_rounds_ = rounds
        self.trained_ = Trained.now()
        return self

    def _search(self, training: Training) -> tuple[ExhaustiveSearch, float]:
        """Return what searches a direction, and what the queries without other documents add to MAP."""
        relevant, ptr, size = np.asarray(training.y) > 0.0, training.queries.ptr, training.queries.sizes
        found = np.add.reduceat(relevant, ptr[:-1], dtype=np.int64)
        usable = training.usable(self, (found > 0) & (found < size), _ONE_KIND)
        self.n_examples_, self.n_left_out_ = int(usable.sum()), int((~usable).sum())
        weights = training.shares / training.shares.sum()
        search = ExhaustiveSearch.of(relevant, ptr, weights, memory=int(self.memory))
        return search, float(weights[found == size].sum())

    def _state(self) -> dict[str, Any]:
        history = np.array([astuple(each) for each in self.history_], dtype=np.float64).reshape(-1, _OF_A_DIRECTION)
        return {"coef_path": self.coef_path_, "map_path": self.map_path_, "history": history}

    def _restore(self, arrays: Mapping[str, Any], about: Description) -> None:
        self.coef_path_, self.map_path_ = weights_of_path(arrays, about.n_features)
        require_numbers(arrays, "history", (shape(arrays, "history")[0], _OF_A_DIRECTION))
        self.coef_, self.map_ = self.coef_path_[-1], float(self.map_path_[-1])
        self.history_ = tuple(
            SearchedDirection(int(terms), int(number), int(direction), step, value)
            for terms, number, direction, step, value in finite_numbers(arrays, "history").tolist()
        )

    def _require_settings(self) -> None:
        measure_of(self)
        require_integer(place(self, "max_rounds"), self.max_rounds, 1)
        require_integer(place(self, "memory"), self.memory, 1)
        require_number(place(self, "offset"), self.offset, above=0.0)
        require_switch(place(self, "fix_first"), self.fix_first)
        require_switch(place(self, "incremental"), self.incremental)

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
        """Return the directions of one's own choice, or those of single weights; None for random ones."""
        d = self.n_features_in_
        if isinstance(self.directions, str) and self.directions in ("coordinates", "random"):
            return np.eye(d)[int(self.fix_first) :] if self.directions == "coordinates" else None
        given = self._numbers("directions", "'coordinates', 'random'")
        if given.ndim != 2 or given.shape[1] != d or len(given) == 0:
            raise InputError(f"WeightSearch(directions=...) must have rows of {d} numbers: its shape is {given.shape}")
        for wrong, why in (
            (~given.any(axis=1), "leads nowhere: all its numbers are 0"),
            (self.fix_first & (given[:, 0] != 0.0), "changes the first weight, which fix_first=True holds fixed"),
        ):
            if wrong.any():
                raise InputError(f"row {int(wrong.argmax())} of WeightSearch(directions=...) {why}: leave it out")
        return given

    def _numbers(self, name: str, choices: str) -> Matrix:
        value = getattr(self, name)
        try:
            numbers = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            numbers = np.full(1, np.nan)
        if not np.isfinite(numbers).all():
            raise InputError(f"WeightSearch({name}=...) must be {choices} or an array of finite numbers, got {value!r}")
        return numbers

    def _round(self, given: Matrix | None, terms: int, random: np.random.RandomState) -> Matrix:
        d, first = self.n_features_in_, int(self.fix_first)
        if given is not None:
            return given[~given[:, terms:].any(axis=1)]
        free = max(0, terms - first)
        directions = np.zeros((free, d))
        directions[:, first:terms] = random.normal(size=(free, free))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return directions


class HillClimb:
    """Weights, their scores and their MAP; `move` changes them.

    Parameters
    ----------
    search : searches a direction.
    rows : features of the rows that it was made of.
    constant : what queries that it left out add to MAP.
    start : weights to start from, shape (d,).
    offset : as `ExhaustiveSearch.best` reads it, in units of the largest weight.
    """

    def __init__(self, search: ExhaustiveSearch, rows: Rows, constant: float, start: Vector, offset: float) -> None:
        self.w = start
        self._search = search
        self._rows = rows
        self._constant = constant
        self._offset = offset
        self._scores = rows.scores(start)
        self._value = search.value(self._scores)

    @property
    def finite(self) -> bool:
        """Whether all scores are finite."""
        return bool(np.isfinite(self._scores).all())

    @property
    def map(self) -> float:
        """Mean average precision at the weights."""
        return self._value / ONE + self._constant

    def move(self, direction: Vector) -> float:
        """Go to the best place along a direction; return the step, 0 where no place is better than here.

        Crossings are known to rounding, as are the scores after a step, so that rankings may be others in
        a region that is very narrow. Those narrower than 2^-40 of the weights are passed over. A step counts for what
        the scores after it are worth; where that is less than it was to be, regions more than 16 times as wide are
        tried, so that of several narrow ones not all are.
        """
        unit = _unit(self.w, direction)
        direction = unit * direction
        slopes = self._rows.scores(direction)
        w, here, step, narrowest = self.w, self._scores, 0.0, _FINEST
        while region := self._search.best(here, slopes, offset=self._offset, narrowest=narrowest):
            if region.value <= self._value + EQUAL:
                break
            moved = w + region.step * direction
            scores = self._rows.scores(moved)
            value = self._search.value(scores) if np.isfinite(scores).all() else 0
            if value > self._value + EQUAL:
                self.w, self._scores, self._value, step = moved, scores, value, unit * region.step
            if value >= region.value - EQUAL:
                break
            narrowest = _WIDER * max(narrowest, region.width)
        return step


def _unit(w: Vector, direction: Vector) -> float:
    """Return the length of a direction, as a power of 2, at which its largest number is about the largest weight."""
    largest = float(np.abs(w).max())
    if largest == 0.0:
        return 1.0
    power = np.round(np.log2(largest) - np.log2(np.abs(direction).max()))
    return float(2.0 ** np.clip(power, -1022.0, 1023.0))
