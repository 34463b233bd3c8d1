"""A ranker whose features are chosen by cross-validated backward elimination."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from attrs import define, field
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.parameters import random_of
from structsvm.estimators.ranker_cv import RankerCV, measure_of_loss
from structsvm.estimators.ranking import RankingEstimator, measured, predicted
from structsvm.estimators.saving import add_facts, adopt, chosen_model, save_chosen, set_features
from structsvm.estimators.search import require_folds_at_once
from structsvm.evaluation.paired_columns import interval_column
from structsvm.evaluation.significance.intervals import mean_intervals
from structsvm.exceptions import InputError, brief, first_of, stacklevel_of_user
from structsvm.foundation.settings import is_integer, is_number, place, require_integer
from structsvm.foundation.tables.table import Column, Table
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.metrics import Measure
from structsvm.models.linear import LinearModel
from structsvm.registry import measures, rankers
from structsvm.registry.capabilities import Capabilities
from structsvm.training.choose import FittedCandidate, HeldScores, best_of, choose, ignore_warnings_of_fits, splits_of
from structsvm.training.data import TrainingData
from structsvm.training.elimination import eliminate, sizes_of
from structsvm.training.objective import Fit, Spec

SizeCallback: TypeAlias = Callable[[int, int | None], Any]
"""Function that is called after each fit with its number of features and its fold, None outside of folds."""


class _Subset(NamedTuple):
    """A model of some of the features, with their mask."""

    model: LinearModel
    support: NDArray[np.bool_]


def _eliminated(
    spec: Spec, sizes: Sequence[int], callback: SizeCallback | None, train: TrainingData, fold: int
) -> list[FittedCandidate]:
    """Return the models of a fold with each number of features, from all of them down."""
    objective, candidates = spec.objective(train), []
    for elimination in eliminate(objective, train.queries, sizes):
        model: Any = objective.model(elimination.result)
        support = np.isin(np.arange(train.n_features), elimination.features)
        candidates.append(FittedCandidate(_Subset(model, support), converged=elimination.result.converged))
        if callback is not None:
            callback(len(elimination.features), fold)
    return candidates


def _values(measure: Measure, subset: _Subset, held: TrainingData) -> HeldScores:
    return HeldScores((), measure.per_query(subset.model.predict(held.X, held.qid), held.y, held.qid))


@define(slots=False, eq=False, repr=False)
class FeatureEliminationCV(RankingEstimator):
    """A linear ranker that eliminates features backward, and chooses their number on held-out queries.

    The elimination starts with all features. After each fit, it drops the features with the smallest effect on scores:
    the absolute weight times the standard deviation of the feature within queries. Each fit starts from the cutting
    planes of the previous fit. Each fold of the queries is held out once, and features are eliminated anew on the other
    queries, so held-out queries have no part in the choice. The ranker is then fitted to all queries with the chosen
    number of features.

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
    n_features_ : the number of features with the best mean; if several, the smallest.
    support_ : mask of the chosen features, shape (d,).
    best_score_ : mean over held-out queries at ``n_features_``.
    measure_name_ : name of the measure.
    sizes_ : numbers of features that were tried, ascending, shape (K,).
    mean_scores_ : mean over all held-out queries at each number, shape (K,).
    intervals_ : 95% confidence interval of each mean, shape (K, 2); NaN if all values are equal.
    scores_by_query_ : value of each held-out query at each number, shape (K, Q); if several splits hold a query out,
        their mean.
    query_ids_ : ids of the held-out queries, shape (Q,).
    supports_ : masks of the features left at each number, by elimination on all queries, shape (K, d).
    fold_supports_ : the same masks, by elimination without each fold, shape (folds, K, d).
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

    capabilities = Capabilities(takes_qid_at_predict=True)
    measure = None

    estimator: Any = None
    step: float = field(default=1, kw_only=True)
    min_features: int = field(default=1, kw_only=True)
    cv: Any = field(default=5, kw_only=True)
    scoring: str | Measure | None = field(default=None, kw_only=True)
    random_state: int | np.random.RandomState | None = field(default=0, kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        callback: SizeCallback | None = None,
    ) -> Self:
        """Choose the features, and fit the ranker with them to all queries.

        Parameters
        ----------
        X : features, shape (rows, d), dense or sparse.
        y, qid, sample_weight : as in `Ranker.fit`; qid is required. Means count all held-out queries alike.
        callback : function that is called after each fit with its number of features and the number of its fold from 0
            (None: all queries). It needs n_jobs=None.

        Warns
        -----
        ConvergenceWarning : some fits did not reach their tol.
        """
        ranker, measure = self._checked(callback)
        if qid is None:
            raise InputError("qid is missing: features are chosen on held-out queries, so pass the query of each row")
        spec = ranker.spec()
        data = spec.data(X, y, qid, sample_weight)
        d = data.n_features
        require_integer(place(self, "min_features"), self.min_features, 1)
        if self.min_features > d:
            raise InputError(f"{place(self, 'min_features')} is {self.min_features}, and X has {d}")
        set_features(self, d, data.names, data.categories)
        sizes = sizes_of(d, self.step, self.min_features)
        supports: list[NDArray[np.bool_]] = []

        splits = splits_of(place(self, "cv"), self.cv, data, random_of(self))
        pairs = ((data.subset(train), data.subset(held)) for train, held in splits)
        fits, score = partial(_eliminated, spec, sizes, callback), partial(_values, measure)
        choice = choose(pairs, len(splits), fits, score, keep=attrgetter("support"), n_jobs=self.n_jobs)
        self.measure_name_ = str(measure)
        self.sizes_: IntVector = np.array(sizes[::-1])
        held_out: Any = choice.by_query
        self.query_ids_: NDArray[Any] = held_out.ids
        self.scores_by_query_: Matrix = held_out.values[::-1]
        self.fold_supports_: NDArray[np.bool_] = np.array(
            [[candidate.fitted for candidate in fold.candidates[::-1]] for fold in choice.folds]
        )
        if not len(self.query_ids_):
            raise InputError(f"{measure} has a value for no held-out query: give judged queries")
        self.mean_scores_: Vector = self.scores_by_query_.mean(axis=1)
        self.intervals_: Matrix = mean_intervals(self.scores_by_query_, value_range=measure.value_range)
        best = best_of(self.mean_scores_)
        self.n_features_ = int(self.sizes_[best])
        self.best_score_ = float(self.mean_scores_[best])

        objective, unfinished = spec.objective(data), choice.unfinished
        with warnings.catch_warnings():
            ignore_warnings_of_fits()
            for elimination in eliminate(objective, data.queries, sizes):
                supports.append(np.isin(np.arange(d), elimination.features))
                unfinished += not elimination.result.converged
                if len(elimination.features) == self.n_features_:
                    self.estimator_ = adopt(ranker, Fit(objective, elimination.result, objective.facts))
                if callback is not None:
                    callback(len(elimination.features), None)
        self.supports_: NDArray[np.bool_] = np.array(supports[::-1])
        self.support_: NDArray[np.bool_] = self.supports_[best]
        seed = f", seed {self.random_state}" if is_integer(self.cv) else ""
        add_facts(
            self.estimator_,
            choice=f"{self.n_features_} of {d} features by elimination: {measure} {self.best_score_:.4f} over "
            f"{len(self.fold_supports_)} folds{seed}",
        )
        if unfinished:
            warnings.warn(
                f"{unfinished} of {(len(self.fold_supports_) + 1) * len(sizes)} fits did not reach their tol. A larger "
                "max_iter of the solver, or a larger tol, may help",
                ConvergenceWarning,
                stacklevel=stacklevel_of_user(),
            )
        return self

    predict = RankerCV.predict

    def score(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean of ``scoring`` for ``estimator_``; see `Ranker.score`."""
        check_is_fitted(self, "estimator_")
        return measured(self.estimator_, self.measure_, predicted(self.estimator_, X, qid), y, qid, sample_weight)

    def table(self) -> Table:
        """Return the mean of ``scoring`` at each number of features, with its interval and the added features."""
        check_is_fitted(self, "estimator_")
        names = self.estimator_.known_names or [str(k) for k in range(1, self.n_features_in_ + 1)]
        records: list[dict[str, Any]] = []
        fewer = np.zeros(self.n_features_in_, dtype=np.bool_)
        for k, support in enumerate(self.supports_):
            low, high = (None if np.isnan(end) else float(end) for end in self.intervals_[k])
            shared = self.fold_supports_[:, k] & support
            records.append(
                {
                    "features": int(self.sizes_[k]),
                    self.measure_name_: float(self.mean_scores_[k]),
                    "low": low,
                    "high": high,
                    "chosen": bool(self.sizes_[k] == self.n_features_),
                    "same_in_folds": float(shared.sum(axis=1).mean() / support.sum()),
                    "added": ",".join(names[j] for j in np.flatnonzero(support & ~fewer)),
                }
            )
            fewer = support
        columns = (
            Column("features", lambda record: f"{record['features']}{' *' if record['chosen'] else '  '}"),
            Column.number(self.measure_name_, self.measure_name_, ".4f"),
            interval_column(),
            Column.number("same in folds", "same_in_folds", ".0%"),
            Column("added", lambda record: first_of(record["added"].split(",")), right=False),
        )
        notes = (
            f"*: chosen. Means are over {len(self.query_ids_)} held-out queries in {len(self.fold_supports_)} folds. "
            'Each fold chooses features from the other folds. "Same in folds" is the share of the features chosen on '
            'all queries that a fold also chose. "Added" names the features that the row above lacks. The best mean '
            "was chosen, so it is optimistic: evaluate the model on other queries.",
        )
        return Table("", columns, (tuple(records),), notes)

    save = save_chosen
    model_ = property(chosen_model)

    @property
    def measure_(self) -> Measure:
        """The measure that `score` reports."""
        return self._measure_for(self.estimator_)

    def _checked(self, callback: Any) -> tuple[Any, Measure]:
        """Check the parameters that do not depend on data; return the unfitted ranker and the measure."""
        ranker = clone(rankers.create("ranker" if self.estimator is None else self.estimator))
        stored = getattr(ranker, "stored", None)
        if stored is None or stored.form is not LinearModel or not ranker.capabilities.has_path:
            raise InputError(
                f"{place(self, 'estimator')} must be a linear ranker with a certificate, Ranker or RankSVM, got "
                f"{type(ranker).__name__}"
            )
        step: Any = self.step
        if not (is_integer(step, 1) or (is_number(step, above=0.0) and step < 1)):
            raise InputError(
                f"{place(self, 'step')} must be a number of features from 1, or a share between 0 and 1, "
                f"got {brief(step)}"
            )
        require_folds_at_once(self, callback)
        measure = self._measure_for(ranker)
        if measure.summary != "mean":
            raise InputError(f"scoring must be a mean over queries; {measure} is a {measure.summary}: choose another")
        return ranker, measure

    def _measure_for(self, ranker: Any) -> Measure:
        """Return the measure that ``scoring`` means for a ranker."""
        measure: Measure = measure_of_loss(ranker) if self.scoring is None else measures.create(self.scoring)
        return measure

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
