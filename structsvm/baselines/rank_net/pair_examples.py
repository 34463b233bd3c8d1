"""What RankNet learns from, made of training data: queries that have pairs, and the targets of these."""

from typing import Any

import numpy as np

from structsvm.baselines.preferences import Preferences
from structsvm.baselines.rank_net.descent import Examples
from structsvm.baselines.training import Training
from structsvm.exceptions import InputError
from structsvm.types import BoolVector, IntVector, Vector


def pair_examples(training: Training, weights: Vector, *, log_odds: float, ties: bool) -> Examples:
    """Return the queries that have pairs.

    Parameters
    ----------
    training : dense features, labels or preferences.
    weights : weight of each query.
    log_odds : difference of scores aimed at for a unit of difference of grades, or of magnitude; may be infinite.
    ties : whether pairs of equal grades count.

    Raises
    ------
    InputError : when no query with a weight above 0 has a pair, or preferences are to have ties.
    """
    ptr, y = training.ptr, training.y
    X: Any = training.X
    if isinstance(y, Preferences):
        if ties:
            raise InputError("RankNet(ties=True) is for labels: what is to have equal scores cannot be a preference")
        query = np.searchsorted(ptr, y.better, side="right") - 1
        usable = np.bincount(query, minlength=len(ptr) - 1) > 0
    else:
        usable = _has_pairs(y, ptr, ties=ties)
    _require_usable(usable, weights)
    size, kept = np.diff(ptr), np.repeat(usable, np.diff(ptr))
    all_kept = bool(usable.all())
    grades, begin = np.zeros(0), np.zeros(int(usable.sum()) + 1, dtype=np.int64)
    better, worse, targets = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    if isinstance(y, Preferences):
        order = np.argsort(query, kind="stable")
        first = ptr[query[order]]
        better, worse = y.better[order] - first, y.worse[order] - first
        targets = 1.0 / (1.0 + np.exp(-log_odds * y.magnitude[order]))
        begin = _cumulated(np.bincount(query)[usable[: query.max() + 1]])
    else:
        grades = y if all_kept else y[kept]
    return Examples(
        rows=X if all_kept else X[kept],
        ptr=_cumulated(size[usable]),
        weights=weights[usable] / weights[usable].mean(),
        grades=grades,
        log_odds=float(log_odds),
        ties=bool(ties),
        better=better,
        worse=worse,
        targets=targets,
        pair_ptr=begin,
    )


def _has_pairs(y: Vector, ptr: IntVector, *, ties: bool) -> BoolVector:
    if ties:
        return np.asarray(np.diff(ptr) > 1)
    return np.asarray(np.maximum.reduceat(y, ptr[:-1]) > np.minimum.reduceat(y, ptr[:-1]))


def _require_usable(usable: BoolVector, weights: Vector) -> None:
    if not usable.any():
        raise InputError(
            f"RankNet can learn from none of the {len(usable)} queries: each has a single grade, so no document is "
            "better than another. Check the labels and qid"
        )
    if not weights[usable].any():
        raise InputError(
            f"sample_weight is zero for each of the {usable.sum()} queries that RankNet can learn from: some must have "
            "a weight above 0"
        )


def _cumulated(sizes: IntVector) -> IntVector:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
