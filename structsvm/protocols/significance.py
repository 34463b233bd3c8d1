"""Two rankers compared query by query, and how sure a mean over queries is."""

from functools import lru_cache

import numpy as np
from attrs import frozen
from scipy.stats import t, wilcoxon

from structsvm.types import Vector


@frozen
class Comparison:
    """How often one ranker does better than another, and whether that can be chance.

    Parameters
    ----------
    wins, losses, ties : queries on which the first has the larger value, the smaller one, the same.
    p_value : of the two-tailed Wilcoxon signed rank test, which drops ties (`scipy.stats.wilcoxon`:
        exact for up to 50 queries of different differences, else a normal approximation); 1 where
        there are only ties.
    """

    wins: int
    losses: int
    ties: int
    p_value: float

    @property
    def significant(self) -> bool:
        """Whether the difference is significant at a level of 0.95: two stars in the paper's tables."""
        return self.p_value < 0.05


def compare(first: Vector, second: Vector) -> Comparison:
    """Compare the values of two rankers for the same queries, shape (Q,) each.

    Values that agree to twelve digits are ties: they differ by the order of a sum.
    """
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    difference[abs(difference) <= 1e-12] = 0.0
    if not difference.any():
        return Comparison(0, 0, len(difference), 1.0)
    return Comparison(
        wins=int((difference > 0.0).sum()),
        losses=int((difference < 0.0).sum()),
        ties=int((difference == 0.0).sum()),
        p_value=_p_value(difference.tobytes()),
    )


def mean_interval(values: Vector) -> tuple[float, float] | None:
    """Return the ends of the 95% confidence interval of a mean by Student's t; None of fewer than two values."""
    n = len(values)
    if n < 2:
        return None
    reach = float(t.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n))
    return float(values.mean()) - reach, float(values.mean()) + reach


@lru_cache(maxsize=256)
def _p_value(differences: bytes) -> float:
    """Return the p-value; the tables and plots of one report ask for the same ones many times."""
    return float(wilcoxon(np.frombuffer(differences), zero_method="wilcox").pvalue)
