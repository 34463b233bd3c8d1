"""Choose a value by scores on held-out queries: the grid, the folds, the scores and the best value."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from math import log10
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import get_routing_for_object

from structsvm.estimators.inputs import checked_features, checked_labels
from structsvm.estimators.parameters import measure_of
from structsvm.estimators.ranking import RankingEstimator
from structsvm.exceptions import FeatureScaleWarning, InputError, OneQueryWarning, ZeroWeightsWarning
from structsvm.foundation.queries import Queries, row_weights
from structsvm.foundation.settings import is_integer, is_number, require_integer
from structsvm.foundation.types import IntVector, Vector
from structsvm.metrics import Measure
from structsvm.registry import losses, measures
from structsvm.registry.spelling import Spelling
from structsvm.result import Status, Step
from structsvm.solvers import Checkpoint
from structsvm.solvers.checkpoint import CheckpointPath

Scoring: TypeAlias = Measure | Callable[..., float]
"""A measure, or a scorer in scikit-learn's sense: a function of a fitted ranker, X and y."""

SearchCallback: TypeAlias = Callable[[Step, int | None], bool | None]
"""Called with each step and the number of its fold, None outside of folds; returns True to end the fit."""


def best_of(scores: Sequence[float] | Vector) -> int:
    """Return the position of the largest score, the first among equals."""
    return int(np.argmax(scores))


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


class LabelledQueries(NamedTuple):
    """Training or validation data; ``qid`` None means one query, ``weight`` None means all 1."""

    X: Any
    y: Any
    qid: Any
    weight: Any

    @classmethod
    def checked(cls, estimator: Any, X: Any, y: Any, qid: Any, weight: Any, *, missing: bool) -> Self:
        """Check data for `fit`; the estimator stores the number of features and their names."""
        rows = checked_features(estimator, X, min_rows=2, missing=missing)
        labels = checked_labels(y, rows.shape[0])
        queries = Queries.of(qid, len(labels))
        ids = None if qid is None else np.asarray(qid)
        weights = None if weight is None else row_weights(weight, len(labels))
        if qid is not None and weights is not None:
            queries.weights(weights)
        return cls(X if hasattr(estimator, "feature_names_in_") else rows, labels, ids, weights)

    def rows(self, chosen: IntVector) -> Self:
        """Return the data of some rows."""
        X = self.X.iloc[chosen] if hasattr(self.X, "iloc") else self.X[chosen]
        qid, weight = (None if each is None else each[chosen] for each in (self.qid, self.weight))
        return self._replace(X=X, y=self.y[chosen], qid=qid, weight=weight)

    @property
    def given(self) -> dict[str, Any]:
        """The arguments of `fit` beside X and y."""
        return {"qid": self.qid} | ({} if self.weight is None else {"sample_weight": self.weight})


def query_folds(qid: Any, rows: int, folds: int, random: np.random.RandomState) -> list[tuple[IntVector, IntVector]]:
    """Return the training and the held-out rows of folds of queries, a random split that ignores the order of rows."""
    queries = Queries.of_sizes(np.ones(rows, dtype=np.int64)) if qid is None else Queries.of(qid, rows)
    if len(queries) < folds:
        what = "rows" if qid is None else "queries"
        raise InputError(f"{folds} folds need at least {folds} {what}, got {len(queries)}: use fewer folds")
    fold = np.empty(len(queries), dtype=np.int64)
    fold[np.argsort(queries.ids)[random.permutation(len(queries))]] = np.arange(len(queries)) % folds
    of_row = fold[queries.number]
    return [(np.flatnonzero(of_row != each), np.flatnonzero(of_row == each)) for each in range(folds)]


def splits_of(
    what: str, cv: Any, given: LabelledQueries, random: np.random.RandomState
) -> list[tuple[IntVector, IntVector]]:
    """Return the training rows and the held-out rows of each split; errors begin with ``what``."""
    rows, qid = len(given.y), given.qid
    if is_integer(cv):
        require_integer(what, cv, 2)
        return query_folds(qid, rows, cv, random)
    try:
        every = np.arange(rows)
        splits = [(every[train], every[held]) for train, held in check_cv(cv).split(every, given.y, groups=qid)]
    except (IndexError, TypeError, ValueError) as error:
        raise InputError(f"{what} cannot split these queries: {error}") from None
    if not splits:
        raise InputError(f"{what} has no splits: give a number of folds, or at least one split")
    for train, held in splits if qid is not None else ():
        both = np.intersect1d(qid[train], qid[held])
        if len(both):
            raise InputError(
                f"cv={cv!r} puts rows of query {both.tolist()[0]!r} on both sides of a split: give a number of folds, "
                "or a splitter that keeps groups whole, such as GroupKFold()"
            )
    return splits


