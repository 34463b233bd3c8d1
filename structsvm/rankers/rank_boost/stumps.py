"""Weak rankers ``1[x_f > θ]``: the best one for given potentials, and the scores of many."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.compute.compilation import compiled
from structsvm.types import BoolVector, IntVector, Matrix, Vector

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
