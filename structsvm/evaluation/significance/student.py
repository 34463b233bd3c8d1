"""Student's t: the paired test and the confidence interval of a mean."""

import numpy as np

from structsvm.evaluation.significance.base import SignificanceTest
from structsvm.foundation.types import Vector


def student_p(difference: Vector, _n_resamples: int = 0, _random_state: int = 0) -> float | None:
    """Return the p-value of the paired t-test: 1 if all differences are 0, None if they have no variance."""
    from scipy.stats import ttest_1samp

    if not difference.any():
        return 1.0
    if len(difference) < 2 or (difference == difference[0]).all():
        return None
    return float(ttest_1samp(difference, 0.0).pvalue)


def mean_interval(values: Vector) -> tuple[float, float] | None:
    """Return the 95% confidence interval of a mean by Student's t; None for fewer than two values."""
    from scipy.stats import t

    n = len(values)
    if n < 2:
        return None
    reach = float(t.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n))
    return float(values.mean()) - reach, float(values.mean()) + reach


STUDENT = SignificanceTest("t", "two-tailed paired t-test", student_p)
