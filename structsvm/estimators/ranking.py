"""What all rankers share: a score for every document, and a measure of the rankings by it."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.compute.threads import using
from structsvm.estimators.fitting import Objective, checked_Cs
from structsvm.estimators.foreign_arguments import explains_foreign_arguments
from structsvm.estimators.inputs import checked_features, checked_labels
from structsvm.estimators.model_file import Trained
from structsvm.estimators.parameters import measure_of
from structsvm.estimators.scales import ColumnRanges
from structsvm.exceptions import FeatureScaleWarning, InputError, stacklevel_of_user
from structsvm.metrics import Measure
from structsvm.normalisation import NORMALISATIONS, Normalisation, Standardised, learned, normalisation_named
from structsvm.operators import Operator, Rows
from structsvm.queries import Queries, row_weights
from structsvm.result import Result
from structsvm.settings import checked_names, place
from structsvm.solvers.checkpoint import CheckpointPath
from structsvm.solvers.run import Callback
from structsvm.types import Vector


@frozen
class Parts:
    """What a fitted ranker is made of, the largest first: what `structsvm show` shows.

    Parameters
    ----------
    quantity : what the values are, in words: "weight", "importance".
    rows : a record for each part: ``feature``, the number of the feature from 0; ``value``; and further numbers by
        name, the same for all rows, such as ``threshold``.
    notes : what there is to say of them, a sentence each.
    """

    quantity: str
    rows: tuple[dict[str, Any], ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, quantity: str, values: Vector, *notes: str) -> Self:
        """Make them of a value for each feature; those of 0 are left out, which a note tells."""
        order = np.argsort(-np.abs(values), kind="stable")
        kept = order[values[order] != 0.0]
        zero = len(values) - len(kept)
        more = (f"{zero} of {len(values)} features have {quantity} 0.",) if zero else ()
        rows = tuple({"feature": k, "value": float(values[k])} for k in kept.tolist())
        return cls(quantity, rows, (*notes, *more))


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

    trained_: Trained | None = None
    feature_names_: tuple[str, ...] | None = None
    """What `name_features` was given since the last fit."""

    def __init_subclass__(cls, **settings: Any) -> None:
        """Let methods say what they take where another library's word is used."""
        super().__init_subclass__(**settings)
        for name in ("fit", "path", "score", "predict"):
            if name in cls.__dict__:
                setattr(cls, name, explains_foreign_arguments(cls.__dict__[name]))

    @abstractmethod
    def predict(self, X: Any) -> Vector:
        """Return the score of each row; within a query, larger is ahead. Shape (rows,)."""

    @property
    def known_names(self) -> tuple[str, ...] | None:
        """Names of the features: what `name_features` was given, or those of the data frame that was learned from."""
        names = self.feature_names_
        if names is None:
            names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(map(str, names))

    def name_features(self, names: Iterable[str]) -> Self:
        """Give features that came as an array the names that `structsvm show` and `structsvm export` call them by.

        `predict` does not look at them; ``feature_names_in_`` are those of a data frame, which it compares.

        Parameters
        ----------
        names : a name for each column, none of them twice.

        Raises
        ------
        InputError : when they are no such names.
        """
        check_is_fitted(self, "n_features_in_")
        self.feature_names_ = checked_names("names", names, self.n_features_in_)
        return self

    def parts(self) -> Parts:
        """Return what the fitted ranker is made of; override it where there is something to show.

        Raises
        ------
        InputError : when there is nothing.
        """
        raise InputError(f"{type(self).__name__} has no parts that could be shown")

    @explains_foreign_arguments
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
        return self._measured(self._predicted(X, qid), y, qid, sample_weight)

    def _predicted(self, X: Any, qid: ArrayLike | None) -> Vector:
        """Return what `predict` does, for rows of these queries."""
        return self.predict(X)

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
        rows: Any = checked_features(self, X, reset=False, min_rows=0)
        if qid is None and rows.shape[0] and self._fitted_with_qid and self.normaliser_ and self.normaliser_.by_query:
            raise InputError(
                f"this {type(self).__name__} was fitted with qid and normalises by query, so predict needs qid too; "
                "qid=np.zeros(len(X)) says that all rows are one query. Inside a pipeline or a grid search, switch on "
                "sklearn.set_config(enable_metadata_routing=True): qid is then handed to predict as well as to fit"
            )
        queries = None if qid is None or not rows.shape[0] else Queries.of(qid, rows.shape[0])
        with using(self.n_jobs):
            if self.normaliser_ is None:
                return _product(rows, self.coef_) + self.intercept_
            return self.normaliser_.scores(rows, queries, self.coef_, _product) + self.intercept_

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


def _product(X: Any, w: Vector) -> Vector:
    return Rows.one_each(X).scores(w)


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
