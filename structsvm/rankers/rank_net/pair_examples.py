"""What RankNet learns from, made of training data: queries that have pairs, and the targets of these."""

from typing import Any

import numpy as np

from structsvm.exceptions import InputError
from structsvm.rankers.preferences import Preferences
from structsvm.rankers.rank_net.descent import Examples
from structsvm.rankers.training import Training
from structsvm.types import BoolVector, IntVector


def with_examples(training: Training, *, ties: bool) -> BoolVector:
    """Say which queries have pairs, shape (Q,).

    Parameters
    ----------
    training : see `pair_examples`.
    ties : whether pairs of equal grades count.

    Raises
    ------
    InputError : when preferences are to have ties.
    """
    if not ties:
        return training.with_pairs()
    if isinstance(training.y, Preferences):
        raise InputError("RankNet(ties=True) is for labels: what is to have equal scores cannot be a preference")
    return np.asarray(np.diff(training.ptr) > 1)


def pair_examples(training: Training, usable: BoolVector, *, log_odds: float, ties: bool) -> Examples:
    """Return the queries to learn from, which all have pairs.

    Parameters
    ----------
    training : dense features, labels or preferences.
    usable : which queries are learned from, shape (Q,).
    log_odds : difference of scores aimed at for a unit of difference of grades, or of magnitude; may be infinite.
    ties : whether pairs of equal grades count.
    """
    ptr, y = training.ptr, training.y
    X: Any = training.X
    weights = training.shares[usable]
    size, kept = np.diff(ptr), np.repeat(usable, np.diff(ptr))
    all_kept = bool(usable.all())
    grades, begin = np.zeros(0), np.zeros(int(usable.sum()) + 1, dtype=np.int64)
    better, worse, targets = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    if isinstance(y, Preferences):
        query = y.queries(ptr)
        order = np.argsort(query, kind="stable")
        order = order[usable[query[order]]]
        first = ptr[query[order]]
        better, worse = y.better[order] - first, y.worse[order] - first
        targets = 1.0 / (1.0 + np.exp(-log_odds * y.magnitude[order]))
        begin = _cumulated(np.bincount(query, minlength=len(usable))[usable])
    else:
        grades = y if all_kept else y[kept]
    return Examples(
        rows=X if all_kept else X[kept],
        ptr=_cumulated(size[usable]),
        weights=weights / weights.mean(),
        grades=grades,
        log_odds=float(log_odds),
        ties=bool(ties),
        better=better,
        worse=worse,
        targets=targets,
        pair_ptr=begin,
    )


def _cumulated(sizes: IntVector) -> IntVector:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
