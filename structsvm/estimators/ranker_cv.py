"""A ranker whose C is chosen by cross-validation."""

# `help` then shows types by name instead of as long unions.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.choosing import HeldScores, PathScores, Scoring, SearchCallback, called, part_of, pooled
from structsvm.estimators.inputs import checked_features, checked_labels, features_as_fitted, validation_parts
from structsvm.estimators.parameters import measure_of
from structsvm.estimators.path_cv import PathCV
from structsvm.estimators.ranking import RankingEstimator
from structsvm.evaluation.significance.intervals import UNLIMITED, mean_intervals
from structsvm.exceptions import InputError
from structsvm.foundation.queries import Queries, row_weights
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.metrics import Measure
from structsvm.registry import losses, measures, rankers
from structsvm.registry.capabilities import Capabilities, capabilities_of
from structsvm.registry.spelling import Spelling
from structsvm.solvers.checkpoint import CheckpointPath


class LabelledQueries(NamedTuple):
    """Training or validation data; ``qid`` None means one query, ``weight`` None means all 1."""

    X: Any
    y: Any
    qid: Any
    weight: Any

    @classmethod
    def checked(cls, estimator: Any, X: Any, y: Any, qid: Any, weight: Any, *, missing: bool) -> Self:
        """Check data for `fit`; the estimator stores the number of features and their names."""
        rows = checked_features(estimator, X, min_rows=2, missing=missing)
        # Rankers that are fitted to parts of a frame need its names.
        return cls.of(X if hasattr(estimator, "feature_names_in_") else rows, y, qid, weight)

    @classmethod
    def of(cls, X: Any, y: Any, qid: Any, weight: Any) -> Self:
        """Check labels, queries and weights for checked features."""
        labels = checked_labels(y, X.shape[0])
        queries = Queries.of(qid, len(labels))
        ids = None if qid is None else np.asarray(qid)
        weights = None if weight is None else row_weights(weight, len(labels))
        if qid is not None and weights is not None:
            queries.weights(weights)
        return cls(X, labels, ids, weights)

    def part(self, chosen: IntVector) -> Self:
        """Return the data of some rows."""
        return type(self)(*(None if each is None else part_of(each, chosen) for each in self))

    @property
    def groups(self) -> Any:
        """The query ids."""
        return self.qid

    @property
    def units(self) -> str:
        """Plural of the word for the parts of folds."""
        return "rows" if self.qid is None else "queries"

    @property
    def extent(self) -> str:
        """Number of validation queries, in words."""
        queries = 1 if self.qid is None else len(np.unique(self.qid))
        return f"{queries} validation {'query' if queries == 1 else 'queries'}"

    @property
    def given(self) -> dict[str, Any]:
        """The arguments of `fit` beside X and y."""
        return {"qid": self.qid} | ({} if self.weight is None else {"sample_weight": self.weight})

    def scores_of(self, estimator: Any, scorings: Mapping[str, Scoring | None]) -> HeldScores:
        """Score a fitted ranker on these queries by each scoring."""
        scores = estimator._predicted(self.X, self.qid)
        found = [
            copy(estimator).set_params(measure=scoring)._measured(scores, self.y, self.qid, self.weight)
            if isinstance(scoring, Measure)
            else called(name, scoring, estimator, self)
            for name, scoring in scorings.items()
        ]
        first = next(iter(scorings.values()))
        if not isinstance(first, Measure) or first.summary != "mean" or self.qid is None or self.weight is not None:
            return HeldScores(found)
        return HeldScores(found, first.per_query(scores, self.y, self.qid))


def measure_of_loss(ranker: RankingEstimator) -> Measure:
    """Return the ``measure`` of a ranker; without one, the measure with the name of its loss, else MAP."""
    loss = getattr(ranker, "loss", None) if ranker.measure is None else None
    text = loss if isinstance(loss, str) or loss is None else losses.spell(loss)
    if text is not None:
        parts = Spelling.of(text)
        for name in (text, parts.name if parts.cutoff is None else f"{parts.name}@{parts.cutoff}"):
            with suppress(InputError):
                found: Measure = measures.create(name)
                return found
    return measure_of(ranker)


