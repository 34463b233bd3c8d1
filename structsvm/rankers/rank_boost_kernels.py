"""Compiled parts of RankBoost: coded features, stumps ``1[x_f > θ]``, and potentials of documents."""

from typing import Any, Self

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.types import BoolVector, IntVector, Matrix, Vector

_COLUMNS = 16
"""Columns copied at a time: one cache line of a row contains several of them."""


@frozen(eq=False)
class CodedFeatures:
    """Columns that differ, as the number of thresholds below each value (one more if missing), shape (columns, n)."""

    features: IntVector
    codes: NDArray[Any]
    thresholds: list[Vector]
    missing: BoolVector

    @classmethod
    def of(cls, X: NDArray[Any], rows: IntVector, max_thresholds: int | None) -> Self:
        """Code some rows by at most ``max_thresholds`` of their values per feature (None: no limit)."""
        features, codes, thresholds, missing = [], [], [], []
        for first in range(0, X.shape[1], _COLUMNS):
            columns = np.ascontiguousarray(X[rows, first : first + _COLUMNS].T)
            for f, column in enumerate(columns, first):
                # NaN is last in sorted arrays.
                present = np.sort(column)[: len(column) - np.count_nonzero(np.isnan(column))]
                cuts, lacks = _thresholds(present, max_thresholds), 0 < len(present) < len(column)
                if len(cuts) > 0 or lacks:
                    features.append(f)
                    codes.append(_code(column, cuts, lacks))
                    thresholds.append(cuts.astype(np.float64))
                    missing.append(lacks)
        coded = np.stack(codes) if codes else np.empty((0, len(rows)), dtype=np.uint8)
        return cls(np.array(features, dtype=np.int64), coded, thresholds, np.array(missing, dtype=np.bool_))


def _code(column: NDArray[Any], thresholds: NDArray[Any], lacks: bool) -> NDArray[Any]:
    code = np.searchsorted(thresholds, column, side="left").astype(np.min_scalar_type(len(thresholds) + lacks))
    if lacks:
        code[np.isnan(column)] = len(thresholds) + 1
    return code


def _thresholds(ascending: NDArray[Any], most: int | None) -> NDArray[Any]:
    """Return all sorted values but the largest, or ``most`` quantiles of them, in which frequent values count once."""
    ends = np.flatnonzero(ascending[:-1] != ascending[1:])
    if most is None or len(ends) <= most:
        return ascending[ends]
    counts = np.diff(np.append(ends, len(ascending) - 1), prepend=-1)
    parts, rest = most + 1, len(ascending)
    frequent = np.zeros(len(counts), dtype=np.bool_)
    while (more := ~frequent & (counts * parts > rest)).any():
        frequent |= more
        parts, rest = most + 1 - int(frequent.sum()), int(counts[~frequent].sum())
    # Scale counts by ``parts``, so that a part is the integer ``rest``.
    limited = np.where(frequent, rest, counts * parts)
    quantiles = np.searchsorted(np.cumsum(limited), rest * np.arange(1, most + 1))
    return ascending[ends[quantiles]]


_EQUAL = 1e-12
"""Rounding error of r, which is at most 1; values that differ by less count as equal."""

_ROWS = 128
"""Rows per block, so that the columns of a block stay in the L1 cache while all stumps read them."""


@compiled
def best_stump(
    codes: NDArray[Any], sizes: IntVector, missing: BoolVector, potentials: Vector
) -> tuple[int, int, bool, float]:
    """Return feature, threshold (−1: is it missing), value if missing, and the ``r = Σ π_i h(x_i)`` of largest size."""
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
    """Sum the potentials over each bin, four features at a time, because each addition waits for the last to a bin."""
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
    """Add ``α h`` to the score of every row, given the codes of one feature, shape (n,); see `best_stump`."""
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
    """Add ``Σ_t α_t h_t`` to the scores, in the order of the stumps; ``places`` index their features in ``used``."""
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


@compiled
def write_graded_potentials(
    scores: Vector, groups: IntVector, queries: IntVector, log_weights: Vector, potentials: Vector
) -> float:
    """Write each document's weight of pairs to win minus to lose, over the total weight; return the total's log."""
    n, G = len(scores), len(groups) - 1
    rising, falling = np.empty(n), np.empty(n)
    as_better, as_worse = np.empty(G), np.empty(G)
    log_rising, log_falling = np.empty(G), np.empty(G)
    total = -np.inf
    for q in range(len(queries) - 1):
        first, last = queries[q], queries[q + 1] - 1
        below = -np.inf
        for g in range(first, last + 1):
            lowest, highest = np.inf, -np.inf
            for i in range(groups[g], groups[g + 1]):
                lowest, highest = min(lowest, scores[i]), max(highest, scores[i])
            if g > first:
                falls = 0.0
                for i in range(groups[g], groups[g + 1]):
                    falling[i] = np.exp(lowest - scores[i])
                    falls += falling[i]
                log_falling[g] = np.log(falls) - lowest
                as_better[g] = below - lowest + log_weights[q]
                total = _log_of_sum(total, below + log_falling[g] + log_weights[q])
            if g < last:
                rises = 0.0
                for i in range(groups[g], groups[g + 1]):
                    rising[i] = np.exp(scores[i] - highest)
                    rises += rising[i]
                log_rising[g] = highest + np.log(rises)
                below = _log_of_sum(below, log_rising[g])
                as_worse[g] = highest + log_weights[q]
        above = -np.inf
        for g in range(last, first, -1):
            above = _log_of_sum(above, log_falling[g])
            as_worse[g - 1] += above
    for q in range(len(queries) - 1):
        first, last = queries[q], queries[q + 1] - 1
        for g in range(first, last + 1):
            better = np.exp(as_better[g] - total) if g > first else 0.0
            worse = np.exp(as_worse[g] - total) if g < last else 0.0
            for i in range(groups[g], groups[g + 1]):
                potential = 0.0
                if g > first:
                    potential += better * falling[i]
                if g < last:
                    potential -= worse * rising[i]
                potentials[i] = potential
    return total


@compiled
def write_listed_potentials(
    scores: Vector, better: IntVector, worse: IntVector, log_weights: Vector, potentials: Vector
) -> float:
    """Write the potentials of P listed pairs of rows, shape (n,); return the log of their total weight."""
    logs = np.empty(len(better))
    largest = -np.inf
    for p in range(len(better)):
        logs[p] = log_weights[p] + scores[worse[p]] - scores[better[p]]
        largest = max(largest, logs[p])
    total = 0.0
    for p in range(len(better)):
        logs[p] = np.exp(logs[p] - largest)
        total += logs[p]
    potentials[:] = 0.0
    for p in range(len(better)):
        share = logs[p] / total
        potentials[better[p]] += share
        potentials[worse[p]] -= share
    return float(largest + np.log(total))


@compiled
def _log_of_sum(a: float, b: float) -> float:
    """Return the log of the sum of two numbers, given their logs."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))
