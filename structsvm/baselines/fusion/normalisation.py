"""Normalisation of scores: what makes those of different systems comparable before they are combined.

Each looks at the documents of one query that one system retrieved. Where these all have the same
score, as where there is but one, the scores do not tell them apart, and become 0 (but for "none").

- "none": the scores as they are.
- "min-max": the smallest becomes 0 and the largest 1 (Lee, SIGIR 1997).
- "sum": the smallest becomes 0, and the sum 1 (Montague and Aslam, CIKM 2001).
- "z": the mean becomes 0 and the standard deviation, that of the retrieved documents, 1; Montague and
  Aslam call it ZMUV.
"""

from collections.abc import Callable

import numpy as np

from structsvm.types import IntVector, Matrix


def normalise(scores: Matrix, ptr: IntVector, how: str) -> Matrix:
    """Return normalised scores, NaN where they are missing, shape (rows, systems).

    Parameters
    ----------
    scores : the rows of each query together, shape (rows, systems).
    ptr : where the rows of each query begin, shape (Q + 1,); no query is empty.
    how : one of `NORMALISATIONS`.
    """
    return NORMALISATIONS[how](scores, ptr)


def _none(scores: Matrix, ptr: IntVector) -> Matrix:
    return scores


def _min_max(scores: Matrix, ptr: IntVector) -> Matrix:
    low = np.fmin.reduceat(scores, ptr[:-1], axis=0)
    high = np.fmax.reduceat(scores, ptr[:-1], axis=0)
    # Halves, since the difference of two large numbers may be infinite.
    spread = 0.5 * high - 0.5 * low
    spread[~(spread > 0.0)] = 1.0
    sizes = np.diff(ptr)
    out = 0.5 * scores
    out -= np.repeat(0.5 * low, sizes, axis=0)
    out /= np.repeat(spread, sizes, axis=0)
    return out


def _sum(scores: Matrix, ptr: IntVector) -> Matrix:
    out = _min_max(scores, ptr)
    return _divided(out, np.add.reduceat(np.nan_to_num(out), ptr[:-1], axis=0), ptr)


def _z(scores: Matrix, ptr: IntVector) -> Matrix:
    out = _min_max(scores, ptr)  # changes no z-score, and its squares are neither too large nor too small
    retrieved = np.add.reduceat(~np.isnan(out), ptr[:-1], axis=0, dtype=np.int64)
    count = np.maximum(retrieved, 1)
    out -= np.repeat(np.add.reduceat(np.nan_to_num(out), ptr[:-1], axis=0) / count, np.diff(ptr), axis=0)
    return _divided(out, np.sqrt(np.add.reduceat(np.nan_to_num(out * out), ptr[:-1], axis=0) / count), ptr)


def _divided(scores: Matrix, by: Matrix, ptr: IntVector) -> Matrix:
    """Divide the scores of each query and system, all of which are 0 where ``by`` is."""
    scores /= np.repeat(np.where(by > 0.0, by, 1.0), np.diff(ptr), axis=0)
    return scores


NORMALISATIONS: dict[str, Callable[[Matrix, IntVector], Matrix]] = {
    "none": _none,
    "min-max": _min_max,
    "z": _z,
    "sum": _sum,
}
"""The normalisations, by name."""
