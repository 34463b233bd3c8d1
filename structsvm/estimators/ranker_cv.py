"""A ranker whose C is chosen by cross-validation."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.choosing import (
    LabelledQueries,
    PathFits,
    PathScores,
    Scoring,
    SearchCallback,
    as_scorings,
    best_of,
    evenly_spaced,
    held_out_scores,
    splits_of,
    which_end,
)
from structsvm.estimators.fitting import checked_Cs
from structsvm.estimators.inputs import validation_parts
from structsvm.estimators.parameters import random_of
from structsvm.estimators.ranking import RankingEstimator
from structsvm.exceptions import GridEndWarning, InputError, stacklevel_of_user
from structsvm.foundation.compute.threads import require_jobs
from structsvm.foundation.settings import is_integer, place, require_callback, require_integer, require_switch
from structsvm.foundation.types import Matrix, Vector
from structsvm.models.base import TrainedModel
from structsvm.registry import rankers
from structsvm.registry.capabilities import Capabilities, capabilities_of
from structsvm.solvers.checkpoint import CheckpointPath

_RANGE = (0.01, 1000.0)
"""Smallest and largest C of the grid if ``Cs`` is a number of values."""


class RankerCV(RankingEstimator):
    """A ranker that chooses C on held-out queries, along warm-started paths.

    Each fold of the queries is held out once. The ranker is fitted to the other queries at every C of the grid, each
    fit starting from the weights of the previous one, and scored on the fold. The C with the best mean score is then
    fitted to all queries. Queries are never split between training and validation.

    Parameters
    ----------
    ranker : a ranker with ``C``, or its name; its own C is ignored. None: ``Ranker()``. A ranker without `path`,
        such as `MaximumEntropy`, is fitted anew at each C.
    Cs : the grid; a number n means n values from 0.01 to 1000, evenly spaced on a logarithmic scale.
    cv : number of folds, a splitter of scikit-learn that keeps groups whole, such as ``GroupKFold(5)`` (groups are
        queries), or a list of (training rows, held-out rows). Without qid, rows are split.
    scoring : the criterion: a measure by name ("map", "ndcg@10") or as an object, or a scorer of scikit-learn,
        ``scorer(ranker, X, y)``, which receives ``qid`` if it requests that. With a list, the first chooses, and
        all are reported. None: the ``measure`` of the ranker, else the measure of its loss, else "map".
    refit : fit the ranker to all queries at the chosen C. False: only choose.
    random_state : seed of the split into folds, if ``cv`` is a number.
    n_jobs : number of folds that are fitted at the same time, each in its own process; see `Ranker`. None: one.

    Attributes
    ----------
    C_ : the chosen value: the best mean score, the smallest among equals.
    Cs_ : the values that were tried, ascending, shape (K,).
    scores_ : score of each fold at each C, shape (folds, K); of the first, if ``scoring`` is a list.
    mean_scores_ : mean of ``scores_`` over folds, shape (K,).
    best_score_ : mean score at ``C_``.
    scores_by_name_ : ``scores_`` by each scoring, by name.
    gaps_ : certified gap of each fit in units of the loss, ``gap / C``, shape (folds, K); NaN without a certificate.
    ranker_ : the ranker at ``C_``, fitted to all queries; absent with ``refit=False``.
    interrupted_ : True if Ctrl-C ended the fits to choose from with ``validation``; ``Cs_`` has the values reached.
    model_ : the trained model of ``ranker_``.
    n_features_in_, feature_names_in_ : as in `Ranker`.

    Examples
    --------
    >>> from structsvm.data import load_digits_queries
    >>> train, test = load_digits_queries()
    >>> search = RankerCV(Cs=[0.1, 1.0, 10.0], cv=3, scoring="ndcg@10").fit(train.X, train.y, qid=train.qid)
    >>> search.scores_.shape, search.C_ in search.Cs_, search.C_ == search.ranker_.C
    ((3, 3), True, True)
    >>> bool(search.score(test.X, test.y, qid=test.qid) > 0.7)
    True
    """

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True}
    __metadata_request__predict: ClassVar[dict[str, Any]] = {"qid": True}

    capabilities = Capabilities(takes_qid_at_predict=True)
    measure = None

    @property
    def model_(self) -> TrainedModel:
        """The model of ``ranker_``."""
        model: TrainedModel = self.ranker_.model_
        return model

    @model_.setter
    def model_(self, model: TrainedModel) -> None:
        self.ranker_.model_ = model

    def __init__(
        self,
        ranker: RankingEstimator | str | None = None,
        Cs: int | ArrayLike = 11,
        *,
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.ranker = ranker
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs

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
        """Choose C, and fit the ranker at it.

        Ctrl-C during the fits on folds raises KeyboardInterrupt; ``scores_by_name_`` then has the finished folds.

        Parameters
        ----------
        X, y, qid, sample_weight : as in `Ranker.fit`; the mean over held-out queries is also weighted.
        validation : (X, y, qid) of other queries, or (X, y) of one query, to choose C instead of folds. Rankers are
            then fitted to all queries of X; scores have one row. None: folds.
        callback : called with every `Step` and the number of its fold from 0, None for a fit to all queries; returns
            True to end this fit, after which the next begins. It needs n_jobs=None.
        checkpoint : as in `Ranker.path`, with files for each fold: ``fit.npz`` becomes ``fit.fold=1.C=10.0.npz``.

        Warns
        -----
        GridEndWarning : the chosen C is at an end of the grid.
        ConvergenceWarning : some fits did not reach their tol.
        """
        ranker, Cs, scorings = self._settings(callback, checkpoint)
        self.interrupted_ = False
        missing = ranker.capabilities.takes_missing
        given = LabelledQueries.checked(self, X, y, qid, sample_weight, missing=missing)
        paths = PathFits(ranker, Cs, scorings, callback, checkpoint)
        if validation is None:
            found = self._over_folds(paths, given, splits_of(place(self, "cv"), self.cv, given, random_of(self)))
            self._take(scorings, Cs, found)
            self._warn_of_unfinished(found)
        else:
            held = self._held_out(validation, given.qid is not None, missing=missing)
            path = paths.on(given, held, None)
            self._take(scorings, Cs[: len(path.gaps)], [path])
            self.interrupted_ = path.interrupted
        best = self._choose()
        if validation is not None:
            self.ranker_ = path.rankers[best]
            queries = 1 if held.qid is None else len(np.unique(held.qid))
            self._note_choice(f"on {queries} validation {'query' if queries == 1 else 'queries'}")
        elif self.refit:
            self.ranker_ = paths.fitted(given, self.C_)
            seed = f", seed {self.random_state}" if is_integer(self.cv) else ""
            each = ", ".join(f"{score:.4f}" for score in self.scores_[:, best])
            self._note_choice(f"over {len(self.scores_)} folds{seed} ({each})")
        return self

    def predict(self, X: Any, qid: ArrayLike | None = None) -> Vector:
        """Return the score of each row by ``ranker_``; see `Ranker.predict`."""
        check_is_fitted(self, "ranker_")
        scores: Vector = self.ranker_._predicted(X, qid)
        return scores

    def score(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the score of ``ranker_`` by ``scoring``; see `Ranker.score`."""
        check_is_fitted(self, "ranker_")
        name, scoring = next(iter(as_scorings(self.scoring, self.ranker_).items()))
        return held_out_scores(self.ranker_, LabelledQueries(X, y, qid, sample_weight), {name: scoring})[0]

    def save(self, path: str | Path) -> None:
        """Write ``ranker_`` to a file; see `Ranker.save`."""
        check_is_fitted(self, "ranker_")
        self.ranker_.save(path)

    def _settings(self, callback: Any, checkpoint: Any) -> tuple[RankingEstimator, list[float], dict[str, Scoring]]:
        """Check all parameters; return the ranker, the grid and the scorings."""
        ranker: RankingEstimator = clone(rankers.create("ranker" if self.ranker is None else self.ranker))
        if "C" not in ranker.get_params(deep=False):
            raise InputError(f"{place(self, 'ranker')} must have a setting C, but {type(ranker).__name__} has no C")
        count: Any = self.Cs
        if is_integer(count):
            require_integer(place(self, "Cs"), count, 1)
            Cs = list(evenly_spaced(*_RANGE, count))
        else:
            Cs = sorted(set(checked_Cs(self.Cs)))
        require_switch(place(self, "refit"), self.refit)
        require_jobs(place(self, "n_jobs"), self.n_jobs)
        require_callback(callback)
        if callback is not None and self.n_jobs not in (None, 1):
            raise InputError(f"{place(self, 'n_jobs')} must be None if fit has a callback, got {self.n_jobs!r}")
        if not ranker.capabilities.has_path and (callback is not None or checkpoint is not None):
            raise InputError(f"{type(ranker).__name__} has no path over C: leave callback and checkpoint out")
        return ranker, Cs, as_scorings(self.scoring, ranker)

    def _over_folds(self, paths: PathFits, given: LabelledQueries, splits: list[Any]) -> list[PathScores]:
        found: list[PathScores] = []
        try:
            if self.n_jobs not in (None, 1):
                work = [delayed(paths.on_fold)(given, split, k, len(splits)) for k, split in enumerate(splits)]
                return list(Parallel(n_jobs=self.n_jobs)(work))
            for k, split in enumerate(splits):
                found.append(paths.on_fold(given, split, k, len(splits)))
        except KeyboardInterrupt:
            self._take(paths.scorings, paths.Cs, found)
            raise
        return found

    def _held_out(self, validation: Any, with_qid: bool, *, missing: bool) -> LabelledQueries:
        X, y, qid = validation_parts(validation, with_qid=with_qid)
        fitted = clone(self)
        held = LabelledQueries.checked(fitted, X, y, qid, None, missing=missing)
        if fitted.n_features_in_ != self.n_features_in_:
            raise InputError(
                f"validation has {fitted.n_features_in_} features, and the training data have {self.n_features_in_}"
            )
        return held

    def _take(self, scorings: dict[str, Scoring], Cs: Sequence[float], paths: list[PathScores]) -> None:
        self.Cs_: Vector = np.array(Cs)
        reached = np.array([path.scores for path in paths]).reshape(len(paths), len(Cs), len(scorings))
        self.scores_by_name_: dict[str, Matrix] = {name: reached[:, :, k] for k, name in enumerate(scorings)}
        self.gaps_: Matrix = np.array([path.gaps for path in paths]).reshape(len(paths), len(Cs))

    def _warn_of_unfinished(self, paths: list[PathScores]) -> None:
        unfinished = sum(path.unfinished for path in paths)
        if unfinished:
            warnings.warn(
                f"{unfinished} of {self.gaps_.size} fits on folds did not reach their tol; the largest gap is "
                f"{self.gaps_.max():.2g} * C. A larger max_iter of the solver, or a larger tol, may help",
                ConvergenceWarning,
                stacklevel=stacklevel_of_user(),
            )

    def _choose(self) -> int:
        """Set the scores and the chosen C; return its position in the grid. Warn if it is at an end."""
        self.scores_: Matrix = next(iter(self.scores_by_name_.values()))
        self.mean_scores_: Vector = self.scores_.mean(axis=0)
        best = best_of(self.mean_scores_)
        self.C_, self.best_score_ = float(self.Cs_[best]), float(self.mean_scores_[best])
        end = which_end(self.mean_scores_, best)
        if end and not self.interrupted_:
            warnings.warn(
                f"the chosen C = {self.C_:g} is the {end} value of the grid: a wider range of Cs may do better",
                GridEndWarning,
                stacklevel=stacklevel_of_user(),
            )
        return best

    def _note_choice(self, where: str) -> None:
        """Add to the record of training how C was chosen."""
        Cs, name = self.Cs_, next(iter(self.scores_by_name_))
        said = (
            f"C = {self.C_:g} of {len(Cs)} values from {Cs[0]:g} to {Cs[-1]:g}: {name} {self.best_score_:.4f} {where}"
        )
        self.ranker_.trained_ = evolve(self.ranker_.trained_, choice=said)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        ranker = rankers.find(self.ranker or "ranker") if isinstance(self.ranker, str | None) else self.ranker
        known = capabilities_of(ranker)
        tags.input_tags.sparse, tags.input_tags.allow_nan = known.takes_sparse, known.takes_missing
        return tags
