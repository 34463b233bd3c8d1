"""Choose a value by scores on held-out data: the grid, the folds, the scores and the best value."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log10
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import get_routing_for_object

from structsvm.exceptions import (
    FeatureScaleWarning,
    IdFeaturesWarning,
    InputError,
    OneQueryWarning,
    ZeroWeightsWarning,
    brief,
)
from structsvm.foundation.frames import is_frame, rows_of_frame
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import is_integer, is_number, require_integer
from structsvm.foundation.types import IntVector, Vector
from structsvm.metrics import Measure
from structsvm.metrics.base import PerQuery
from structsvm.registry.capabilities import capabilities_of
from structsvm.result import Status, Step
from structsvm.solvers import Checkpoint
from structsvm.solvers.checkpoint import CheckpointPath

Scoring: TypeAlias = Measure | Callable[..., float]
"""A measure, or a scorer in scikit-learn's sense: a function of a fitted estimator, X and y."""

SearchCallback: TypeAlias = Callable[[Step, int | None], bool | None]
"""Called with each step and the number of its fold, None outside of folds; returns True to end the fit."""


def best_of(scores: Sequence[float] | Vector) -> int:
    """Return the position of the largest score, the first among those equal to 12 digits after the point."""
    return int(np.argmax(np.round(scores, 12)))


def which_end(scores: Sequence[float] | Vector, chosen: int) -> str:
    """Return the end of the ascending grid, "least" or "largest", where a wider grid may do better; "" if neither."""
    if len(scores) < 2:
        return ""
    if chosen == len(scores) - 1:
        return "largest"
    return "least" if chosen == 0 and scores[0] > scores[1] else ""


def evenly_spaced(low: float, high: float, count: int) -> tuple[float, ...]:
    """Return numbers from low to high that are evenly spaced on a logarithmic scale, to six digits."""
    if count == 1:
        return (low,)
    decades = log10(high / low)
    return tuple(float(f"{low * 10 ** (decades * k / (count - 1)):.6g}") for k in range(count))


class HeldScores(NamedTuple):
    """Scores on held-out data by each scoring, and the value of each query if the first is an unweighted mean."""

    scores: list[float]
    by_query: PerQuery | None = None


def pooled(folds: Sequence[Sequence[PerQuery]]) -> PerQuery:
    """Return the ids of all held-out queries, and their values at each fit of a fold, shape (K, Q).

    The value of a query that several splits hold out is its mean over them, so that each query counts once.
    """
    ids = np.concatenate([fits[0].ids for fits in folds])
    values = np.hstack([np.array([fit.values for fit in fits]) for fits in folds])
    if len(np.unique(ids)) == len(ids):
        return PerQuery(ids, values)
    queries = Queries.of(ids, len(ids))
    sums = np.add.reduceat(values[:, queries.order], queries.ptr[:-1], axis=1)
    return PerQuery(queries.ids, sums / queries.sizes)


class Labeled(Protocol):
    """Training or held-out data: inputs X, outputs y, and ``groups`` that no split divides, or None."""

    @property
    def X(self) -> Any: ...

    @property
    def y(self) -> Any: ...

    @property
    def groups(self) -> Any: ...

    @property
    def units(self) -> str:
        """Plural of the word for the parts of folds."""

    @property
    def extent(self) -> str:
        """Number of these parts, in words."""

    @property
    def given(self) -> dict[str, Any]:
        """The arguments of `fit` beside X and y."""

    def part(self, chosen: IntVector) -> Self:
        """Return the data of some rows, or examples."""

    def scores_of(self, estimator: Any, scorings: Mapping[str, Scoring | None]) -> HeldScores:
        """Score a fitted estimator on these data by each scoring; None is the estimator's own ``score``."""


def group_folds(
    groups: Any, n: int, folds: int, random: np.random.RandomState, units: str
) -> list[tuple[IntVector, IntVector]]:
    """Return the training and the held-out rows of folds of groups, a random split that ignores the order of rows."""
    queries = Queries.of_sizes(np.ones(n, dtype=np.int64)) if groups is None else Queries.of(groups, n)
    if len(queries) < folds:
        raise InputError(f"{folds} folds need at least {folds} {units}, got {len(queries)}: use fewer folds")
    fold = np.empty(len(queries), dtype=np.int64)
    fold[np.argsort(queries.ids)[random.permutation(len(queries))]] = np.arange(len(queries)) % folds
    of_row = fold[queries.number]
    return [(np.flatnonzero(of_row != each), np.flatnonzero(of_row == each)) for each in range(folds)]


def splits_of(what: str, cv: Any, given: Labeled, random: np.random.RandomState) -> list[tuple[IntVector, IntVector]]:
    """Return the training rows and the held-out rows of each split; errors begin with ``what``."""
    rows, groups = len(given.y), given.groups
    if is_integer(cv):
        require_integer(what, cv, 2)
        return group_folds(groups, rows, cv, random, given.units)
    try:
        every = np.arange(rows)
        splits = [(every[train], every[held]) for train, held in check_cv(cv).split(every, given.y, groups=groups)]
    except (IndexError, TypeError, ValueError) as error:
        raise InputError(f"{what} cannot split these {given.units}: {error}") from None
    if not splits:
        raise InputError(f"{what} has no splits: give a number of folds, or at least one split")
    for train, held in splits if groups is not None else ():
        both = np.intersect1d(groups[train], groups[held])
        if len(both):
            raise InputError(
                f"cv={cv!r} puts rows of query {both.tolist()[0]!r} on both sides of a split: give a number of folds, "
                "or a splitter that keeps groups whole, such as GroupKFold()"
            )
    return splits


