"""The confidence interval of a mean by the bootstrap."""

import numpy as np

from structsvm.types import Vector


def bootstrap_interval(
    difference: Vector, *, confidence: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> tuple[float, float] | None:
    """Return the ends of the confidence interval of the mean difference, by the bootstrap over queries.

    Bias-corrected and accelerated (Efron, "Better bootstrap confidence intervals", JASA 1987), computed by
    `scipy.stats.bootstrap`.

    Parameters
    ----------
    difference : as `differences` returns them, shape (Q,).
    confidence : level, between 0 and 1.
    resamples : samples of queries with replacement, at least 1.
    seed : of the random numbers; equal ones give equal ends.

    Returns
    -------
    ends : both the difference itself where all are the same; None of one query.
    """
    from scipy.stats import bootstrap

    if len(difference) < 2:
        return None
    if (difference == difference[0]).all():
        return float(difference[0]), float(difference[0])
    found = bootstrap(
        (difference,),
        np.mean,
        confidence_level=confidence,
        n_resamples=resamples,
        batch=max(1, 2**20 // len(difference)),
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(found.low), float(found.high)
