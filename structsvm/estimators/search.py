"""The search for C on held-out data, which `RankerCV` and `StructuralSVMCV` share."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metadata_routing import get_routing_for_object

from structsvm import training
from structsvm.estimators.parameters import random_of
from structsvm.estimators.ranking import measured, predicted
from structsvm.estimators.saving import add_facts, adopt
from structsvm.exceptions import GridEndWarning, InputError, brief, stacklevel_of_user
from structsvm.foundation.compute.threads import require_jobs
from structsvm.foundation.settings import (
    is_integer,
    is_number,
    place,
    require_callback,
    require_integer,
    require_switch,
)
from structsvm.metrics import Measure
from structsvm.registry.capabilities import capabilities_of
from structsvm.result import Status, Step
from structsvm.solvers import Checkpoint
from structsvm.solvers.checkpoint import CheckpointPath
from structsvm.training.choose import (
    Choice,
    FittedCandidate,
    FoldScores,
    HeldScores,
    choose,
    evenly_spaced,
    splits_of,
    which_end,
)
from structsvm.training.objective import checked_Cs

Scoring: TypeAlias = Measure | Callable[..., float]
"""A measure, or a scorer in scikit-learn's sense: a function of a fitted estimator, X and y."""

SearchCallback: TypeAlias = Callable[[Step, int | None], bool | None]
"""Called with each step and the number of its fold, None outside of folds; returns True to end the fit."""

_MOST_CS = 10_000
"""Largest number of values of C that a number stands for."""


class Grid(NamedTuple):
    """An estimator, the values of C to fit it at, and the arguments of its fits."""

    estimator: Any
    Cs: Sequence[float]
    callback: SearchCallback | None
    checkpoint: CheckpointPath | None

    @classmethod
    def of(
        cls, search: Any, estimator: Any, default: tuple[int, float, float], callback: Any, checkpoint: Any
    ) -> "Grid":
        """Check the parameters of a search; ``default`` is the number of values, the smallest and the largest."""
        name, title = place(search, "estimator"), type(estimator).__name__
        if "C" not in estimator.get_params(deep=False):
            raise InputError(f"{name} must have a setting C, but {title} has no C")
        count, low, high = default
        values: Any = count if search.Cs is None else search.Cs
        if is_integer(values):
            require_integer(place(search, "Cs"), values, 1)
            if values > _MOST_CS:
                raise InputError(f"{place(search, 'Cs')} must be at most {_MOST_CS:,} values, got {brief(values)}")
            Cs = list(evenly_spaced(low, high, values))
        else:
            Cs = sorted(set(checked_Cs(values)))
        require_switch(place(search, "refit"), search.refit)
        require_folds_at_once(search, callback)
        if not capabilities_of(estimator).has_path and (callback is not None or checkpoint is not None):
            raise InputError(f"{title} has no path over C: leave callback and checkpoint out")
        return cls(estimator, Cs, callback, checkpoint)

    def read(self, arguments: tuple[Any, ...], check: Callable[..., Any]) -> Any:
        """Check the data of a fit by the settings of the estimator, or by ``check`` if it is of another kind."""
        return self.estimator.spec().data(*arguments) if hasattr(self.estimator, "spec") else check(*arguments)

    def fits(self, data: Any, fold: int | None) -> list[FittedCandidate]:
        """Fit at each C until Ctrl-C; on a fold, or without any result, raise `KeyboardInterrupt`."""
        if not capabilities_of(self.estimator).has_path:
            return [FittedCandidate(self._public_fit(data, C)) for C in self.Cs]
        candidates = [
            FittedCandidate(ranker, ranker.result_.gap / (C * ranker.gap_unit_), ranker.result_.converged)
            for C, ranker in self._warm_started(data, fold)
        ]
        if fold is not None and self.interrupted(candidates):
            raise KeyboardInterrupt
        return candidates

    def interrupted(self, candidates: Sequence[FittedCandidate]) -> bool:
        """Return True if Ctrl-C ended the path of these candidates."""
        if not capabilities_of(self.estimator).has_path:
            return False
        return len(candidates) < len(self.Cs) or candidates[-1].fitted.result_.status is Status.INTERRUPTED

    def fitted(self, data: Any, C: float) -> Any:
        """Return the estimator fitted at one C."""
        estimator = clone(self.estimator).set_params(C=C)
        if not capabilities_of(estimator).has_path:
            return self._public_fit(data, C)
        callback, checkpoint = self._of_fold(None), self.checkpoint
        return adopt(estimator, training.fit(data, estimator.spec(), callback=callback, checkpoint=checkpoint))

    def _public_fit(self, data: Any, C: float) -> Any:
        return clone(self.estimator).set_params(C=C).fit(data.inputs, data.y, **data.arguments)

    def _warm_started(self, data: Any, fold: int | None) -> Iterator[tuple[float, Any]]:
        """Yield estimators at ascending C; after a fit that the callback stopped, begin a new path."""
        left, checkpoint, spec = list(self.Cs), self.checkpoint, self.estimator.spec()
        if checkpoint is not None and fold is not None:
            checkpoint = Checkpoint.of(checkpoint).of_fold(fold + 1)
        while left:
            try:
                fits = training.path(data, spec, left, callback=self._of_fold(fold), checkpoint=checkpoint)
            except KeyboardInterrupt:
                if len(left) == len(self.Cs):
                    raise
                return
            unfitted = clone(self.estimator)
            for C, fit in fits.items():
                yield C, adopt(copy(unfitted).set_params(C=C), fit, recorded=fold is None)
            left = left[len(fits) :] if fit.result.status is Status.STOPPED else []

    def _of_fold(self, fold: int | None) -> Callable[[Step], bool | None] | None:
        callback = self.callback
        return None if callback is None else lambda step: callback(step, fold)


