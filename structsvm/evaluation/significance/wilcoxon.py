"""Wilcoxon's signed rank test."""

from functools import lru_cache

import numpy as np

from structsvm.evaluation.significance.base import SignificanceTest
from structsvm.foundation.types import Vector

_EXACT, _EXACT_WITH_TIES = 50, 13
"""Largest number of differences for exact tests: of distinct sizes, and with equal sizes."""


def wilcoxon_p(difference: Vector, _n_resamples: int = 0, _random_state: int = 0) -> float:
    """Return the p-value of Wilcoxon's two-tailed signed rank test (1945); 1 if all differences are 0."""
    return _p_value(difference[difference != 0.0].tobytes())


@lru_cache(maxsize=256)
def _p_value(differences: bytes) -> float:
    """Return the p-value, cached because tables and plots of a report repeat the same values."""
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


WILCOXON = SignificanceTest("Wilcoxon", "Wilcoxon's signed rank test without {queries} of no difference", wilcoxon_p)
