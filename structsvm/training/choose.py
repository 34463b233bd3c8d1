"""Choose among candidates by scores on held-out data: the folds, the scores and the best candidate."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import log10
from typing import Any, NamedTuple

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.exceptions import (
    FeatureScaleWarning,
    IdFeaturesWarning,
    InputError,
    OneQueryWarning,
    ZeroWeightsWarning,
)
from structsvm.features.operators import Operator
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import as_list, is_integer, require_integer
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.metrics.base import PerQuery


class FittedCandidate(NamedTuple):
    """A fitted candidate with the certified gap of its fit in units of the loss, NaN without a certificate."""

    fitted: Any
    gap: float = np.nan
    converged: bool = True


class HeldScores(NamedTuple):
    """Scores on held-out data by each scoring, and the value of each query if the first is an unweighted mean."""

    scores: Sequence[float]
    by_query: PerQuery | None = None


class FoldScores(NamedTuple):
    """The candidates of a fold with their scores on its held-out data."""

    candidates: Sequence[FittedCandidate]
    scores: Sequence[HeldScores]


@frozen(eq=False)
class Choice:
    """Scores of candidates on folds; the best has the largest mean of the first scoring, the first among equals."""

    folds: Sequence[FoldScores]

    @property
    def scores(self) -> NDArray[np.float64]:
        """Scores, shape (folds, candidates, scorings)."""
        return np.array([[held.scores for held in fold.scores] for fold in self.folds], dtype=np.float64)

    @property
    def best(self) -> int:
        """Position of the best candidate."""
        return best_of(self.scores[:, :, 0].mean(axis=0))

    @property
    def gaps(self) -> Matrix:
        """Certified gap of each fit in units of the loss, shape (folds, candidates)."""
        return np.array([[candidate.gap for candidate in fold.candidates] for fold in self.folds])

    @property
    def unfinished(self) -> int:
        """Number of fits that did not converge."""
        return sum(not candidate.converged for fold in self.folds for candidate in fold.candidates)

    @property
    def by_query(self) -> PerQuery | None:
        """Values of all held-out queries, shape (candidates, Q), with their ids; None without values of queries."""
        values: Any = [[held.by_query for held in fold.scores] for fold in self.folds]
        complete = values and all(held is not None for fold in values for held in fold)
        return pooled(values) if complete else None


def choose(
    folds: Iterable[tuple[Any, Any]],
    number: int,
    fit: Callable[[Any, int], Sequence[FittedCandidate]],
    score: Callable[[Any, Any], HeldScores],
    *,
    quiet: bool = True,
    keep: Callable[[Any], Any] | None = None,
    n_jobs: int | None = None,
    finished: list[FoldScores] | None = None,
) -> Choice:
    """Fit candidates to the first data set of each fold, and score them on the second.

    Parameters
    ----------
    folds : pairs of training and held-out data; ``number`` is their number.
    fit : returns the candidates fitted to training data; its second argument is the number of the fold.
    score : scores a fitted candidate on held-out data.
    quiet : ignore the warnings of fits, and replace fitted candidates, which need memory, by ``keep`` of them, or None.
    n_jobs : number of folds to fit at the same time, each in its own process; None: one.
    finished : receives the scores of each fold that ends, which survive Ctrl-C.
    """
    done: list[FoldScores] = [] if finished is None else finished
    run = partial(_quietly_on_fold, fit, score, keep, number) if quiet else partial(_on_fold, fit, score)
    if n_jobs in (None, 1):
        for k, fold in enumerate(folds):
            done.append(run(k, *fold))
    else:
        from sklearn.utils.parallel import Parallel, delayed

        done.extend(Parallel(n_jobs=n_jobs)(delayed(run)(k, *fold) for k, fold in enumerate(folds)))
    return Choice(done)


def _on_fold(fit: Any, score: Any, number: int, train: Any, held: Any) -> FoldScores:
    candidates = fit(train, number)
    return FoldScores(candidates, [score(candidate.fitted, held) for candidate in candidates])


def _quietly_on_fold(fit: Any, score: Any, keep: Any, folds: int, number: int, train: Any, held: Any) -> FoldScores:
    """Return the scores of a fold with the kept parts of its fitted candidates; ignore warnings of fits."""
    with warnings.catch_warnings():
        ignore_warnings_of_fits()
        try:
            fold = _on_fold(fit, score, number, train, held)
        except InputError as error:
            error.add_note(f"This was in fold {number + 1} of {folds}.")
            raise
    return fold._replace(
        candidates=[candidate._replace(fitted=keep and keep(candidate.fitted)) for candidate in fold.candidates]
    )


def ignore_warnings_of_fits() -> None:
    """Ignore warnings about single fits, within `warnings.catch_warnings`."""
    from sklearn.exceptions import ConvergenceWarning

    for category in (
        ConvergenceWarning,
        FeatureScaleWarning,
        IdFeaturesWarning,
        OneQueryWarning,
        ZeroWeightsWarning,
    ):
        warnings.simplefilter("ignore", category)


def best_of(scores: Sequence[float] | Vector) -> int:
    """Return the position of the largest score, the first among those equal to 12 digits after the point."""
    return int(np.argmax(np.round(scores, 12)))


def which_end(scores: Sequence[float] | Vector, chosen: int) -> str:
    """Return the end of the ascending grid, "least" or "largest", where a wider grid may do better; "" if neither."""
    if len(scores) < 2:
        return ""
    if chosen == len(scores) - 1:
        return "largest"
    return "least" if chosen == 0 and scores[0] > scores[1] else ""


def evenly_spaced(low: float, high: float, count: int) -> tuple[float, ...]:
    """Return numbers from low to high that are evenly spaced on a logarithmic scale, to six digits."""
    if count == 1:
        return (low,)
    decades = log10(high / low)
    return tuple(float(f"{low * 10 ** (decades * k / (count - 1)):.6g}") for k in range(count))


def pooled(folds: Sequence[Sequence[PerQuery]]) -> PerQuery:
    """Return the ids of all held-out queries, and their values at each fit of a fold, shape (K, Q).

    The value of a query that several splits hold out is its mean over them, so that each query counts once.
    """
    ids = np.concatenate([fits[0].ids for fits in folds])
    values = np.hstack([np.array([fit.values for fit in fits]) for fits in folds])
    if len(np.unique(ids)) == len(ids):
        return PerQuery(ids, values)
    queries = Queries.of(ids, len(ids))
    sums = np.add.reduceat(values[:, queries.order], queries.ptr[:-1], axis=1)
    return PerQuery(queries.ids, sums / queries.sizes)


def group_folds(
    groups: Any, n: int, folds: int, random: np.random.RandomState, units: str
) -> list[tuple[IntVector, IntVector]]:
    """Return the training and the held-out rows of folds of groups, a random split that ignores the order of rows."""
    queries = Queries.of_sizes(np.ones(n, dtype=np.int64)) if groups is None else Queries.of(groups, n)
    if len(queries) < folds:
        raise InputError(f"{folds} folds need at least {folds} {units}, got {len(queries)}: use fewer folds")
    fold = np.empty(len(queries), dtype=np.int64)
    fold[np.argsort(queries.ids)[random.permutation(len(queries))]] = np.arange(len(queries)) % folds
    of_row = fold[queries.number]
    return [(np.flatnonzero(of_row != k), np.flatnonzero(of_row == k)) for k in range(folds)]


def splits_of(what: str, cv: Any, data: Any, random: np.random.RandomState) -> list[tuple[IntVector, IntVector]]:
    """Return the training rows and the held-out rows of each split; errors begin with ``what``."""
    X = getattr(data, "X", data)
    if isinstance(X, Operator) or not hasattr(data, "subset"):
        raise InputError(f"X must be a list of inputs or a matrix to be split into folds, got {type(X).__name__}")
    rows, groups = len(data.y), data.groups
    if is_integer(cv):
        require_integer(what, cv, 2)
        return group_folds(groups, rows, cv, random, data.units)
    from sklearn.model_selection import check_cv

    if isinstance(cv, Iterable) and not hasattr(cv, "split"):
        cv = as_list(what, cv, "a number of folds, a splitter or a list of (train, test)")
    try:
        every = np.arange(rows)
        splits = [(every[train], every[held]) for train, held in check_cv(cv).split(every, data.y, groups=groups)]
    except (IndexError, TypeError, ValueError) as error:
        raise InputError(f"{what} cannot split these {data.units}: {error}") from None
    if not splits:
        raise InputError(f"{what} has no splits: give a number of folds, or at least one split")
    for train, held in splits if groups is not None else ():
        both = np.intersect1d(groups[train], groups[held])
        if len(both):
            raise InputError(
                f"cv={cv!r} puts rows of query {both.tolist()[0]!r} on both sides of a split: give a number of folds, "
                "or a splitter that keeps groups whole, such as GroupKFold()"
            )
    return splits
