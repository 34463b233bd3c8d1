"""Rankers that are made step by step, and the held-out queries by which the number of steps is chosen."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.inputs import checked_labels, features_as_fitted
from structsvm.estimators.model_file import Trained
from structsvm.estimators.parameters import measure_of
from structsvm.estimators.ranking import RankingEstimator
from structsvm.exceptions import InputError
from structsvm.metrics import Measure, rank_lists
from structsvm.operators import Readable
from structsvm.queries import Queries
from structsvm.rankers.preferences import Preferences
from structsvm.rankers.ranker_file import SavedRanker
from structsvm.rankers.training import Training, checked_training, require_dense
from structsvm.settings import place, require_integer
from structsvm.types import BoolVector, Vector


@frozen(eq=False)
class HeldOut:
    """Labelled queries, and the measure that counts on them.

    Parameters
    ----------
    X : features, shape (rows, d).
    y : labels, shape (rows,).
    qid : query id of each row; None: one query.
    measure : what `score` of the estimator reports.
    """

    X: Readable
    y: Vector
    qid: ArrayLike | None
    measure: Measure

    def value(self, scores: ArrayLike) -> float:
        """Return the mean of the measure over these queries."""
        return self.measure.mean(np.asarray(scores), self.y, self.qid)


class StagedRanker(SavedRanker, RankingEstimator):
    """A ranker that is made step by step (rounds, epochs, trees); `staged_predict` has the scores after each.

    Derive from it and write `_require_settings`, `_learn`, `_scores`, `_stages` and what `SavedRanker` asks for;
    `_teaching` where other queries than those with pairs have something to learn from.

    Attributes
    ----------
    best_iteration_ : the number of steps that predictions are made with: the best by ``validation``, or all.
    validation_scores_ : the measure of ``validation`` after each step; None without it.
    """

    _counts: ClassVar[Mapping[str, int]] = {**SavedRanker._counts, "best_iteration_": 1}

    _takes_preferences: ClassVar[bool] = True
    """Whether `Preferences` may take the place of labels."""

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True}

    patience: int | None = None
    """Steps without a better measure of ``validation`` after which to stop; None: all are made."""

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
        X : features, one document a row, shape (rows, d). Of which kind they may be says the class.
        y : labels, shape (rows,), of which larger is better; or `Preferences`, where the class takes them.
        qid : query id of each row (not group sizes); rows of a query need not be together.
            None: all rows are one query.
        sample_weight : weight of each row, the same for all rows of a query. Only ratios matter.
        validation : (X, y, qid) of other queries, or (X, y) of one query, y being labels: the steps up to the one that
            is best on them by ``measure`` are kept, the first among equals. None: all steps are.

        Raises
        ------
        InputError : when the data or a parameter cannot be used; it says why.

        Warns
        -----
        OneQueryWarning : when there is no qid, and more rows with labels than one query plausibly has.
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
            missing=self._takes_missing,
            takes_preferences=self._takes_preferences,
        )
        held_out = None if validation is None else self._held_out(validation, with_qid=qid is not None)
        usable = training.usable(self, self._teaching(training))
        self._learn(training, usable, held_out)
        self._fitted_with_qid = qid is not None
        self.n_examples_, self.n_left_out_ = int(usable.sum()), int((~usable).sum())
        self.trained_ = Trained.now()
        return self

    def predict(self, X: Any) -> Vector:
        """Return the score of each row; within a query, larger is ahead. Shape (rows,)."""
        check_is_fitted(self, "n_examples_")
        return self._scores(self._checked_rows(X, min_rows=0))

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """Yield the score of each row after each step that is kept; the last are those of `predict`.

        Parameters
        ----------
        X : as in `predict`.

        Yields
        ------
        Scores, shape (rows,), once for each step.
        """
        check_is_fitted(self, "n_examples_")
        yield from self._stages(self._checked_rows(X))

    @abstractmethod
    def _learn(self, training: Training, usable: BoolVector, held_out: HeldOut | None) -> None:
        """Learn, and set what is learned.

        Parameters
        ----------
        training : the data.
        usable : which queries are learned from, shape (Q,).
        held_out : by what to choose the number of steps; None: all are kept.
        """

    @abstractmethod
    def _scores(self, rows: Any) -> Vector:
        """Return the scores of rows that were checked, shape (rows,)."""

    @abstractmethod
    def _stages(self, rows: Any) -> Iterator[Vector]:
        """Yield what `staged_predict` does, of rows that were checked."""

    def _teaching(self, training: Training) -> BoolVector:
        """Say which queries have something to learn from, shape (Q,)."""
        return training.with_pairs()

    def _checked_rows(self, X: Any, min_rows: int = 1) -> Readable:
        return features_as_fitted(self, self._require_kind(X), min_rows=min_rows, missing=self._takes_missing)

    def _require_kind(self, X: Any) -> Any:
        if not self._takes_sparse:
            require_dense(self, X)
        return X

    def _require_patience(self, validation: Any) -> None:
        """Refuse a ``patience`` that is not a number of steps, or has no ``validation`` to look at."""
        require_integer(place(self, "patience"), self.patience, 1, optional=True)
        if self.patience is not None and validation is None:
            raise InputError(
                f"{type(self).__name__}(patience={self.patience!r}) stops by a measure of held-out queries, and "
                "fit was given none: pass validation=(X, y, qid), or patience=None"
            )

    def _held_out(self, validation: Any, *, with_qid: bool) -> HeldOut:
        """Check what `fit` was given as ``validation``, whose number of features must be that of the training data.

        Raises
        ------
        InputError : when it is not (X, y, qid) or (X, y), or does not fit.
        """
        if not isinstance(validation, tuple | list) or len(validation) not in (2, 3):
            raise InputError("validation must be a tuple (X, y, qid), or (X, y) where all its rows are one query")
        X, y, qid = (*validation, None)[:3]
        if qid is None and with_qid:
            raise InputError("fit was given qid, so validation needs it too: pass validation=(X, y, qid)")
        if isinstance(y, Preferences):
            raise InputError("measures are of labels: the y of validation must hold one a row, not Preferences")
        try:
            X = self._checked_rows(X)
            y = checked_labels(y, X.shape[0])
            Queries.of(qid, len(y))
        except InputError as error:
            raise InputError(f"validation cannot be used: {error}") from None
        measure = measure_of(self)
        if np.isnan(measure.values(rank_lists(np.zeros(len(y)), y, qid))).all():
            raise InputError(
                f"validation cannot be used: {measure} has a value for none of its queries, such as where no "
                "document is relevant"
            )
        return HeldOut(X, y, qid, measure)
