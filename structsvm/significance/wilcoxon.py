"""Wilcoxon's signed rank test."""

from functools import lru_cache

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from structsvm.significance.differences import differences
from structsvm.types import Vector

_EXACT, _EXACT_WITH_TIES = 50, 13
"""How many differences of different sizes, and how many of which some have the same, all signs are counted for."""


@frozen
class SignedRankTest:
    """On how many queries one ranker does better than another, and whether that can be chance.

    Parameters
    ----------
    wins, losses, ties : queries on which the first has the larger value, the smaller one, the same.
    p_value : p-value of Wilcoxon's two-tailed signed rank test, which drops ties (see `signed_rank_test`); 1 where
        there are only ties.

    Examples
    --------
    >>> from structsvm.significance import signed_rank_test
    >>> signed_rank_test([0.5, 0.6, 0.7], [0.4, 0.6, 0.5]).significant
    False
    """

    wins: int
    losses: int
    ties: int
    p_value: float

    @property
    def significant(self) -> bool:
        """Whether the difference is significant at the level of 0.05: two stars in the paper's tables."""
        return self.p_value < 0.05


def signed_rank_test(first: ArrayLike, second: ArrayLike) -> SignedRankTest:
    """Compare the values of two rankers for the same queries by Wilcoxon's signed rank test.

    Values that are the same but for rounding are ties, and such differences have the same rank. Ties between the two
    rankers are dropped. The p-value is exact for up to 50 queries (for up to 13 where differences have the same size),
    and of the normal approximation beyond. `paired_tests` makes the t-test and Fisher's randomisation test, too.

    Parameters
    ----------
    first, second : the values, query by query, shape (Q,) each, finite; a win is one of the first ranker.

    Raises
    ------
    InputError : shapes differ, there is no query, or a value is not finite.

    Examples
    --------
    >>> from structsvm.significance import signed_rank_test
    >>> signed_rank_test([0.5, 0.6, 0.7], [0.4, 0.6, 0.5]).wins
    2
    """
    difference = differences(first, second)
    wins, losses = int((difference > 0.0).sum()), int((difference < 0.0).sum())
    return SignedRankTest(wins, losses, len(difference) - wins - losses, wilcoxon_p(difference))


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
