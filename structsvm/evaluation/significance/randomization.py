"""Fisher's randomization test."""

import numpy as np

from structsvm.evaluation.significance.base import SignificanceTest
from structsvm.foundation.types import Vector

_STEPS = 1e10
"""Number of steps in the largest sum. Integer sums of steps are equal if the sums are equal except for rounding."""


def randomization_p(difference: Vector, n_resamples: int = 10_000, random_state: int = 0) -> float:
    """Return the p-value of Fisher's two-tailed randomization test of the mean difference, exact for few queries."""
    from scipy.stats import permutation_test

    changing = difference[difference != 0.0]
    if len(changing) < 2:
        return 1.0
    test = permutation_test(
        (changing * (_STEPS / np.abs(changing).sum()),),
        _whole_sum,
        permutation_type="samples",
        vectorized=True,
        n_resamples=n_resamples,
        batch=max(1, 2**20 // len(changing)),
        rng=np.random.default_rng(random_state),
    )
    return float(test.pvalue)


def _whole_sum(values: Vector, axis: int = -1) -> Vector:
    return np.asarray(np.rint(np.sum(values, axis=axis)))


RANDOMIZATION = SignificanceTest("Fisher", "Fisher's randomization test", randomization_p)