class RankerCV(PathCV, RankingEstimator):
    """A ranker that chooses C on held-out queries, along warm-started paths.

    Each fold of the queries is held out once. The ranker is fitted to the other queries at every C of the grid, each
    fit starting from the weights of the previous one, and scored on the fold. The C with the best mean score is then
    fitted to all queries. Queries are never split between training and validation.

    Parameters
    ----------
    estimator : a ranker with ``C``, or its name; its own C is ignored. None: ``Ranker()``. A ranker without `path`,
        such as `MaximumEntropy`, is fitted anew at each C.
    Cs : the grid; a number n means n values from 0.01 to 1000, evenly spaced on a logarithmic scale. None: 11 values.
    cv : number of folds, a splitter of scikit-learn that keeps groups whole, such as ``GroupKFold(5)`` (groups are
        queries), or a list of (training rows, held-out rows). Without qid, rows are split.
    scoring : the criterion: a measure by name ("map", "ndcg@10") or as an object, or a scorer of scikit-learn,
        ``scorer(ranker, X, y)``, which receives ``qid`` if it requests that. In a list, the first item chooses C, and
        all are reported. None: the ``measure`` of the ranker, else the measure of its loss, else "map".
    refit : fit the ranker to all queries at the chosen C. False: only choose.
    random_state : seed of the split into folds, if ``cv`` is a number.
    n_jobs : number of folds to fit at the same time, each in its own process; see `Ranker`. None: one.

    Attributes
    ----------
    C_ : the chosen C: the value with the best mean score, the smallest among equals.
    Cs_ : the values that were tried, ascending, shape (K,).
    scores_ : score of each fold at each C, shape (folds, K), by the first scoring if ``scoring`` is a list.
    mean_scores_ : mean of ``scores_`` over folds, shape (K,).
    best_score_ : mean score at ``C_``.
    scores_by_name_ : a dictionary from the name of each scoring to its scores, in the form of ``scores_``.
    scores_by_query_ : score of each held-out query at each C, the queries of all folds together, shape (K, queries);
        its mean if several splits hold it out. None if the scoring is a scorer or not a mean over queries, without
        ``qid``, or with ``sample_weight``.
    intervals_ : 95% confidence interval of the mean of each row of ``scores_by_query_``, shape (K, 2); NaN if all
        values are equal, None without ``scores_by_query_``. It is too optimistic at ``C_``, because these queries chose
        C, and it ignores that folds share training queries: report the interval of other queries.
    gaps_ : certified gap of each fit in units of the loss, ``gap / C``, shape (folds, K); NaN without a certificate.
    estimator_ : the ranker fitted to all queries at ``C_``; absent with ``refit=False``.
    interrupted_ : True if Ctrl-C ended the search with ``validation`` early; ``Cs_`` then has the values reached.
    model_ : the trained model of ``estimator_``.
    n_features_in_, feature_names_in_ : as in `Ranker`.

    Examples
    --------
    >>> from structsvm.data import load_digits_queries
    >>> train, test = load_digits_queries()
    >>> search = RankerCV(Cs=[0.1, 1.0, 10.0], cv=3, scoring="ndcg@10").fit(train.X, train.y, qid=train.qid)
    >>> search.scores_.shape, search.C_ in search.Cs_, search.C_ == search.estimator_.C
    ((3, 3), True, True)
    >>> bool(search.score(test.X, test.y, qid=test.qid) > 0.7)
    True
    """

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True}
    __metadata_request__predict: ClassVar[dict[str, Any]] = {"qid": True}

    capabilities = Capabilities(takes_qid_at_predict=True)
    measure = None
    _grid = (11, 0.01, 1000.0)

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
        callback: SearchCallback | None = None,
        checkpoint: CheckpointPath | None = None,
    ) -> Self:
        """Choose C, and fit the ranker to all queries at this C.

        Ctrl-C during the fits on folds raises KeyboardInterrupt; ``scores_by_name_`` then has the finished folds.

        Parameters
        ----------
        X, y, qid, sample_weight : as in `Ranker.fit`; the mean over held-out queries is also weighted.
        validation : held-out queries (X, y, qid), or (X, y) of one query, to choose C by instead of folds. Rankers are
            then fitted to all queries of X, and ``scores_`` has one row. None: folds.
        callback : function that is called with every `Step` and the number of its fold from 0, or None for a fit to all
            queries. It returns True to end the current fit; the search continues with the next one. It needs
            n_jobs=None.
        checkpoint : as in `Ranker.path`, with files for each fold: ``fit.npz`` becomes ``fit.fold=1.C=10.0.npz``.

        Warns
        -----
        GridEndWarning : the chosen C is at an end of the grid.
        ConvergenceWarning : some fits did not reach their tol.
        """
        paths = self._paths(callback, checkpoint)
        missing = paths.estimator.capabilities.takes_missing
        given = LabelledQueries.checked(self, X, y, qid, sample_weight, missing=missing)
        held = None if validation is None else self._held_out(validation, given.qid is not None, missing=missing)
        return self._search(paths, given, held)

    def predict(self, X: Any, qid: ArrayLike | None = None) -> Vector:
        """Return the score of each row by ``estimator_``; see `Ranker.predict`."""
        check_is_fitted(self, "estimator_")
        scores: Vector = self.estimator_._predicted(X, qid)
        return scores

    def score(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the score of ``estimator_`` by ``scoring``; see `Ranker.score`."""
        return self._score(LabelledQueries(X, y, qid, sample_weight))

    def _score_measure(self) -> Measure:
        scoring = next(iter(self._scorings(self.estimator_).values()))
        return scoring if isinstance(scoring, Measure) else measure_of(self.estimator_)

    def _take(self, scorings: Mapping[str, Scoring | None], Cs: Sequence[float], paths: list[PathScores]) -> None:
        super()._take(scorings, Cs, paths)
        values: Any = [[each.by_query for each in path.scores] for path in paths]
        known = paths and all(each is not None for of_path in values for each in of_path)
        self.scores_by_query_: Matrix | None = None
        self.intervals_: Matrix | None = None
        if known:
            self.scores_by_query_ = pooled(values).values
            scoring = next(iter(scorings.values()))
            known_range = scoring.value_range if isinstance(scoring, Measure) else UNLIMITED
            self.intervals_ = mean_intervals(self.scores_by_query_, value_range=known_range)

    def _create(self) -> RankingEstimator:
        ranker: RankingEstimator = clone(rankers.create("ranker" if self.estimator is None else self.estimator))
        return ranker

    def _scoring(self, given: Any, estimator: Any) -> tuple[str, Scoring | None]:
        measure: Measure = measure_of_loss(estimator) if given is None else measures.create(given)
        return str(measure), measure

    def _held_out(self, validation: Any, with_qid: bool, *, missing: bool) -> LabelledQueries:
        X, y, qid = validation_parts(validation, with_qid=with_qid)
        try:
            rows = features_as_fitted(self, X, min_rows=2, missing=missing)
        except InputError as error:
            raise InputError(f"validation cannot be used: {error}") from None
        return LabelledQueries.of(rows, y, qid, None)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        given = self.estimator
        known = capabilities_of(rankers.find(given or "ranker") if isinstance(given, str | None) else given)
        tags.input_tags.sparse, tags.input_tags.allow_nan = known.takes_sparse, known.takes_missing
        return tags