def measure_of_loss(ranker: RankingEstimator) -> Measure:
    """Return the ``measure`` of a ranker; if it has none, the measure with the name of its loss, else MAP."""
    loss = getattr(ranker, "loss", None) if ranker.measure is None else None
    text = loss if isinstance(loss, str) or loss is None else losses.spell(loss)
    if text is not None:
        parts = Spelling.of(text)
        for name in (text, parts.name if parts.cutoff is None else f"{parts.name}@{parts.cutoff}"):
            with suppress(InputError):
                found: Measure = measures.create(name)
                return found
    return measure_of(ranker)


def as_scorings(given: Any, ranker: RankingEstimator) -> dict[str, Scoring]:
    """Return the given measures and scorers by name; for None, the measure of `measure_of_loss`."""
    several = list(given) if isinstance(given, list | tuple) else [measure_of_loss(ranker) if given is None else given]
    found: dict[str, Scoring] = {}
    for each in several:
        is_function = callable(each) and not isinstance(each, Measure | type)
        scoring: Scoring = each if is_function else measures.create(each)
        name = getattr(scoring, "__name__", str(scoring))
        if name in found:
            raise InputError(f"scoring contains {name!r} twice: remove one")
        found[name] = scoring
    if not found:
        raise InputError("scoring is an empty list: give a measure, or None for the measure of the loss")
    return found


def held_out_scores(ranker: RankingEstimator, held: LabelledQueries, scorings: dict[str, Scoring]) -> list[float]:
    """Score a fitted ranker on held-out queries by each scoring."""
    X, y, qid, weight = held
    scores = ranker._predicted(X, qid)
    values = []
    for name, scoring in scorings.items():
        if isinstance(scoring, Measure):
            value = copy(ranker).set_params(measure=scoring)._measured(scores, y, qid, weight)
        else:
            takes_qid = "qid" in get_routing_for_object(scoring).consumes("score", {"qid"})
            value = scoring(ranker, X, y, **({"qid": qid} if takes_qid else {}))
            if not is_number(value):
                raise InputError(f"scoring={name} must return a finite number, got {value!r}")
        values.append(float(value))
    return values


class PathScores(NamedTuple):
    """Fits at ascending C, each with a row of ``scores`` and a certified gap in units of the loss, or NaN."""

    rankers: Sequence[Any]
    scores: Sequence[Sequence[float]]
    gaps: Sequence[float]
    unfinished: int
    interrupted: bool


class PathFits(NamedTuple):
    """Settings for fitting a ranker along the grid."""

    ranker: Any
    Cs: Sequence[float]
    scorings: dict[str, Scoring]
    callback: SearchCallback | None
    checkpoint: CheckpointPath | None

    def on(self, train: LabelledQueries, held: LabelledQueries, fold: int | None) -> PathScores:
        """Fit at each C until Ctrl-C, and score on held-out queries; raise `KeyboardInterrupt` without any ranker."""
        if not self.ranker.capabilities.has_path:
            fitted = [clone(self.ranker).set_params(C=C).fit(train.X, train.y, **train.given) for C in self.Cs]
            gaps, unfinished, interrupted = [np.nan] * len(fitted), 0, False
        else:
            fitted = list(self._warm_started(train, fold))
            results = [each.result_ for each in fitted]
            gaps = [each.result_.gap / (each.C * each.gap_unit_) for each in fitted]
            unfinished = sum(not result.converged for result in results)
            interrupted = len(fitted) < len(self.Cs) or results[-1].status is Status.INTERRUPTED
        return PathScores(
            fitted, [held_out_scores(each, held, self.scorings) for each in fitted], gaps, unfinished, interrupted
        )

    def on_fold(self, given: LabelledQueries, split: tuple[IntVector, IntVector], fold: int, folds: int) -> PathScores:
        """Run `on` on a fold without the warnings of its fits; raise `KeyboardInterrupt` after Ctrl-C."""
        with warnings.catch_warnings():
            for category in (ConvergenceWarning, FeatureScaleWarning, OneQueryWarning, ZeroWeightsWarning):
                warnings.simplefilter("ignore", category)
            try:
                path = self.on(given.rows(split[0]), given.rows(split[1]), fold)
            except InputError as error:
                error.add_note(f"This was in fold {fold + 1} of {folds}.")
                raise
        if path.interrupted:
            raise KeyboardInterrupt
        return path._replace(rankers=())

    def fitted(self, given: LabelledQueries, C: float) -> Any:
        """Return the ranker fitted at one C."""
        ranker, kept = self.ranker.set_params(C=C), {}
        if ranker.capabilities.has_path:
            kept = {"callback": self._monitoring(None), "checkpoint": self.checkpoint}
        return ranker.fit(given.X, given.y, **given.given, **kept)

    def _warm_started(self, train: LabelledQueries, fold: int | None) -> Iterator[Any]:
        """Yield rankers at ascending C; after a fit that the callback stopped, the path begins anew at the next C."""
        left, kept = list(self.Cs), self.checkpoint
        if kept is not None and fold is not None:
            kept = Checkpoint.of(kept).of_fold(fold + 1)
        while left:
            try:
                fitted = self.ranker.path(
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
