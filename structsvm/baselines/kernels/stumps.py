"""Weak rankers ``1[x_f > θ]``: the best one for given potentials, and the scores of many."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.compilation import compiled
from structsvm.types import BoolVector, IntVector, Vector

_EQUAL = 1e-12
"""Values of r, which are at most 1, that differ by less are equal: sums are rounded."""


@compiled
def best_stump(
    codes: NDArray[Any], sizes: IntVector, missing: BoolVector, potentials: Vector
) -> tuple[int, int, bool, float]:
    """Find the stump of the largest ``|r|``; of equal ones that of the first feature and the lowest threshold.

    ``r = Σ_i π_i h(x_i)`` (Freund et al., 2003, section 3.3). A document whose feature is missing gets 0 or 1,
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
    bins = np.empty(sizes.max() + 2)
    for f in range(len(sizes)):
        size = sizes[f]
        if size == 0 and not missing[f]:
            continue
        bins[: size + 2] = 0.0
        _add_to_bins(codes[f], potentials, bins)
        present = 0.0
        for b in range(size + 1):
            present += bins[b]
        ahead = present
        for j in range(-1, size):
            if j >= 0:
                ahead -= bins[j]
            elif not missing[f]:
                continue
            for fill in range(2 if missing[f] else 1):
                r = ahead - fill * present
                if abs(r) > abs(best) + _EQUAL:
                    feature, threshold, filled, best = f, j, fill == 1, r
    return feature, threshold, filled, best


@compiled
def _add_to_bins(codes: NDArray[Any], values: Vector, bins: Vector) -> None:
    for i in range(len(codes)):
        bins[codes[i]] += values[i]


@compiled
def add_coded_stump(codes: NDArray[Any], size: int, threshold: int, filled: bool, alpha: float, scores: Vector) -> None:
    """Add ``α h`` to the score of every row, from the codes of one feature; see `best_stump`."""
    for i in range(len(codes)):
        above = filled if codes[i] > size else codes[i] > threshold
        if above:
            scores[i] += alpha


@compiled
def add_stumps(
    X: NDArray[Any], features: IntVector, thresholds: Vector, filled: BoolVector, alphas: Vector, scores: Vector
) -> None:
    """Add ``Σ_t α_t h_t`` to the score of every row, in the order of the stumps.

    Parameters
    ----------
    X : features, NaN where missing, shape (rows, d).
    features, thresholds, filled, alphas : the stumps, shape (T,); ``filled`` says which give 1 to missing values.
    scores : is added to, shape (rows,).
    """
    rows = 64  # they stay in the nearest cache while stump after stump passes over them
    for begin in range(0, len(X), rows):
        end = min(begin + rows, len(X))
        for t in range(len(features)):
            f, threshold, alpha, fill = features[t], thresholds[t], alphas[t], filled[t]
            for i in range(begin, end):
                x = X[i, f]
                if x > threshold or (fill and x != x):
                    scores[i] += alpha
