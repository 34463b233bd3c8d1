"""Wilcoxon's signed rank test."""

from functools import lru_cache

import numpy as np

from structsvm.types import Vector

_EXACT, _EXACT_WITH_TIES = 50, 13
"""How many differences of different sizes, and how many of which some have the same, all signs are counted for."""


def wilcoxon_p(difference: Vector) -> float:
    """Return the p-value of the two-tailed signed rank test of Wilcoxon (1945).

    Differences of 0 are dropped, as Wilcoxon did; sizes that are the same share their ranks. Exact, over all
    assignments of signs, for up to 50 differences of different sizes and for up to 13 otherwise; beyond, by the
    normal approximation with the variance corrected for ties, without continuity correction. Computed by
    `scipy.stats.wilcoxon`.

    Parameters
    ----------
    difference : as `differences` returns them, shape (Q,).

    Returns
    -------
    p : 1 where all differences are 0.
    """
    return _p_value(difference[difference != 0.0].tobytes())


@lru_cache(maxsize=256)
def _p_value(differences: bytes) -> float:
    """Return the p-value; the tables and plots of one report ask for the same ones many times."""
    from scipy.stats import PermutationMethod, wilcoxon

    difference = np.frombuffer(differences)
    n = len(difference)
    if n == 0:
        return 1.0
    tied = len(np.unique(np.abs(difference))) < n
    if not tied and n <= _EXACT:
        return float(wilcoxon(difference, method="exact").pvalue)
    if n <= _EXACT_WITH_TIES:
        return float(wilcoxon(difference, method=PermutationMethod(n_resamples=2**n)).pvalue)
    return float(wilcoxon(difference, method="approx").pvalue)
