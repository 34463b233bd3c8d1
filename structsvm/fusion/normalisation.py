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

from structsvm.fusion.scaling import divide_by_sums, standardise, to_unit
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
    out = np.empty_like(scores)
    to_unit(scores, ptr, out)
    return out


def _sum(scores: Matrix, ptr: IntVector) -> Matrix:
    out = _min_max(scores, ptr)
    divide_by_sums(out, ptr)
    return out


def _z(scores: Matrix, ptr: IntVector) -> Matrix:
    out = _min_max(scores, ptr)  # changes no z-score, and its squares are neither too large nor too small
    standardise(out, ptr)
    return out


NORMALISATIONS: dict[str, Callable[[Matrix, IntVector], Matrix]] = {
    "none": _none,
    "min-max": _min_max,
    "z": _z,
    "sum": _sum,
}
"""The normalisations, by name."""
