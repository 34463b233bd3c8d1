"""Estimators that are built in rounds as models, with a candidate for each number of rounds."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from attrs import define, field, frozen
from sklearn.base import BaseEstimator

from structsvm.exceptions import InputError
from structsvm.protocols.feature_maps import FeatureMap
from structsvm.protocols.fitting import Grid, as_grid, expanded, fit, points, require_estimator, require_grid, value_of
from structsvm.protocols.model import Candidate, Model, require_features
from structsvm.settings import truth_value
from structsvm.types import IntVector, Matrix, Vector


def _as_rounds(rounds: Any) -> tuple[int, ...]:
    if not isinstance(rounds, Iterable) or not all(isinstance(each, Integral) for each in rounds):
        raise InputError(f"StagedModel(rounds=...) must be whole numbers, as range(10, 301, 10) are; got {rounds!r}")
    return tuple(int(each) for each in rounds)


def _staged(model: "StagedModel", _attribute: object, estimator: Any) -> None:
    if not hasattr(estimator, "staged_predict"):
        raise InputError(
            f"{model.name}: {type(estimator).__name__} has no staged_predict, as boosting has it; EstimatorModel takes "
            "any estimator"
        )


def _ascending(model: "StagedModel", _attribute: object, rounds: tuple[int, ...]) -> None:
    if not rounds or rounds[0] < 1 or any(later <= earlier for earlier, later in pairwise(rounds)):
        raise InputError(
            f"StagedModel(rounds=...) of {model.name} must be numbers from 1 that ascend, as range(10, 301, 10) are; "
            f"got {rounds}"
        )


@frozen(kw_only=True)
class StagedModel(Model):
    """An estimator with ``staged_predict``, as boosting has it: one fit gives a candidate for each number of rounds.

    ``staged_predict(X)`` yields the scores of the rows of X after each round. The candidates of one
    fit share one run through the rounds for a matrix; the scores of one fit for one matrix are kept, rows ×
    ``len(rounds)`` numbers.

    Parameters
    ----------
    name, features : see `Model`.
    estimator : what is cloned and fitted for its full number of rounds; it is not changed.
    rounds : numbers of rounds to choose from, ascending. An estimator that ended earlier is at its last
        round from there on; one without a round, such as boosting that found nothing to learn, at its ``predict``.
    grid : values for other parameters of the estimator; see `EstimatorModel`.
    sparse : see `EstimatorModel`.
    """

    name: str
    features: FeatureMap = field(validator=require_features)
    estimator: BaseEstimator = field(validator=[require_estimator, _staged])
    rounds: tuple[int, ...] = field(converter=_as_rounds, validator=_ascending)
    grid: Grid = field(default=(), converter=as_grid, validator=require_grid)
    sparse: bool = field(default=False, validator=truth_value)

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every point of the grid; see `Model.candidates`.

        The seconds of a fit are shared out over its candidates in proportion to the rounds that each
        adds to the one before.
        """
        found = []
        stages = _Stages(self.rounds, self.sparse)
        added = np.diff(self.rounds, prepend=0) / self.rounds[-1]
        for settings in points(self.grid):
            fitted, seconds = fit(self.estimator, settings, expanded(X, self.sparse), y, qid)
            for place, number in enumerate(self.rounds):
                value = value_of(settings | {"rounds": number}) if settings else float(number)
                found.append(Candidate(value, partial(stages.scores, fitted, place), seconds * float(added[place])))
        return found


@define(eq=False)
class _Stages:
    """The scores after the rounds that matter, for the fitted estimator and the matrix that were last asked for."""

    rounds: tuple[int, ...]
    sparse: bool
    _fitted: Any = None
    _matrix: Any = None
    _kept: Matrix | None = None

    def scores(self, fitted: Any, place: int, X: Any, _qid: IntVector) -> Vector:
        if self._kept is None or self._fitted is not fitted or self._matrix is not X:
            self._kept = None  # before the next ones are there, too
            self._kept = self._collected(fitted, X)
            self._fitted, self._matrix = fitted, X
        scores: Vector = self._kept[place]
        return scores

    def _collected(self, fitted: Any, X: Any) -> Matrix:
        kept = np.empty((len(self.rounds), X.shape[0]))
        place, stage = 0, None
        X = expanded(X, self.sparse)
        for number, stage in enumerate(fitted.staged_predict(X), start=1):
            if number == self.rounds[place]:
                kept[place] = stage
                place += 1
                if place == len(self.rounds):
                    return kept
        if stage is None:
            if not hasattr(fitted, "predict"):
                raise InputError(
                    f"{type(fitted).__name__}.staged_predict yields nothing: it was fitted for no rounds, and has no "
                    "predict to say what it scores without any"
                )
            stage = fitted.predict(X)
        kept[place:] = stage
        return kept
