"""A ranker whose features are chosen by cross-validated backward elimination."""

# `help` then shows types by name instead of as long unions.
from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.choosing import best_of, pooled, splits_of
from structsvm.estimators.chosen import ChosenEstimator
from structsvm.estimators.elimination import eliminate, sizes_of
from structsvm.estimators.linear import LinearRanker
from structsvm.estimators.parameters import random_of
from structsvm.estimators.ranker_cv import LabelledQueries, measure_of_loss
from structsvm.estimators.ranking import RankingEstimator
from structsvm.evaluation.significance.intervals import mean_intervals
from structsvm.exceptions import (
    FeatureScaleWarning,
    IdFeaturesWarning,
    InputError,
    OneQueryWarning,
    ZeroWeightsWarning,
    brief,
    stacklevel_of_user,
)
from structsvm.foundation.compute.threads import require_jobs
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import (
    is_integer,
    is_number,
    place,
    require_callback,
    require_integer,
)
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.metrics import Measure
from structsvm.metrics.base import PerQuery
from structsvm.models.linear import LinearModel
from structsvm.registry import measures, rankers
from structsvm.registry.capabilities import Capabilities
from structsvm.result import full_coef

SizeCallback: TypeAlias = Callable[[int, int | None], Any]
"""Function that is called after each fit with its number of features and its fold, None outside of folds."""


