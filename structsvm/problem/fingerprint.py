"""Telling data and losses apart."""

import numpy as np

from structsvm.problem.points import Planes, Point
from structsvm.problem.problem import Problem
from structsvm.problem.sweep import segment_dots
from structsvm.types import Vector

_BUCKETS = 64


def fingerprint(problem: Problem, planes: Planes, point: Point) -> Vector:
    """Return numbers that tell a problem's data and loss from others: what all examples look like from a point.

    They do not depend on C, and agree to rounding where the data are the same. Cuts of other
    data would falsify the lower bound, so every example counts.

    Parameters
    ----------
    problem : the problem.
    planes, point : the planes that were found at this very point. At ``w = 0`` features
        cannot be told apart.
    """
    opposite = Point(-point.w, -point.scores)  # where hinges that are 0 at the point tell losses apart
    seen = (
        problem.cap / problem.C,
        segment_dots(point.scores, point.scores, problem.ptr),
        problem.violation(planes, point),
        problem.violation(problem.planes(opposite), opposite),
    )
    bucket = np.arange(problem.n) % _BUCKETS
    sums = [np.bincount(bucket, weights=values, minlength=_BUCKETS) for values in seen]
    return np.concatenate([[problem.n, problem.d, problem.ptr[-1]], *sums])
