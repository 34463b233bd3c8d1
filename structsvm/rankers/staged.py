"""Rankers that train step by step (rounds, epochs, trees), and the held-out queries that choose the number of steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from attrs import evolve, frozen
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.parameters import measure_of
from structsvm.estimators.ranking import RankingEstimator
from structsvm.estimators.saving import record, set_features
from structsvm.exceptions import InputError
from structsvm.features.operators.matrix import Readable
from structsvm.foundation.arrays import contents
from structsvm.foundation.settings import place, require_integer
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.metrics import Measure, rank_lists
from structsvm.models.base import TrainedModel
from structsvm.models.rows import filled, not_sparse
from structsvm.registry.capabilities import takes_missing
from structsvm.training.data import TrainingData, features_as_fitted, validation_data
from structsvm.training.filling import without_missing
from structsvm.training.grouped import GroupedData

Ranker = TypeVar("Ranker", bound=Any)

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
    fill: Vector | None = None

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
            missing=takes_missing(ranker),
            takes_preferences=ranker.capabilities.takes_preferences,
        )
        X, fill = without_missing(data.owner, getattr(ranker, "missing", None), data.X, data.names)
        grouped = GroupedData.of(evolve(data, X=X), sort=True)
        set_features(ranker, data.n_features, data.names, data.categories)
        held_out = None if validation is None else _held_out(ranker, validation, fill, with_qid=qid is not None)
        return cls(data, grouped, held_out, fill)


class Learned(NamedTuple):
    """A mask of the queries learned from, the form of the model, and arrays that files store unless they are None."""

    usable: BoolVector
    model: Callable[..., TrainedModel]
    arrays: Mapping[str, Any]


def fit(
    self: Ranker,
    X: Any,
    y: Any,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    validation: tuple[Any, ...] | None = None,
) -> Ranker:
    """Learn from queries, step by step.

    Parameters
    ----------
    X : dense features, shape (rows, d), NaN if missing (`RankBoost`, `LambdaMART`); or sparse features (`LambdaMART`).
    y : labels, shape (rows,), larger is better; or `Preferences` (`RankBoost`, `RankNet`).
    qid : as in `Ranker.fit`.
    sample_weight : as in `Ranker.fit`; only ratios matter.
    validation : (X, y, qid) of other queries, or (X, y) of one query, with labels y. The ranker keeps the steps up
        to the first with the best ``measure``. None: it keeps all steps.

    Warns
    -----
    OneQueryWarning : qid is missing, so all labeled rows are one query.
    """
    self._require_settings()
    checked = StagedData.of(self, X, y, qid, sample_weight, validation)
    data, learned = checked.data, self._learned(checked)
    self._fitted_with_qid = data.qid is not None
    self.n_examples_, self.n_left_out_ = int(learned.usable.sum()), int((~learned.usable).sum())
    training = record(self, learned.arrays, data.statistics())
    self.model_ = learned.model(
        n_features=data.n_features,
        feature_names=data.names,
        categories=data.categories,
        fill=checked.fill,
        training=training,
    )
    return self


def predict(self: Any, X: Any) -> Vector:
    """Return the score of each row, shape (rows,); a larger score ranks higher within a query."""
    check_is_fitted(self, "model_")
    scores: Vector = self.model_.predict(X)
    return scores


def fitted_features(ranker: RankingEstimator, X: Any) -> Readable:
    """Return features for a fitted ranker."""
    check_is_fitted(ranker, "model_")
    rows = features_as_fitted(ranker, _require_kind(ranker, X), missing=takes_missing(ranker))
    replaced: Readable = rows if ranker.model_.fill is None else filled(rows, ranker.model_.fill)
    return replaced


def _require_kind(ranker: RankingEstimator, X: Any) -> Any:
    if hasattr(X, "toarray") and not ranker.capabilities.takes_sparse:
        raise InputError(not_sparse(type(ranker).__name__, X))
    return X


def _held_out(ranker: RankingEstimator, validation: Any, fill: Vector | None, *, with_qid: bool) -> HeldOut:
    """Check ``validation``, replace NaN by ``fill``, and return it with the measure."""
    if isinstance(validation, tuple | list) and validation:
        _require_kind(ranker, validation[0])
    held = validation_data(ranker, validation, with_qid=with_qid, missing=takes_missing(ranker))
    held = held if fill is None else evolve(held, X=filled(held.X, fill))
    queries, measure = held.queries.sorted_by(contents(held.X), held.y), measure_of(ranker)
    if np.isnan(measure.values(rank_lists(np.zeros(held.rows), held.y, held.queries.number))).all():
        raise InputError(
            f"validation cannot be used: {measure} is undefined for all of its queries, for example because no "
            "document is relevant"
        )
    return HeldOut(queries.grouped(held.X), queries.grouped(held.y), queries.number[queries.order], measure)