class FeatureEliminationCV(ChosenEstimator, RankingEstimator):
    """A linear ranker that chooses its features by backward elimination, and their number on held-out queries.

    The elimination starts with all features. After each fit, it drops the features with the smallest effect on scores:
    the absolute weight times the standard deviation of the feature within queries. Each fit starts from the planes of
    the previous fit. Each fold of the queries is held out once, and features are eliminated anew on the other queries,
    so held-out queries have no part in the choice. The ranker is then fitted to all queries with the chosen number of
    features.

    Parameters
    ----------
    estimator : a linear ranker with a certificate, `Ranker` or `RankSVM`, or its name. None: ``Ranker()``.
    step : number of features to drop at a time; below 1, a share of the remaining features, rounded up.
    min_features : smallest number of features.
    cv : number of folds, a splitter of scikit-learn that keeps groups whole, or a list of splits; see `RankerCV`.
    scoring : a measure that is a mean over queries, by name or as an object. None: the ``measure`` of the ranker, else
        the measure of its loss, else "map".
    random_state : seed of the split into folds, if ``cv`` is a number.
    n_jobs : number of folds to fit at the same time, each in its own process. None: one.

    Attributes
    ----------
    n_features_ : the chosen number of features: the best mean, the smallest among equals.
    support_ : mask of the chosen features, shape (d,).
    best_score_ : mean over held-out queries at ``n_features_``.
    measure_name_ : name of the measure.
    sizes_ : numbers of features that were tried, ascending, shape (K,).
    mean_scores_ : mean over all held-out queries at each number, shape (K,).
    intervals_ : 95% confidence interval of each mean, shape (K, 2); NaN if all values are equal.
    scores_by_query_ : value of each held-out query at each number, shape (K, Q); its mean if several splits hold it
        out.
    query_ids_ : ids of the held-out queries, shape (Q,).
    supports_ : mask of the features of each number, by elimination on all queries, shape (K, d).
    fold_supports_ : masks of the features by elimination without each fold, shape (folds, K, d).
    estimator_ : the ranker fitted to all queries. It accepts all features; features that were not chosen have weight 0.
    model_ : the trained model of ``estimator_``.
    n_features_in_, feature_names_in_ : as in `Ranker`.

    Examples
    --------
    >>> from structsvm.data import load_digits_queries
    >>> train, test = load_digits_queries()
    >>> search = FeatureEliminationCV(step=5, cv=3).fit(train.X, train.y, qid=train.qid)
    >>> search.sizes_.tolist(), search.scores_by_query_.shape == (6, len(search.query_ids_))
    ([1, 5, 10, 15, 20, 25], True)
    >>> bool(search.support_.sum() == search.n_features_ == (search.estimator_.coef_ != 0.0).sum())
    True
    """

    __metadata_request__predict: ClassVar[dict[str, Any]] = {"qid": True}

    capabilities = Capabilities(takes_qid_at_predict=True)
    measure = None

    def __init__(
        self,
        estimator: Any = None,
        *,
        step: float = 1,
        min_features: int = 1,
        cv: Any = 5,
        scoring: str | Measure | None = None,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.step = step
        self.min_features = min_features
        self.cv = cv
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, qid: ArrayLike | None = None, callback: SizeCallback | None = None) -> Self:
        """Choose the features, and fit the ranker with them to all queries.

        Parameters
        ----------
        X : features, shape (rows, d), dense or sparse.
        y, qid : as in `Ranker.fit`; qid is required.
        callback : function that is called after each fit with its number of features and the number of its fold from
            0, None for all queries. It needs n_jobs=None.

        Warns
        -----
        ConvergenceWarning : some fits did not reach their tol.
        """
        estimator, measure = self._checked(callback)
        if qid is None:
            raise InputError("qid is missing: features are chosen on held-out queries, so pass the query of each row")
        given = LabelledQueries.checked(self, X, y, qid, None, missing=False)
        require_integer(place(self, "min_features"), self.min_features, 1)
        if self.min_features > self.n_features_in_:
            raise InputError(f"{place(self, 'min_features')} is {self.min_features}, and X has {self.n_features_in_}")
        path = _Path(estimator, measure, sizes_of(self.n_features_in_, self.step, self.min_features), callback)
        splits = splits_of(place(self, "cv"), self.cv, given, random_of(self))
        if self.n_jobs in (None, 1):
            folds = [path.on_fold(given, split, k) for k, split in enumerate(splits)]
        else:
            folds = Parallel(n_jobs=self.n_jobs)(delayed(path.on_fold)(given, *each) for each in _numbered(splits))
        self._take(path, folds)
        self._fit_chosen(path, given, sum(fold.unfinished for fold in folds))
        return self

    def _checked(self, callback: Any) -> tuple[LinearRanker, Measure]:
        """Check the parameters that do not depend on data; return the ranker and the measure."""
        estimator = clone(rankers.create("ranker" if self.estimator is None else self.estimator))
        if not isinstance(estimator, LinearRanker):
            raise InputError(
                f"{place(self, 'estimator')} must be a linear ranker with a certificate, Ranker or RankSVM, got "
                f"{type(estimator).__name__}"
            )
        step: Any = self.step
        if not (is_integer(step, 1) or (is_number(step, above=0.0) and step < 1)):
            raise InputError(
                f"{place(self, 'step')} must be a number of features from 1, or a share between 0 and 1, "
                f"got {brief(step)}"
            )
        require_jobs(place(self, "n_jobs"), self.n_jobs)
        require_callback(callback)
        if callback is not None and self.n_jobs not in (None, 1):
            raise InputError(f"{place(self, 'n_jobs')} must be None if fit has a callback, got {brief(self.n_jobs)}")
        measure = self._measure_for(estimator)
        if measure.summary != "mean":
            raise InputError(f"scoring must be a mean over queries; {measure} is a {measure.summary}: choose another")
        return estimator, measure

    def _take(self, path: _Path, folds: Sequence[_Fold]) -> None:
        """Set the attributes of the held-out queries, and choose the number of features."""
        self.measure_name_ = str(path.measure)
        self.sizes_: IntVector = np.array(path.sizes[::-1])
        held = pooled([fold.fits for fold in folds])
        self.query_ids_: NDArray[Any] = held.ids
        self.scores_by_query_: Matrix = held.values[::-1]
        self.fold_supports_: NDArray[np.bool_] = np.array([fold.supports[::-1] for fold in folds])
        if not len(self.query_ids_):
            raise InputError(f"{path.measure} has a value for no held-out query: give judged queries")
        self.mean_scores_: Vector = self.scores_by_query_.mean(axis=1)
        self.intervals_: Matrix = mean_intervals(self.scores_by_query_, value_range=path.measure.value_range)
        best = best_of(self.mean_scores_)
        self.n_features_ = int(self.sizes_[best])
        self.best_score_ = float(self.mean_scores_[best])

    def _fit_chosen(self, path: _Path, given: LabelledQueries, unfinished: int) -> None:
        """Eliminate features on all queries; set ``estimator_`` to the fit with the chosen number of them."""
        ranker: Any = clone(path.estimator)
        objective = ranker._objective(given.X, given.y, given.qid, None)
        d, supports = self.n_features_in_, []
        with _quiet():
            for fit in eliminate(objective, Queries.of(given.qid, len(given.y)), path.sizes):
                supports.append(np.isin(np.arange(d), fit.features))
                unfinished += not fit.result.converged
                if len(fit.features) == self.n_features_:
                    columns = None if len(fit.columns) == d else fit.columns
                    ranker._take(evolve(fit.result, columns=columns), objective.scaling)
                path.tell(len(fit.features), None)
        self.supports_: NDArray[np.bool_] = np.array(supports[::-1])
        self.support_: NDArray[np.bool_] = self.supports_[int(np.searchsorted(self.sizes_, self.n_features_))]
        self.estimator_ = ranker
        seed = f", seed {self.random_state}" if is_integer(self.cv) else ""
        said = (
            f"{self.n_features_} of {d} features by elimination: {path.measure} {self.best_score_:.4f} over "
            f"{len(self.fold_supports_)} folds{seed}"
        )
        ranker.trained_ = evolve(ranker.trained_, choice=said)
        if unfinished:
            warnings.warn(
                f"{unfinished} of {(len(self.fold_supports_) + 1) * len(self.sizes_)} fits did not reach their tol. A "
                "larger max_iter of the solver, or a larger tol, may help",
                ConvergenceWarning,
                stacklevel=stacklevel_of_user(),
            )

    def predict(self, X: Any, qid: ArrayLike | None = None) -> Vector:
        """Return the score of each row by ``estimator_``; X has all features. See `Ranker.predict`."""
        check_is_fitted(self, "estimator_")
        scores: Vector = self.estimator_._predicted(X, qid)
        return scores

    def score(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean of ``scoring`` for ``estimator_``; see `Ranker.score`."""
        check_is_fitted(self, "estimator_")
        measure = self._score_measure()
        return LabelledQueries(X, y, qid, sample_weight).scores_of(self.estimator_, {str(measure): measure}).scores[0]

    def _score_measure(self) -> Measure:
        return self._measure_for(self.estimator_)

    def _measure_for(self, estimator: LinearRanker) -> Measure:
        """Return the measure that ``scoring`` means for a ranker."""
        measure: Measure = measure_of_loss(estimator) if self.scoring is None else measures.create(self.scoring)
        return measure

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _Fold(NamedTuple):
    """Values of held-out queries for each number of features, and masks of the features, shape (K, d)."""

    fits: list[PerQuery]
    supports: NDArray[np.bool_]
    unfinished: int


class _Path(NamedTuple):
    """Settings for eliminations."""

    estimator: Any
    measure: Measure
    sizes: Sequence[int]
    callback: SizeCallback | None

    def tell(self, size: int, fold: int | None) -> None:
        if self.callback is not None:
            self.callback(size, fold)

    def on_fold(self, given: LabelledQueries, split: tuple[IntVector, IntVector], fold: int) -> _Fold:
        """Eliminate features on the queries of a fold, and measure each fit on the held-out queries."""
        ranker: Any = clone(self.estimator)
        train, held = map(given.part, split)
        d, found, supports, unfinished = self.sizes[0], [], [], 0
        with _quiet():
            try:
                objective = ranker._objective(train.X, train.y, train.qid, None)
            except InputError as error:
                error.add_note(f"This was in fold {fold + 1}.")
                raise
            for fit in eliminate(objective, Queries.of(train.qid, len(train.y)), self.sizes):
                coef, intercept = ranker._parted(full_coef(fit.result.w, fit.columns, d))
                model = LinearModel(
                    n_features=d,
                    feature_names=ranker.known_names,
                    coef=coef,
                    intercept=intercept,
                    scaling=objective.scaling,
                )
                found.append(self.measure.per_query(model.predict(held.X, held.qid), held.y, held.qid))
                supports.append(np.isin(np.arange(d), fit.features))
                unfinished += not fit.result.converged
                self.tell(len(fit.features), fold)
        return _Fold(found, np.array(supports), unfinished)


def _numbered(splits: list[Any]) -> list[tuple[Any, int]]:
    return [(split, k) for k, split in enumerate(splits)]


class _quiet(warnings.catch_warnings):
    """Ignore the warnings of fits."""

    def __enter__(self) -> Any:
        entered = super().__enter__()
        for category in (
            ConvergenceWarning,
            FeatureScaleWarning,
            IdFeaturesWarning,
            OneQueryWarning,
            ZeroWeightsWarning,
        ):
            warnings.simplefilter("ignore", category)
        return entered
