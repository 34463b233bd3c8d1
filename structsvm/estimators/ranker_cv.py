"""A ranker whose C is chosen by cross-validation."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any, Self, cast

import numpy as np
from attrs import define, evolve, field
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.parameters import measure_of
from structsvm.estimators.ranking import RankingEstimator, predicted
from structsvm.estimators.saving import chosen_model, save_chosen, set_features
from structsvm.estimators.search import Grid, Scoring, SearchCallback, as_scorings, held_scores, search_C
from structsvm.evaluation.significance.intervals import UNLIMITED, mean_intervals
from structsvm.exceptions import InputError
from structsvm.foundation.tables.table import Column, Table
from structsvm.foundation.types import Matrix, Vector
from structsvm.metrics import Measure
from structsvm.registry import losses, measures, rankers
from structsvm.registry.capabilities import Capabilities, capabilities_of, takes_missing
from structsvm.registry.spelling import Spelling
from structsvm.solvers.checkpoint import CheckpointPath
from structsvm.training.data import TrainingData, validation_data


def measure_of_loss(ranker: RankingEstimator) -> Measure:
    """Return the ``measure`` of a ranker; without one, the measure with the name of its loss, else MAP."""
    loss = getattr(ranker, "loss", None) if ranker.measure is None else None
    text = loss if isinstance(loss, str) or loss is None else losses.spell(loss)
    if text is not None:
        parts = Spelling.of(text)
        for name in (text, parts.name if parts.cutoff is None else f"{parts.name}@{parts.cutoff}"):
            with suppress(InputError):
                measure: Measure = measures.create(name)
                return measure
    return measure_of(ranker)


@define(slots=False, eq=False, repr=False)
class RankerCV(RankingEstimator):
    """A ranker that chooses C on held-out queries, along warm-started paths.

    Each fold of the queries is held out once. The ranker is fitted to the other queries at every C of the grid, each
    fit starting from the weights of the previous one, and scored on the fold. Last, the ranker is fitted to all queries
    at the C with the best mean score. Queries are never split between training and validation.

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
    C_ : the value of C with the best mean score; if several, the smallest.
    Cs_ : the values that were tried, ascending, shape (K,).
    scores_ : score of each fold at each C, shape (folds, K), by the first scoring if ``scoring`` is a list.
    mean_scores_ : mean of ``scores_`` over folds, shape (K,).
    best_score_ : mean score at ``C_``.
    scores_by_name_ : a dictionary from the name of each scoring to its scores, in the form of ``scores_``.
    scores_by_query_ : score of each held-out query at each C, the queries of all folds together, shape (K, queries); if
        several splits hold a query out, their mean. None without ``qid``, with ``sample_weight``, or if the scoring is
        a scorer or not a mean over queries.
    intervals_ : 95% confidence interval of the mean of each row of ``scores_by_query_``, shape (K, 2); NaN if all
        values are equal, None without ``scores_by_query_``. Report the interval of other queries: at ``C_``, this one
        is too optimistic, because its queries chose C, and it ignores that folds share training queries.
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

    capabilities = Capabilities(takes_qid_at_predict=True)
    measure = None

    estimator: Any = None
    Cs: int | ArrayLike | None = None
    cv: Any = field(default=5, kw_only=True)
    scoring: Any = field(default=None, kw_only=True)
    refit: bool = field(default=True, kw_only=True)
    random_state: int | np.random.RandomState | None = field(default=0, kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)

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
        estimator = clone(rankers.create("ranker" if self.estimator is None else self.estimator))
        grid = Grid.of(self, estimator, (11, 0.01, 1000.0), callback, checkpoint)
        scorings = self._scorings(estimator)
        missing = takes_missing(estimator)
        check = partial(TrainingData.of, type(self).__name__, missing=missing)
        data = grid.read((X, y, qid, sample_weight), check)
        # Check ids and weights of queries before the first fit.
        if data.weight is not None and qid is not None:
            data.queries.weights(data.weight)
        set_features(self, data.n_features, data.names, data.categories)
        held = None
        if validation is not None:
            held = validation_data(self, validation, with_qid=qid is not None, min_rows=2, missing=missing)
        choice = search_C(self, grid, scorings, data, held)
        values = choice.by_query
        self.scores_by_query_: Matrix | None = None if values is None else values.values
        self.intervals_: Matrix | None = None
        if values is not None:
            scoring = next(iter(scorings.values()))
            value_range = scoring.value_range if isinstance(scoring, Measure) else UNLIMITED
            self.intervals_ = mean_intervals(values.values, value_range=value_range)
        return self

    def predict(self, X: Any, qid: ArrayLike | None = None) -> Vector:
        """Return the score of each row by ``estimator_``; see `Ranker.predict`."""
        check_is_fitted(self, "estimator_")
        return predicted(self.estimator_, X, qid)

    def score(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the score of ``estimator_`` by ``scoring``; see `Ranker.score`."""
        check_is_fitted(self, "estimator_")
        name, scoring = next(iter(self._scorings(self.estimator_).items()))
        ids, weight = cast(Any, (qid, sample_weight))
        held = TrainingData(type(self).__name__, X, y, ids, weight)
        return held_scores({name: scoring}, self.estimator_, held).scores[0]

    def table(self) -> Table:
        """Return the mean scores at each C, with the score of each fold; for one split, with the certified gaps.

        After Ctrl-C, the table has the finished folds.
        """
        check_is_fitted(self, "scores_by_name_")
        (first, *_) = self.scores_by_name_.values()
        fitted: Any = getattr(self, "estimator_", None)
        by_folds = fitted is None or len(first) > 1
        prefix = "" if by_folds else "validation "
        columns = {f"{prefix}{name}": (scores.mean(axis=0), ".4f") for name, scores in self.scores_by_name_.items()}
        if by_folds:
            columns |= {f"fold {k + 1}": (scores, ".4f") for k, scores in enumerate(first)}
        elif capabilities_of(fitted).has_certificate:
            columns |= {f"{'certified' if fitted.result_.certified else 'estimated'} gap": (self.gaps_[0], ".1e")}
        best = getattr(self, "C_", None)
        records = (
            {
                "C": float(C),
                **{heading: float(values[k]) for heading, (values, _) in columns.items()},
                "chosen": "chosen" if best == C else "",
            }
            for k, C in enumerate(self.Cs_)
        )
        shown = {"C": "g", **{heading: form for heading, (_, form) in columns.items()}}
        numbers = (evolve(Column.number(heading, heading, form), right=False) for heading, form in shown.items())
        return Table("", (*numbers, Column.text("", "chosen")), (tuple(records),))

    save = save_chosen
    model_ = property(chosen_model)

    @property
    def measure_(self) -> Measure:
        """The measure of ``scoring``; the ranker's if ``scoring`` is not a measure."""
        scoring = next(iter(self._scorings(self.estimator_).values()))
        return scoring if isinstance(scoring, Measure) else measure_of(self.estimator_)

    def _scorings(self, estimator: Any) -> dict[str, Scoring | None]:
        def resolve(scoring: Any) -> tuple[str, Measure]:
            measure: Measure = measure_of_loss(estimator) if scoring is None else measures.create(scoring)
            return str(measure), measure

        return as_scorings(self.scoring, resolve)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        ranker = self.estimator
        abilities = capabilities_of(rankers.find(ranker or "ranker") if isinstance(ranker, str | None) else ranker)
        tags.input_tags.sparse, tags.input_tags.allow_nan = abilities.takes_sparse, abilities.takes_missing
        return tags
