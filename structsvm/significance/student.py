"""Student's t: the paired test, and the confidence interval of a mean."""

import numpy as np

from structsvm.types import Vector


def student_p(difference: Vector) -> float | None:
    """Return the p-value of the two-tailed paired t-test, computed by `scipy.stats.ttest_1samp`.

    Parameters
    ----------
    difference : as `differences` returns them, shape (Q,).

    Returns
    -------
    p : 1 where all differences are 0; None of one query, and where all differences are the same number other than 0:
        there is no variance to test with.
    """
    from scipy.stats import ttest_1samp

    if not difference.any():
        return 1.0
    if len(difference) < 2 or (difference == difference[0]).all():
        return None
    return float(ttest_1samp(difference, 0.0).pvalue)


def mean_interval(values: Vector) -> tuple[float, float] | None:
    """Return the ends of the 95% confidence interval of a mean by Student's t; None of fewer than two values."""
    from scipy.stats import t

    n = len(values)
    if n < 2:
        return None
    reach = float(t.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n))
    return float(values.mean()) - reach, float(values.mean()) + reach
