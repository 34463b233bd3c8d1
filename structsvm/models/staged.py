"""Estimators that are built in rounds as models, with a candidate for each number of rounds."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from attrs import define, field, frozen
from sklearn.base import BaseEstimator

from structsvm.exceptions import InputError
from structsvm.models.base import Candidate, Model
from structsvm.models.estimators import Grid, as_grid, expanded, fit, points, require_grid, value_of
from structsvm.models.feature_maps import FeatureMap
from structsvm.types import IntVector, Matrix, Vector
from structsvm.validation import truth_value


def _as_rounds(rounds: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(each) for each in rounds)


def _ascending(model: "StagedModel", _attribute: object, rounds: tuple[int, ...]) -> None:
    if not rounds or rounds[0] < 1 or any(later <= earlier for earlier, later in pairwise(rounds)):
        raise InputError(
            f"StagedModel(rounds=...) of {model.name} must be numbers from 1 that ascend, as range(10, 301, 10) are; "
            f"got {rounds}"
        )


@frozen(kw_only=True)
class StagedModel(Model):
    """An estimator with ``staged_predict``, as boosting has it: one fit gives a candidate for each number of rounds.

    ``staged_predict(X)`` yields the scores of the rows of X after each round. All candidates share one run
    through the rounds for a matrix; the scores of one matrix are kept, rows × ``len(rounds)`` numbers.

    Parameters
    ----------
    name, features : see `Model`.
    estimator : what is cloned and fitted for its full number of rounds; it is not changed.
    rounds : numbers of rounds to choose from, ascending. An estimator that ended earlier is at its last
        round from there on.
    grid : values for other parameters of the estimator; see `EstimatorModel`.
    sparse : see `EstimatorModel`.
    """

    name: str
    features: FeatureMap
    estimator: BaseEstimator
    rounds: tuple[int, ...] = field(converter=_as_rounds, validator=_ascending)
    grid: Grid = field(default=(), converter=as_grid, validator=require_grid)
    sparse: bool = field(default=False, validator=truth_value)

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every point of the grid; see `Model.candidates`.

        The seconds of a fit are shared out over its candidates in proportion to the rounds that each
        adds to the one before.
        """
        found = []
        added = np.diff(self.rounds, prepend=0) / self.rounds[-1]
        for settings in points(self.grid):
            fitted, seconds = fit(self.estimator, settings, expanded(X, self.sparse), y, qid)
            stages = _Stages(fitted, self.rounds, self.sparse)
            for place, number in enumerate(self.rounds):
                value = value_of(settings | {"rounds": number}) if settings else float(number)
                found.append(Candidate(value, partial(stages.scores, place), seconds * float(added[place])))
        return found


@define(eq=False)
class _Stages:
    """The scores of a fitted estimator after the rounds that matter, for the matrix that was last asked for."""

    fitted: Any
    rounds: tuple[int, ...]
    sparse: bool
    _matrix: Any = None
    _kept: Matrix | None = None

    def scores(self, place: int, X: Any, _qid: IntVector) -> Vector:
        if self._kept is None or self._matrix is not X:
            self._kept = self._collected(X)
            self._matrix = X
        scores: Vector = self._kept[place]
        return scores

    def _collected(self, X: Any) -> Matrix:
        kept = np.empty((len(self.rounds), X.shape[0]))
        place, stage = 0, None
        for number, stage in enumerate(self.fitted.staged_predict(expanded(X, self.sparse)), start=1):
            if number == self.rounds[place]:
                kept[place] = stage
                place += 1
                if place == len(self.rounds):
                    return kept
        if stage is None:
            raise InputError(f"{type(self.fitted).__name__}.staged_predict yields nothing: it was fitted for no rounds")
        kept[place:] = stage
        return kept
