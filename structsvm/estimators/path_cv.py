"""Base of the estimators whose C is chosen by cross-validation."""

# `help` then shows types by name instead of as long unions.
from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.choosing import (
    Labeled,
    PathFits,
    PathScores,
    Scoring,
    as_scorings,
    best_of,
    evenly_spaced,
    splits_of,
    which_end,
)
from structsvm.estimators.chosen import ChosenEstimator
from structsvm.estimators.fitting import checked_Cs
from structsvm.estimators.own_init import OwnInit
from structsvm.estimators.parameters import random_of
from structsvm.exceptions import GridEndWarning, InputError, brief, stacklevel_of_user
from structsvm.foundation.compute.threads import require_jobs
from structsvm.foundation.settings import is_integer, place, require_callback, require_integer, require_switch
from structsvm.foundation.types import Matrix, Vector
from structsvm.registry.capabilities import capabilities_of

_MOST_CS = 10_000
"""Largest number of values of C that a number stands for."""


class PathCV(OwnInit, ChosenEstimator):
    """Base of estimators that choose C on held-out data along warm-started paths, and then act as the chosen one."""

    _grid: ClassVar[tuple[int, float, float]]
    """Default number of values of C, and the smallest and the largest value."""

    def __init__(
        self,
        estimator: Any = None,
        Cs: int | ArrayLike | None = None,
        *,
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs

    @abstractmethod
    def _create(self) -> Any:
        """Return a new estimator to fit."""

    @abstractmethod
    def _scoring(self, given: Any, estimator: Any) -> tuple[str, Scoring | None]:
        """Return the name and the scoring that ``scoring`` means for an estimator, if it is not a function."""

    def _scorings(self, estimator: Any) -> dict[str, Scoring | None]:
        return as_scorings(self.scoring, lambda given: self._scoring(given, estimator))

    def _score(self, held: Labeled) -> float:
        """Return the score of ``estimator_`` by the first of ``scoring``."""
        check_is_fitted(self, "estimator_")
        name, scoring = next(iter(self._scorings(self.estimator_).items()))
        return held.scores_of(self.estimator_, {name: scoring}).scores[0]

    def _paths(self, callback: Any, checkpoint: Any) -> PathFits:
        """Check all parameters; return the settings of the fits."""
        estimator, name = self._create(), place(self, "estimator")
        title = type(estimator).__name__
        if "C" not in estimator.get_params(deep=False):
            raise InputError(f"{name} must have a setting C, but {title} has no C")
        count, low, high = self._grid
        given: Any = count if self.Cs is None else self.Cs
        if is_integer(given):
            require_integer(place(self, "Cs"), given, 1)
            if given > _MOST_CS:
                raise InputError(f"{place(self, 'Cs')} must be at most {_MOST_CS:,} values, got {brief(given)}")
            Cs = list(evenly_spaced(low, high, given))
        else:
            Cs = sorted(set(checked_Cs(given)))
        require_switch(place(self, "refit"), self.refit)
        require_jobs(place(self, "n_jobs"), self.n_jobs)
        require_callback(callback)
        if callback is not None and self.n_jobs not in (None, 1):
            raise InputError(f"{place(self, 'n_jobs')} must be None if fit has a callback, got {brief(self.n_jobs)}")
        if not capabilities_of(estimator).has_path and (callback is not None or checkpoint is not None):
            raise InputError(f"{title} has no path over C: leave callback and checkpoint out")
        return PathFits(estimator, Cs, self._scorings(estimator), callback, checkpoint)

    def _search(self, paths: PathFits, given: Labeled, held: Labeled | None) -> Self:
        """Choose C on held-out data, or on folds if they are None; set all attributes."""
        self.interrupted_ = False
        if held is None:
            found = self._over_folds(paths, given, splits_of(place(self, "cv"), self.cv, given, random_of(self)))
            self._take(paths.scorings, paths.Cs, found)
            self._warn_of_unfinished(found)
        else:
            path = paths.on(given, held, None)
            self._take(paths.scorings, paths.Cs[: len(path.gaps)], [path])
            self.interrupted_ = path.interrupted
        best = self._choose()
        if held is not None:
            self.estimator_ = path.estimators[best]
            self._note_choice(f"on {held.extent}")
        elif self.refit:
            self.estimator_ = paths.fitted(given, self.C_)
            seed = f", seed {self.random_state}" if is_integer(self.cv) else ""
            each = ", ".join(f"{score:.4f}" for score in self.scores_[:, best])
            self._note_choice(f"over {len(self.scores_)} folds{seed} ({each})")
        return self

    def _over_folds(self, paths: PathFits, given: Labeled, splits: list[Any]) -> list[PathScores]:
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

    def _take(self, scorings: Mapping[str, Scoring | None], Cs: Sequence[float], paths: list[PathScores]) -> None:
        self.Cs_: Vector = np.array(Cs)
        scores = [[each.scores for each in path.scores] for path in paths]
        reached = np.array(scores).reshape(len(paths), len(Cs), len(scorings))
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
        self.estimator_.trained_ = evolve(self.estimator_.trained_, choice=said)
