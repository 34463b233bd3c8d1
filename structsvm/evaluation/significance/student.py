"""Student's paired t-test."""

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


STUDENT = SignificanceTest("t", "two-tailed paired t-test", student_p)