def require_folds_at_once(search: Any, callback: Any) -> None:
    """Require a valid ``n_jobs``, and one process if there is a callback."""
    require_jobs(place(search, "n_jobs"), search.n_jobs)
    require_callback(callback)
    if callback is not None and search.n_jobs not in (None, 1):
        raise InputError(f"{place(search, 'n_jobs')} must be None if fit has a callback, got {brief(search.n_jobs)}")


def as_scorings(scoring: Any, resolve: Callable[[Any], tuple[str, Scoring | None]]) -> dict[str, Scoring | None]:
    """Return scorings by name; ``resolve`` names and makes one of anything but a function."""
    scorings: dict[str, Scoring | None] = {}
    for item in scoring if isinstance(scoring, list | tuple) else [scoring]:
        is_function = callable(item) and not isinstance(item, Measure | type)
        name, value = (getattr(item, "__name__", str(item)), item) if is_function else resolve(item)
        if name in scorings:
            raise InputError(f"scoring contains {name!r} twice: remove one")
        scorings[name] = value
    if not scorings:
        raise InputError("scoring is an empty list: give at least one scoring, or None for the default")
    return scorings


def scorer_value(name: str, scorer: Any, estimator: Any, held: Any) -> float:
    """Return the value of a scorer, which receives the arguments of `fit` that it requests."""
    arguments = held.arguments
    requested = get_routing_for_object(scorer).consumes("score", arguments.keys())
    value = scorer(estimator, held.inputs, held.y, **{key: arguments[key] for key in requested})
    if not is_number(value):
        raise InputError(f"scoring={name} must return a finite number, got {brief(value)}")
    return float(value)


def held_scores(scorings: Mapping[str, Scoring | None], estimator: Any, held: Any) -> HeldScores:
    """Score a fitted estimator on held-out data by each scoring; None is the estimator's own ``score``."""
    first = next(iter(scorings.values()))
    with_measures = any(isinstance(scoring, Measure) for scoring in scorings.values())
    scores: Any = predicted(estimator, held.inputs, held.qid) if with_measures else None

    def value(name: str, scoring: Scoring | None) -> float:
        if scoring is None:
            return float(estimator.score(held.inputs, held.y, **held.arguments))
        if isinstance(scoring, Measure):
            return measured(estimator, scoring, scores, held.y, held.qid, held.weight)
        return scorer_value(name, scoring, estimator, held)

    values = [value(name, scoring) for name, scoring in scorings.items()]
    if not isinstance(first, Measure) or first.summary != "mean" or held.qid is None or held.weight is not None:
        return HeldScores(values)
    return HeldScores(values, first.per_query(scores, held.y, held.qid))


