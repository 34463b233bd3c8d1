"""Weak rankers ``1[x_f > θ]``: features coded by their thresholds, the best stump for potentials, scores of many.

Training rows are kept as small integers: how many thresholds are below each value.
"""

from typing import Any, Self

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled
from structsvm.types import BoolVector, IntVector, Matrix, Vector

_COLUMNS = 16
"""Columns that are copied at a time: a look at a row is a look at all that is near in memory."""


@frozen(eq=False)
class CodedFeatures:
    """Training rows, of which each value is replaced by the number of thresholds below it.

    Parameters
    ----------
    features : columns that differ between rows, shape (m,). Only they are coded.
    codes : shape (m, n); one more than there are thresholds where the value is missing.
    thresholds : those of each, ascending.
    missing : whether a value is missing in any row, shape (m,).
    """

    features: IntVector
    codes: NDArray[Any]
    thresholds: list[Vector]
    missing: BoolVector

    @classmethod
    def of(cls, X: NDArray[Any], rows: IntVector, max_thresholds: int | None) -> Self:
        """Choose the thresholds of each feature among its values and code rows.

        Parameters
        ----------
        X : features, NaN where missing, a document a row.
        rows : the rows to code, shape (n,); only their values are thresholds.
        max_thresholds : number of thresholds of a feature, at most; where there could be more, quantiles are chosen
            among values, each counted for one part of ``max_thresholds + 1`` at most. None: all values but the
            largest.
        """
        features, codes, thresholds, missing = [], [], [], []
        for first in range(0, X.shape[1], _COLUMNS):
            columns = np.ascontiguousarray(X[rows, first : first + _COLUMNS].T)
            for f, column in enumerate(columns, first):
                present = np.sort(column)[: len(column) - np.count_nonzero(np.isnan(column))]  # NaN is last
                chosen, lacks = _thresholds(present, max_thresholds), 0 < len(present) < len(column)
                if len(chosen) > 0 or lacks:
                    features.append(f)
                    codes.append(_code(column, chosen, lacks))
                    thresholds.append(chosen.astype(np.float64))
                    missing.append(lacks)
        coded = np.stack(codes) if codes else np.empty((0, len(rows)), dtype=np.uint8)
        return cls(np.array(features, dtype=np.int64), coded, thresholds, np.array(missing, dtype=np.bool_))


def _code(column: NDArray[Any], thresholds: NDArray[Any], lacks: bool) -> NDArray[Any]:
    code = np.searchsorted(thresholds, column, side="left").astype(np.min_scalar_type(len(thresholds) + lacks))
    if lacks:
        code[np.isnan(column)] = len(thresholds) + 1
    return code


def _thresholds(ascending: NDArray[Any], most: int | None) -> NDArray[Any]:
    """Choose thresholds among sorted values: all but the largest, or ``most`` of them if these are too many.

    These are the quantiles of the values, none of which counts for more than one part of ``most + 1`` equal ones: a
    value that more rows have is a threshold by itself, and the rest is divided by count, as in LightGBM's bins.
    """
    ends = np.flatnonzero(ascending[:-1] != ascending[1:])
    if most is None or len(ends) <= most:
        return ascending[ends]
    counts = np.diff(np.append(ends, len(ascending) - 1), prepend=-1)
    parts, rest = most + 1, len(ascending)
    frequent = np.zeros(len(counts), dtype=np.bool_)
    while (more := ~frequent & (counts * parts > rest)).any():
        frequent |= more
        parts, rest = most + 1 - int(frequent.sum()), int(counts[~frequent].sum())
    limited = np.where(frequent, rest, counts * parts)  # in whole numbers: a part is ``rest``
    quantiles = np.searchsorted(np.cumsum(limited), rest * np.arange(1, most + 1))
    return ascending[ends[quantiles]]


_EQUAL = 1e-12
"""Values of r, which are at most 1, that differ by less are equal: sums are rounded."""

_ROWS = 128
"""Rows whose features, as columns, stay in the nearest cache while stump after stump passes over them."""


