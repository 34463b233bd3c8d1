"""What all rankers share: a score for every document, and a measure of the rankings by it."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

from abc import abstractmethod
from copy import copy
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags

from structsvm.estimators.fitting import Objective, checked_Cs
from structsvm.estimators.inputs import checked_labels
from structsvm.estimators.parameters import measure_of
from structsvm.exceptions import InputError
from structsvm.metrics import Measure
from structsvm.queries import Queries, row_weights
from structsvm.result import Result
from structsvm.solvers.checkpoint import CheckpointPath
from structsvm.solvers.run import Callback
from structsvm.types import Vector


class RankingEstimator(BaseEstimator):
    """An estimator that scores documents, to rank those of each query by it.

    Derive from it and write ``__init__`` (with ``measure``), ``fit`` (which sets ``_fitted_with_qid``)
    and ``predict``.

    Parameters
    ----------
    measure : what `score` reports, by name ("map", "ndcg@10", "p@5", ...) or as an object; None is "map".
    """

    _takes_sparse: ClassVar[bool] = False
    """Whether features may be sparse."""

    _takes_missing: ClassVar[bool] = False
    """Whether features may be NaN."""

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True}

    measure: str | Measure | None
    _fitted_with_qid: bool

    @abstractmethod
    def predict(self, X: Any) -> Vector:
        """Return the score of each row; within a query, larger is ahead. Shape (rows,)."""

    def score(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean of ``measure`` over queries; those for which it is undefined count 0.

        Parameters
        ----------
        X : features, one document a row, as in `fit`.
        y : labels, shape (rows,).
        qid : query id of each row (not group sizes); rows of a query need not be together. None: all
            rows are one query.
        sample_weight : weight of each row, the same for all rows of a query.

        Raises
        ------
        InputError : when `fit` was given qid and this is not, or the data cannot be used; it says why.
        """
        return self._measured(self.predict(X), y, qid, sample_weight)

    def _measured(self, scores: Vector, y: Any, qid: ArrayLike | None, sample_weight: ArrayLike | None) -> float:
        """Return what `score` does, of scores that `predict` returned."""
        if qid is None and self._fitted_with_qid:
            raise InputError(
                "this ranker was fitted with qid, so score needs qid too. Inside a grid search or "
                "cross-validation, switch on sklearn.set_config(enable_metadata_routing=True): "
                "qid is then handed to score as well as to fit"
            )
        y = checked_labels(y, len(scores))
        weights = None
        if sample_weight is not None:
            row_weights(sample_weight, len(scores))
            if qid is not None:  # the weight of a single query changes no mean, so that those of its rows may differ
                weights = Queries.of(qid, len(scores)).weights(sample_weight)
        return measure_of(self).mean(scores, y, qid, weights=weights)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = self._takes_missing
        return tags


class LinearRanker(RankingEstimator):
    """A ranker whose weights minimise an `Objective`.

    Derive from it and write ``__init__`` (with ``C`` and ``measure``), `predict`, `_objective` (which sets
    ``_fitted_with_qid``) and `_take`.

    Parameters
    ----------
    warm_start : start from the result of the last fit, where that is a parameter.
    """

    _takes_sparse = True
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True}

    warm_start: bool = False
    result_: Result

    @abstractmethod
    def _objective(self, X: Any, y: Any, qid: ArrayLike | None, sample_weight: ArrayLike | None) -> Objective:
        """Check what `fit` was given, set the attributes that depend on it alone, and return what is minimised."""

    @abstractmethod
    def _take(self, result: Result) -> None:
        """Set ``result_``, and the weights that are in it."""

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointPath | None = None,
    ) -> Self:
        """Learn from queries.

        Parameters
        ----------
        X : features, one document a row, shape (rows, d); dense, CSR or a `BinnedMatrix`.
        y : labels, shape (rows,), larger is better; where a document is relevant or not, it is above 0 unless the
            loss says otherwise. A `RankSVM` takes `Preferences` between rows too.
        qid : query id of each row (not group sizes); rows of a query need not be together.
            None: all rows are one query.
        sample_weight : weight of each row, the same for all rows of a query: its κ.
        callback : is shown every `Step`; returns True to stop.
        checkpoint : file that the fit is kept in while it runs, or a `Checkpoint` that says how often. Where it
            exists, the fit goes on from there, and ends at once where it had ended; it is never removed.

        Raises
        ------
        InputError : when the data cannot be used, or the fit in the checkpoint is another one; it says why.

        Warns
        -----
        CheckpointWarning : when the checkpoint cannot be written any more; the fit goes on.
        ConvergenceWarning : when the gap that was asked for is not reached.
        OneQueryWarning : when there is no qid, and more rows than one query plausibly has.
        ZeroWeightsWarning : when the optimum is w = 0, at which all scores are equal.
        """
        objective = self._objective(X, y, qid, sample_weight)
        start = self.result_ if self.warm_start and hasattr(self, "result_") else None
        self._take(objective.minimise(start, callback, checkpoint))
        return self

    def path(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        Cs: ArrayLike = (0.01, 0.1, 1.0, 10.0, 100.0),
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointPath | None = None,
    ) -> list[Self]:
        """Learn at several values of C, each from the result of the one before: cheaper than one by one.

        Parameters
        ----------
        X, y, qid, sample_weight, callback : as in `fit`.
        Cs : the values, in any order; they are taken in ascending order.
        checkpoint : as in `fit`; the fit at each C has a file of its own, as ``fit.npz`` becomes ``fit.C=10.0.npz``.

        Returns
        -------
        A fitted ranker for each value, in the order of ``Cs``; after Ctrl-C, or when the callback
        stops, for the values that were reached. This ranker stays as it is.
        """
        values = checked_Cs(Cs)
        first: Self = clone(self)
        fitted: dict[float, Self] = {}
        for C, result in first._objective(X, y, qid, sample_weight).path(values, callback, checkpoint).items():
            fitted[C] = copy(first).set_params(C=C)
            fitted[C]._take(result)
        return [fitted[C] for C in values if C in fitted]