def search_C(search: Any, grid: Grid, scorings: Mapping[str, Scoring | None], data: Any, held: Any) -> Choice:
    """Choose C on held-out data, or on folds if they are None; set all attributes of the search."""
    search.interrupted_, score = False, partial(held_scores, scorings)
    if held is not None:
        choice = choose([(data, held)], 1, lambda train, _: grid.fits(train, None), score, quiet=False)
        candidates = choice.folds[0].candidates
        search.interrupted_ = grid.interrupted(candidates)
        best = _take(search, grid.Cs[: len(candidates)], scorings, choice)
        search.estimator_ = candidates[best].fitted
        _note_choice(search, f"on {held.extent}")
        return choice
    splits = splits_of(place(search, "cv"), search.cv, data, random_of(search))
    finished: list[FoldScores] = []
    try:
        pairs = ((data.subset(train), data.subset(held_out)) for train, held_out in splits)
        choice = choose(pairs, len(splits), grid.fits, score, n_jobs=search.n_jobs, finished=finished)
    except KeyboardInterrupt:
        _take_scores(search, grid.Cs, scorings, Choice(finished))
        raise
    best = _take(search, grid.Cs, scorings, choice)
    if choice.unfinished:
        warnings.warn(
            f"{choice.unfinished} of {search.gaps_.size} fits on folds did not reach their tol; the largest gap is "
            f"{search.gaps_.max():.2g} * C. A larger max_iter of the solver, or a larger tol, may help",
            ConvergenceWarning,
            stacklevel=stacklevel_of_user(),
        )
    if search.refit:
        search.estimator_ = grid.fitted(data, search.C_)
        seed = f", seed {search.random_state}" if is_integer(search.cv) else ""
        values = ", ".join(f"{score:.4f}" for score in search.scores_[:, best])
        _note_choice(search, f"over {len(search.scores_)} folds{seed} ({values})")
    return choice


def _take_scores(search: Any, Cs: Sequence[float], scorings: Mapping[str, Any], choice: Choice) -> None:
    search.Cs_ = np.array(Cs)
    scores = choice.scores.reshape(len(choice.folds), len(Cs), len(scorings))
    search.scores_by_name_ = {name: scores[:, :, k] for k, name in enumerate(scorings)}
    search.gaps_ = choice.gaps.reshape(len(choice.folds), len(Cs))


def _take(search: Any, Cs: Sequence[float], scorings: Mapping[str, Any], choice: Choice) -> int:
    """Set the scores and the chosen C; return its position in the grid; warn of an end."""
    _take_scores(search, Cs, scorings, choice)
    search.scores_ = next(iter(search.scores_by_name_.values()))
    search.mean_scores_ = search.scores_.mean(axis=0)
    best = choice.best
    search.C_, search.best_score_ = float(search.Cs_[best]), float(search.mean_scores_[best])
    end = which_end(search.mean_scores_, best)
    if end and not search.interrupted_:
        warnings.warn(
            f"the chosen C = {search.C_:g} is the {end} value of the grid: a wider range of Cs may do better",
            GridEndWarning,
            stacklevel=stacklevel_of_user(),
        )
    return best


def _note_choice(search: Any, where: str) -> None:
    """Add to the record of training how C was chosen."""
    Cs, name = search.Cs_, next(iter(search.scores_by_name_))
    add_facts(
        search.estimator_,
        choice=f"C = {search.C_:g} of {len(Cs)} values from {Cs[0]:g} to {Cs[-1]:g}: {name} {search.best_score_:.4f} "
        f"{where}",
    )
