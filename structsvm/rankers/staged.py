"""Rankers that train step by step (rounds, epochs, trees), and the held-out queries that choose the number of steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.parameters import measure_of
from structsvm.estimators.ranking import RankingEstimator
from structsvm.estimators.saving import record, set_features
from structsvm.exceptions import InputError
from structsvm.features.operators.matrix import Readable
from structsvm.foundation.arrays import contents
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import place, require_integer
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.metrics import Measure, rank_lists
from structsvm.models.base import TrainedModel
from structsvm.models.rows import not_sparse
from structsvm.training.data import TrainingData, checked_labels, features_as_fitted, validation_parts
from structsvm.training.grouped import GroupedData
from structsvm.training.preferences import Preferences

FACTS: Mapping[str, Any] = {"_fitted_with_qid": bool, "n_examples_": 1, "n_left_out_": 0, "best_iteration_": 1}
"""Facts of a fit that files store."""


@frozen(eq=False)
class HeldOut:
    """Labeled queries, sorted by content, and the measure on them, which chooses the number of steps."""

    X: Readable
    y: Vector
    query: IntVector
    measure: Measure

    def value(self, scores: ArrayLike) -> float:
        """Return the mean of the measure over the queries."""
        return self.measure.mean(np.asarray(scores), self.y, self.query)


@frozen(eq=False)
class StagedData:
    """The checked arguments of ``fit``, with queries and rows sorted by content, and the queries held out."""

    data: TrainingData
    grouped: GroupedData
    held_out: HeldOut | None

    @classmethod
    def of(
        cls, ranker: RankingEstimator, X: Any, y: Any, qid: Any, sample_weight: Any, validation: tuple[Any, ...] | None
    ) -> Self:
        """Check the arguments of ``fit`` and the parameters that these rankers share."""
        patience = getattr(ranker, "n_iter_no_change", None)
        require_integer(place(ranker, "n_iter_no_change"), patience, 1, optional=True)
        if patience is not None and validation is None:
            raise InputError(
                f"{type(ranker).__name__}(n_iter_no_change={patience!r}) stops by a measure of held-out queries, and "
                "fit was given none: pass validation=(X, y, qid) (--validation FILE on the command line), or "
                "n_iter_no_change=None"
            )
        measure_of(ranker)
        data = TrainingData.of(
            type(ranker).__name__,
            _require_kind(ranker, X),
            y,
            qid,
            sample_weight,
            missing=ranker.capabilities.takes_missing,
            takes_preferences=ranker.capabilities.takes_preferences,
        )
        grouped = GroupedData.of(data, sort=True)
        set_features(ranker, data.n_features, data.names)
        held_out = None if validation is None else _held_out(ranker, validation, with_qid=qid is not None)
        return cls(data, grouped, held_out)

    def finish(
        self,
        ranker: Any,
        usable: BoolVector,
        model: Callable[..., TrainedModel],
        arrays: Mapping[str, Any],
    ) -> None:
        """Set the facts of a fit and ``model_``; files store ``arrays`` that are not None."""
        ranker._fitted_with_qid = self.data.qid is not None
        ranker.n_examples_, ranker.n_left_out_ = int(usable.sum()), int((~usable).sum())
        training = record(ranker, arrays, self.data.statistics())
        ranker.model_ = model(n_features=self.data.n_features, feature_names=self.data.names, training=training)


def predict(self: Any, X: Any) -> Vector:
    """Return the score of each row, shape (rows,); a larger score ranks higher within a query."""
    check_is_fitted(self, "model_")
    scores: Vector = self.model_.predict(X)
    return scores


def fitted_features(ranker: RankingEstimator, X: Any) -> Readable:
    """Return features for a fitted ranker."""
    check_is_fitted(ranker, "model_")
    return _rows(ranker, X)


def _rows(ranker: RankingEstimator, X: Any) -> Readable:
    return features_as_fitted(ranker, _require_kind(ranker, X), missing=ranker.capabilities.takes_missing)


def _require_kind(ranker: RankingEstimator, X: Any) -> Any:
    if hasattr(X, "toarray") and not ranker.capabilities.takes_sparse:
        raise InputError(not_sparse(type(ranker).__name__, X))
    return X


def _held_out(ranker: RankingEstimator, validation: Any, *, with_qid: bool) -> HeldOut:
    """Check ``validation``, which is (X, y, qid) or (X, y), and return it with the measure."""
    X, y, qid = validation_parts(validation, with_qid=with_qid)
    if isinstance(y, Preferences):
        raise InputError("measures need labels: the y of validation must have a label for each row, not Preferences")
    try:
        X = _rows(ranker, X)
        y = checked_labels(y, X.shape[0])
        queries = Queries.of(qid, len(y)).sorted_by(contents(X), y)
    except InputError as error:
        raise InputError(f"validation cannot be used: {error}") from None
    measure = measure_of(ranker)
    if np.isnan(measure.values(rank_lists(np.zeros(len(y)), y, qid))).all():
        raise InputError(
            f"validation cannot be used: {measure} is undefined for all of its queries, for example because no "
            "document is relevant"
        )
    return HeldOut(queries.grouped(X), queries.grouped(y), queries.number[queries.order], measure)
