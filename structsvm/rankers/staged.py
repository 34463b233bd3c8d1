"""Base class of rankers that train step by step, and the held-out queries that choose the number of steps."""

# `help` then shows types by name instead of as long unions.
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.inputs import checked_labels, features_as_fitted, validation_parts
from structsvm.estimators.parameters import measure_of
from structsvm.estimators.ranking import RankingEstimator
from structsvm.estimators.trained import Arrays, TrainedEstimator
from structsvm.exceptions import InputError
from structsvm.features.operators.matrix import Readable
from structsvm.foundation.arrays import contents
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import place, require_integer
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.metrics import Measure, rank_lists
from structsvm.models.base import TrainedModel
from structsvm.models.rows import not_sparse
from structsvm.rankers.preferences import Preferences
from structsvm.rankers.training import TrainingQueries, checked_training
from structsvm.registry.capabilities import Capabilities


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


class StagedRanker(TrainedEstimator, RankingEstimator):
    """A ranker that trains step by step (rounds, epochs, trees)."""

    _kept: ClassVar[Mapping[str, Any]] = {
        "_fitted_with_qid": bool,
        "n_examples_": 1,
        "n_left_out_": 0,
        "best_iteration_": 1,
    }

    capabilities = Capabilities(is_staged=True, takes_preferences=True)
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True}

    n_iter_no_change: int | None = None
    """Stop after this number of steps without a better measure on ``validation``; None: never stop early."""

    n_examples_: int
    n_left_out_: int
    best_iteration_: int
    validation_scores_: Vector | None

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn from queries, step by step.

        Parameters
        ----------
        X : features, shape (rows, d); dense, or of another kind that the class accepts.
        y : labels, shape (rows,), larger is better; or `Preferences` if the class accepts them.
        qid : as in `Ranker.fit`.
        sample_weight : as in `Ranker.fit`; only ratios matter.
        validation : (X, y, qid) of other queries, or (X, y) of one query, with labels y. The ranker keeps the steps up
            to the first with the best ``measure``. None: it keeps all steps.

        Warns
        -----
        OneQueryWarning : qid is missing, so all labeled rows are one query.
        """
        self._require_settings()
        self._require_patience(validation)
        measure_of(self)
        training = checked_training(
            self,
            self._require_kind(X),
            y,
            qid,
            sample_weight,
            missing=self.capabilities.takes_missing,
            takes_preferences=self.capabilities.takes_preferences,
            sort=True,
        )
        held_out = None if validation is None else self._held_out(validation, with_qid=qid is not None)
        usable = training.usable(self, self._teaching(training))
        arrays = self._learn(training, usable, held_out)
        self._fitted_with_qid = qid is not None
        self.n_examples_, self.n_left_out_ = int(usable.sum()), int((~usable).sum())
        self.model_ = self._model(
            n_features=self.n_features_in_, feature_names=self.known_names, training=self._training(None, arrays)
        )
        return self

    def predict(self, X: Any) -> Vector:
        """Return the score of each row, shape (rows,); a larger score ranks higher within a query."""
        check_is_fitted(self, "model_")
        return self.model_.predict(X)

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """Yield the scores of rows, shape (rows,), after each kept step; the last are as from `predict`."""
        check_is_fitted(self, "model_")
        yield from self._stages(self._checked_rows(X))

    @abstractmethod
    def _learn(self, training: TrainingQueries, usable: BoolVector, held_out: HeldOut | None) -> Arrays:
        """Train on the usable queries, set the fitted attributes, and return the arrays to save; None is skipped."""

    @abstractmethod
    def _model(self, **known: Any) -> TrainedModel:
        """Return the trained model; ``known`` are the parameters that all models have."""

    @abstractmethod
    def _stages(self, rows: Any) -> Iterator[Vector]:
        """Yield the scores of checked rows after each step, as `staged_predict` does."""

    def _teaching(self, training: TrainingQueries) -> BoolVector:
        """Return a mask of the queries that the ranker can learn from, shape (Q,)."""
        return training.with_pairs()

    def _checked_rows(self, X: Any) -> Readable:
        return features_as_fitted(self, self._require_kind(X), missing=self.capabilities.takes_missing)

    def _require_kind(self, X: Any) -> Any:
        if hasattr(X, "toarray") and not self.capabilities.takes_sparse:
            raise InputError(not_sparse(type(self).__name__, X))
        return X

    def _require_patience(self, validation: Any) -> None:
        """Raise InputError if ``n_iter_no_change`` is not a positive integer, or is set without ``validation``."""
        require_integer(place(self, "n_iter_no_change"), self.n_iter_no_change, 1, optional=True)
        if self.n_iter_no_change is not None and validation is None:
            raise InputError(
                f"{type(self).__name__}(n_iter_no_change={self.n_iter_no_change!r}) stops by a measure of held-out "
                "queries, and fit was given none: pass validation=(X, y, qid) (--validation FILE on the command "
                "line), or n_iter_no_change=None"
            )

    def _held_out(self, validation: Any, *, with_qid: bool) -> HeldOut:
        """Check ``validation``, which is (X, y, qid) or (X, y), and return it with the measure."""
        X, y, qid = validation_parts(validation, with_qid=with_qid)
        if isinstance(y, Preferences):
            raise InputError(
                "measures need labels: the y of validation must have a label for each row, not Preferences"
            )
        try:
            X = self._checked_rows(X)
            y = checked_labels(y, X.shape[0])
            queries = Queries.of(qid, len(y)).sorted_by(contents(X), y)
        except InputError as error:
            raise InputError(f"validation cannot be used: {error}") from None
        measure = measure_of(self)
        if np.isnan(measure.values(rank_lists(np.zeros(len(y)), y, qid))).all():
            raise InputError(
                f"validation cannot be used: {measure} is undefined for all of its queries, for example because no "
                "document is relevant"
            )
        return HeldOut(queries.grouped(X), queries.grouped(y), queries.number[queries.order], measure)
