"""Rankers by a weighted sum of features, which may be put on one scale first."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

import warnings
from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from structsvm.compute.threads import using
from structsvm.estimators.fitting import Objective, checked_Cs
from structsvm.estimators.inputs import features_as_fitted
from structsvm.estimators.model_file import Trained
from structsvm.estimators.ranking import Parts, RankingEstimator
from structsvm.estimators.scales import ColumnRanges
from structsvm.exceptions import FeatureScaleWarning, InputError, stacklevel_of_user
from structsvm.normalisation import NORMALISATIONS, Normalisation, Standardised, learned, normalisation_named
from structsvm.operators import Operator, Rows
from structsvm.operators.matrix import is_finite
from structsvm.queries import Queries
from structsvm.result import Result
from structsvm.serving.linear import LinearScorer
from structsvm.serving.scorer import Description
from structsvm.settings import place
from structsvm.solvers import Callback, CheckpointPath
from structsvm.types import Vector


class RawWeights(NamedTuple):
    """Weights of features as they are, before any normalisation: the score is ``coef·x + intercept``.

    Parameters
    ----------
    coef : shape (d,).
    intercept : the constant.
    """

    coef: Vector
    intercept: float


class LinearScores(RankingEstimator):
    """A ranker by a weighted sum of features, which it may put on one scale first.

    Derive from it, let `fit` call `_normalised_for_fit`, and set ``coef_``, and ``intercept_`` where there is one.

    Parameters
    ----------
    normalise : what is done to features first: "query-min-max" (from 0 to 1 within each query), "query-z-score" (mean 0
        and standard deviation 1 within each query), "standard" (these over all training rows); None: nothing. Of
        sparse features none is shifted, only divided: what is 0 stays 0, and as all scores of a query change by the
        same number, no ranking changes.

    Attributes
    ----------
    coef_ : weights of the normalised features, shape (d,).
    intercept_ : constant part of the scores.
    normaliser_ : what is done to features, with what it learned of the training rows; None: nothing.
    """

    __metadata_request__predict: ClassVar[dict[str, Any]] = {"qid": True}

    _weighs_scales: ClassVar[bool] = True
    """Whether what is learned depends on the scales of columns, as with a regulariser."""

    normalise: str | None = None
    n_jobs: int | None = None
    coef_: Vector
    intercept_: float = 0.0
    normaliser_: Normalisation | None = None

    def predict(self, X: Any, qid: ArrayLike | None = None) -> Vector:
        """Return the score of each row; within a query, larger is ahead. Shape (rows,).

        Parameters
        ----------
        X : features, as in `fit`.
        qid : query id of each row, which only a normalisation by query looks at. None: all rows are one query, which a
            ranker that was fitted with qid and normalises by query refuses.

        Raises
        ------
        InputError : when X or qid cannot be used, or qid is missing; it says why.
        """
        check_is_fitted(self, "coef_")
        if isinstance(X, Operator):
            if self.normaliser_ is not None or X.d != len(self.coef_):
                raise InputError(
                    f"X is an operator with {X.d} weights, and this {type(self).__name__} has {len(self.coef_)}, of "
                    f"features {'as they are' if self.normaliser_ is None else 'that it normalises: give it a matrix'}"
                )
            return X.scores(self.coef_) + self.intercept_
        by_query = self.normaliser_ is not None and self.normaliser_.by_query
        if qid is None and self._fitted_with_qid and by_query and getattr(X, "shape", (1,))[:1] != (0,):
            raise InputError(
                f"this {type(self).__name__} was fitted with qid and normalises by query, so predict needs qid too; "
                "qid=np.zeros(len(X)) says that all rows are one query. Inside a pipeline or a grid search, switch on "
                "sklearn.set_config(enable_metadata_routing=True): qid is then handed to predict as well as to fit"
            )
        about = Description("", type(self).__name__, self.n_features_in_, self.known_names)
        scorer = LinearScorer.made(about, self.coef_, self.intercept_, self.normaliser_)
        if is_finite(X) and not by_query:
            with using(self.n_jobs):
                return Rows.one_each(features_as_fitted(self, X, min_rows=0)).scores(scorer.coef) + scorer.intercept
        scores = scorer.predict(X, qid)
        if qid is not None and not by_query and len(scores):
            Queries.of(qid, len(scores))  # ids that no normalisation looks at are checked all the same
        return scores

    def raw_weights(self) -> RawWeights:
        """Return the weights of features as they are, by which scores come out the same without normalisation.

        Raises
        ------
        InputError : when features are normalised by query: their weights differ from query to query.
        """
        check_is_fitted(self, "coef_")
        normaliser = self.normaliser_
        if normaliser is None:
            return RawWeights(self.coef_, self.intercept_)
        if isinstance(normaliser, Standardised):
            weights, constant = normaliser.folded(self.coef_)
            return RawWeights(weights, self.intercept_ + constant)
        raise InputError(
            f"this ranker normalises by query ({normaliser.name}), so that the weights of features as they are differ "
            "from query to query: normalise='standard', or None and features that are normalised before, has such"
        )

    def parts(self) -> Parts:
        """Return the weights of features, normalised ones where they are normalised."""
        check_is_fitted(self, "coef_")
        notes = []
        if self.normaliser_ is not None:
            notes.append(f"Weights are of normalised features ({self.normaliser_.name}).")
        if self.intercept_:
            notes.append(f"The intercept is {self.intercept_:.6g}.")
        return Parts.of("weight", self.coef_, *notes)

    def _predicted(self, X: Any, qid: ArrayLike | None) -> Vector:
        return self.predict(X, qid=qid)

    def _normalised_for_fit(self, X: Any, queries: Callable[[], Queries]) -> Any:
        """Set ``normaliser_``, and return the training rows as they are learned from.

        Parameters
        ----------
        X : training rows, checked.
        queries : returns those of the rows; called where they are needed.

        Warns
        -----
        FeatureScaleWarning : when ranges of columns differ by more than `FAR_APART`, and nothing is normalised.
        """
        name = normalisation_named(place(self, "normalise"), self.normalise)
        if name is None:
            self.normaliser_ = None
            if self._weighs_scales and (isinstance(X, np.ndarray) or hasattr(X, "indptr")):
                self._warn_of_scales(ColumnRanges.of(X))
            return X
        self.normaliser_ = learned(name, X)
        return self.normaliser_.rows(X, queries() if self.normaliser_.by_query else None)

    def _warn_of_scales(self, ranges: ColumnRanges) -> None:
        if ranges.far_apart:
            names = getattr(self, "feature_names_in_", None)
            called = "column {}".format if names is None else lambda k: repr(str(names[k]))
            warnings.warn(
                f"{ranges.told(called)}: try normalise={' or '.join(map(repr, NORMALISATIONS))}",
                FeatureScaleWarning,
                stacklevel=stacklevel_of_user(),
            )


class LinearRanker(LinearScores):
    """A ranker whose weights minimise an `Objective`.

    Derive from it and write ``__init__`` (with ``C``, ``normalise`` and ``measure``), `_objective` (which sets
    ``_fitted_with_qid`` and calls `_normalised_for_fit`) and `_take`.

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
        X : features, one document a row, shape (rows, d); dense, CSR or a `BinnedMatrix`. For a `Ranker`, an
            `Operator` of one score a row too, whose examples are the queries; `predict` takes one as well.
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
        self.trained_ = Trained.now()
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
            fitted[C].trained_ = Trained.now()
        return [fitted[C] for C in values if C in fitted]