@compiled
def best_stump(
    codes: NDArray[Any], sizes: IntVector, missing: BoolVector, potentials: Vector
) -> tuple[int, int, bool, float]:
    """Find the stump of the largest ``|r|``; of equal ones that of the first feature and the lowest threshold.

    ``r = Σ_i π_i h(x_i)`` (Freund et al., 2003). A document whose feature is missing gets 0 or 1,
    whichever makes ``|r|`` larger.

    Parameters
    ----------
    codes : for each feature and row the number of thresholds below its value, or one more than there are
        thresholds where it is missing; shape (d, n).
    sizes : number of thresholds of each feature, ascending ones, shape (d,).
    missing : whether any row lacks the feature, shape (d,). Such features may also tell who has it from who has not.
    potentials : π, which sums to 0, shape (n,).

    Returns
    -------
    The feature, the number of the threshold (−1 for one below all values), what missing features get, and r.
    """
    feature, threshold, filled, best = 0, 0, False, 0.0
    bins = np.empty((len(codes), sizes.max() + 2))
    _add_to_bins(codes, potentials, bins)
    for f in range(len(codes)):
        present = 0.0
        for b in range(sizes[f] + 1):
            present += bins[f, b]
        ahead = present
        for j in range(-1, sizes[f]):
            if j >= 0:
                ahead -= bins[f, j]
            elif not missing[f]:
                continue
            for fill in range(2 if missing[f] else 1):
                r = ahead - fill * present
                if abs(r) > abs(best) + _EQUAL:
                    feature, threshold, filled, best = f, j, fill == 1, r
    return feature, threshold, filled, best


@compiled
def _add_to_bins(codes: NDArray[Any], potentials: Vector, bins: Matrix) -> None:
    """Sum the potentials over each bin; of four features at a time, since an addition waits for the last to a bin."""
    bins[:] = 0.0
    d, n = codes.shape
    fours = d - d % 4
    for f in range(0, fours, 4):
        c0, c1, c2, c3 = codes[f], codes[f + 1], codes[f + 2], codes[f + 3]
        for i in range(n):
            potential = potentials[i]
            bins[f, c0[i]] += potential
            bins[f + 1, c1[i]] += potential
            bins[f + 2, c2[i]] += potential
            bins[f + 3, c3[i]] += potential
    for f in range(fours, d):
        for i in range(n):
            bins[f, codes[f, i]] += potentials[i]


@compiled
def add_coded_stump(codes: NDArray[Any], size: int, threshold: int, filled: bool, alpha: float, scores: Vector) -> None:
    """Add ``α h`` to the score of every row, from the codes of one feature, shape (n,); see `best_stump`."""
    for i in range(len(codes)):
        above = filled if codes[i] > size else codes[i] > threshold
        scores[i] += alpha if above else 0.0


@compiled
def add_stumps(
    X: NDArray[Any],
    used: IntVector,
    places: IntVector,
    thresholds: Vector,
    filled: BoolVector,
    alphas: Vector,
    scores: Vector,
) -> None:
    """Add ``Σ_t α_t h_t`` to the score of every row, in the order of the stumps.

    Parameters
    ----------
    X : features, NaN where missing, shape (rows, d).
    used : the features that stumps look at, shape (m,).
    places : which of these each stump looks at, shape (T,).
    thresholds, filled, alphas : the stumps, shape (T,); ``filled`` says which give 1 to missing values.
    scores : is added to, shape (rows,).
    """
    columns = np.empty((len(used), _ROWS), dtype=X.dtype)
    for begin in range(0, len(X), _ROWS):
        n = min(_ROWS, len(X) - begin)
        for i in range(n):
            for p in range(len(used)):
                columns[p, i] = X[begin + i, used[p]]
        block = scores[begin : begin + n]
        for t in range(len(places)):
            column, threshold, alpha = columns[places[t]], thresholds[t], alphas[t]
            if filled[t]:
                for i in range(n):
                    block[i] += 0.0 if column[i] <= threshold else alpha
            else:
                for i in range(n):
                    block[i] += alpha if column[i] > threshold else 0.0