def part_of(values: Any, chosen: IntVector) -> Any:
    """Return some rows of an array, a matrix or a data frame, or some items of a list."""
    if isinstance(values, list | tuple):
        return [values[k] for k in chosen.tolist()]
    return rows_of_frame(values, chosen) if is_frame(values) else values[chosen]


def as_scorings(given: Any, resolve: Callable[[Any], tuple[str, Scoring | None]]) -> dict[str, Scoring | None]:
    """Return the given scorings by name; ``resolve`` names and makes one of anything but a function."""
    found: dict[str, Scoring | None] = {}
    for each in given if isinstance(given, list | tuple) else [given]:
        is_function = callable(each) and not isinstance(each, Measure | type)
        name, scoring = (getattr(each, "__name__", str(each)), each) if is_function else resolve(each)
        if name in found:
            raise InputError(f"scoring contains {name!r} twice: remove one")
        found[name] = scoring
    if not found:
        raise InputError("scoring is an empty list: give at least one scoring, or None for the default")
    return found


def called(name: str, scorer: Any, estimator: Any, held: Labeled) -> float:
    """Return the value of a scorer, which receives the arguments of `fit` that it requests."""
    given = held.given
    requested = get_routing_for_object(scorer).consumes("score", given.keys())
    value = scorer(estimator, held.X, held.y, **{key: given[key] for key in requested})
    if not is_number(value):
        raise InputError(f"scoring={name} must return a finite number, got {brief(value)}")
    return float(value)


class PathScores(NamedTuple):
    """Fits at ascending C, each with its ``scores`` and a certified gap in units of the loss, or NaN."""

    estimators: Sequence[Any]
    scores: Sequence[HeldScores]
    gaps: Sequence[float]
    unfinished: int
    interrupted: bool


class PathFits(NamedTuple):
    """Settings for fitting an estimator along the grid."""

    estimator: Any
    Cs: Sequence[float]
    scorings: Mapping[str, Scoring | None]
    callback: SearchCallback | None
    checkpoint: CheckpointPath | None

    def on(self, train: Labeled, held: Labeled, fold: int | None) -> PathScores:
        """Fit at each C until Ctrl-C, and score on held-out data; raise `KeyboardInterrupt` without any result."""
        if not capabilities_of(self.estimator).has_path:
            fitted = [clone(self.estimator).set_params(C=C).fit(train.X, train.y, **train.given) for C in self.Cs]
            gaps, unfinished, interrupted = [np.nan] * len(fitted), 0, False
        else:
            fitted = list(self._warm_started(train, fold))
            results = [each.result_ for each in fitted]
            gaps = [each.result_.gap / (each.C * each.gap_unit_) for each in fitted]
            unfinished = sum(not result.converged for result in results)
            interrupted = len(fitted) < len(self.Cs) or results[-1].status is Status.INTERRUPTED
        return PathScores(
            fitted, [held.scores_of(each, self.scorings) for each in fitted], gaps, unfinished, interrupted
        )

    def on_fold(self, given: Labeled, split: tuple[IntVector, IntVector], fold: int, folds: int) -> PathScores:
        """Run `on` on a fold without the warnings of its fits; raise `KeyboardInterrupt` after Ctrl-C."""
        with warnings.catch_warnings():
            for category in (
                ConvergenceWarning,
                FeatureScaleWarning,
                IdFeaturesWarning,
                OneQueryWarning,
                ZeroWeightsWarning,
            ):
                warnings.simplefilter("ignore", category)
            try:
                path = self.on(given.part(split[0]), given.part(split[1]), fold)
            except InputError as error:
                error.add_note(f"This was in fold {fold + 1} of {folds}.")
                raise
        if path.interrupted:
            raise KeyboardInterrupt
        return path._replace(estimators=())

    def fitted(self, given: Labeled, C: float) -> Any:
        """Return the estimator fitted at one C."""
        kept = {}
        if capabilities_of(self.estimator).has_path:
            kept = {"callback": self._monitoring(None), "checkpoint": self.checkpoint}
        return self.estimator.set_params(C=C).fit(given.X, given.y, **given.given, **kept)

    def _warm_started(self, train: Labeled, fold: int | None) -> Iterator[Any]:
        """Yield estimators at ascending C; after a fit that the callback stopped, begin a new path."""
        left, kept = list(self.Cs), self.checkpoint
        if kept is not None and fold is not None:
            kept = Checkpoint.of(kept).of_fold(fold + 1)
        while left:
            try:
                fitted = self.estimator.path(
                    train.X, train.y, Cs=left, **train.given, callback=self._monitoring(fold), checkpoint=kept
                )
            except KeyboardInterrupt:
                if len(left) == len(self.Cs):
                    raise
                return
            yield from fitted
            left = left[len(fitted) :] if fitted[-1].result_.status is Status.STOPPED else []

    def _monitoring(self, fold: int | None) -> Callable[[Step], bool | None] | None:
        callback = self.callback
        return None if callback is None else lambda step: callback(step, fold)
