"""Telling data and losses apart."""

import numpy as np

from structsvm.problem.points import Point
from structsvm.problem.problem import Problem
from structsvm.problem.sweep import segment_dots
from structsvm.types import Vector

_BUCKETS = 64

_SMALL = 0.1
"""Largest score of the probe: so near 0 that no hinge vanishes, and every label and loss shows."""


def fingerprint(problem: Problem) -> Vector:
    """Return numbers that tell a problem's data, weights and loss from others: half a pass over the data.

    They do not depend on C, and agree to rounding where the data are the same. Cuts of other
    data would falsify the lower bound, so every feature of every example counts: all are scored
    by fixed random weights, and the hinges are taken near 0.
    """
    rng = np.random.default_rng(0)
    probe = problem.at(rng.standard_normal(problem.d))
    scale = _SMALL / max(np.abs(probe.scores).max(initial=0.0), np.finfo(np.float64).tiny)
    near = Point(probe.w * scale, probe.scores * scale)
    weight = problem.cap / problem.C * rng.uniform(0.5, 1.5, problem.n)
    seen = (
        weight,
        weight * segment_dots(probe.scores, probe.scores, problem.ptr),
        weight * problem.violation(problem.planes(near), near),
    )
    bucket = np.arange(problem.n) % _BUCKETS
    sums = [np.bincount(bucket, weights=values, minlength=_BUCKETS) for values in seen]
    return np.concatenate([[problem.n, problem.d, problem.ptr[-1]], *sums])


def same(seen: Vector, known: Vector) -> bool:
    """Say whether two fingerprints are of the same problem, C aside."""
    return seen.shape == known.shape and np.allclose(seen, known, rtol=1e-7, atol=0.0)
