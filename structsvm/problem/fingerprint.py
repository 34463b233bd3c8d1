"""Fingerprints that identify a problem's data and loss exactly."""

from collections.abc import Callable
from functools import partial

import numpy as np
from attrs import evolve

from structsvm.features.operators.views import is_built_in
from structsvm.foundation.compute.threads import using
from structsvm.foundation.types import Vector
from structsvm.problem.base import AbstractProblem
from structsvm.problem.content import Content
from structsvm.problem.problem import Problem

_MOST_ASIDE = 2**28
"""Largest number of feature values to fingerprint on another thread, which reads them in a tenth of a second."""


def fingerprint(problem: AbstractProblem) -> Vector:
    """Return numbers that identify a problem's data, weights and loss, but not C.

    Cuts of other data would make the lower bound wrong, even if one bit differs. So the fingerprint is a 128-bit hash
    of every bit of the features, the inputs of argmaxes, the weights, the code of the loss, and the plane of every
    example at fixed random scores near 0. It takes an argmax of every example and half a pass over the data.

    If features or losses cannot be hashed (`Operator.content` is None, or a loss in Python cannot be pickled), the
    fingerprint is unique. Equal numbers in another format (float32, sparse) or in other partitions have another
    fingerprint.

    Examples
    --------
    >>> from structsvm import Problem
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> np.array_equal(fingerprint(problem), fingerprint(problem.with_C(1.0)))
    True
    """
    content = Content()
    problem.add_content(content)
    return np.array([*problem.sizes, *content.digest()], dtype=np.float64)


def fingerprint_aside(problem: Problem) -> Callable[[], Vector]:
    """Compute the fingerprint on another thread, unless it is slow or runs user code; return a function that waits."""
    view = problem.operator.view
    if not problem.has_kernel or view is None or not is_built_in(view) or problem.stored > _MOST_ASIDE:
        return partial(fingerprint, problem)
    with using(None) as threads:
        return threads.aside(partial(fingerprint, evolve(problem, n_jobs=1)))


def same(seen: Vector, stored: Vector) -> bool:
    """Return True if two fingerprints identify the same data and loss; an empty fingerprint never matches."""
    return len(seen) > 0 and np.array_equal(seen, stored)
