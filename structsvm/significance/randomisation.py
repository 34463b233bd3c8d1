"""Fisher's randomisation test."""

import numpy as np

from structsvm.types import Vector


def randomisation_p(difference: Vector, *, resamples: int = 10_000, seed: int = 0) -> float:
    """Return the p-value of Fisher's two-tailed randomisation test of the mean difference.

    The null hypothesis is that each difference could as well have the other sign (Smucker, Allan and Carterette, "A
    comparison of statistical significance tests for information retrieval evaluation", CIKM 2007). Exact, over all
    assignments of signs to the differences other than 0, where there are no more of them than `resamples`; else twice
    the smaller tail of random ones, each tail (b + 1) / (resamples + 1) where b of them are as far out: no p-value is
    below 2 / (resamples + 1). Computed by `scipy.stats.permutation_test`.

    Parameters
    ----------
    difference : as `differences` returns them, shape (Q,).
    resamples : random assignments of signs, at least 1.
    seed : of the random numbers; equal ones give equal values.

    Returns
    -------
    p : 1 where no difference or one is other than 0.
    """
    from scipy.stats import permutation_test

    changing = difference[difference != 0.0]
    if len(changing) < 2:
        return 1.0
    found = permutation_test(
        (changing,),
        np.sum,
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=max(1, 2**20 // len(changing)),
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)
