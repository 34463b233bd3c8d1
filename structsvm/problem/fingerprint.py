"""Telling data and losses apart, exactly."""

from collections.abc import Callable
from functools import partial

import numpy as np
from attrs import evolve

from structsvm.compute.threads import using
from structsvm.operators.views import is_built_in
from structsvm.problem.base import AbstractProblem
from structsvm.problem.content import Content
from structsvm.problem.problem import Problem
from structsvm.types import Vector

_MOST_ASIDE = 2**28
"""Feature values, a tenth of a second of reading, of which a fingerprint is taken aside."""


def fingerprint(problem: AbstractProblem) -> Vector:
    """Return numbers that tell a problem's data, weights and loss from others, C aside.

    Cuts of other data would falsify the lower bound, however small the difference is beside the rest of
    the data: so this is a hash of 128 bits, of every bit of the features, of what argmaxes read, of the weights, of
    the code of the loss (`program`), and of the plane of every example at fixed random scores near 0. It costs an
    argmax of every example and one reading of the data, about a third of the time of a product with w.

    Features or losses that cannot be told (`Operator.content` is None, or a loss in Python cannot be pickled) have
    a fingerprint that no other has. Equal numbers that are stored otherwise (float32, sparse) have another one, and so
    have those that are spread over other partitions.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.problem import fingerprint, same
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> same(fingerprint(problem), fingerprint(problem.with_C(0.1)))
    True
    """
    content = Content()
    problem.tell(content)
    return np.array([*problem.sizes, *content.digest()], dtype=np.float64)


def fingerprint_aside(problem: Problem) -> Callable[[], Vector]:
    """Begin to take the fingerprint of a problem on another thread, while this one computes; return what gives it.

    Where there is one thread, or code of others would run on it, or there are very many data, for which Ctrl-C would
    wait, it is taken when asked for.
    """
    view = problem.operator.view
    if not problem.has_kernel or view is None or not is_built_in(view) or problem.stored > _MOST_ASIDE:
        return partial(fingerprint, problem)
    with using(None) as threads:
        return threads.aside(partial(fingerprint, evolve(problem, n_jobs=1)))


def same(seen: Vector, known: Vector) -> bool:
    """Say whether two fingerprints are of the same problem, C aside; an empty one is of none.

    Parameters
    ----------
    seen, known : what `fingerprint` returned.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.problem import fingerprint, same
    >>> one, other = (Problem.from_queries([[1.0], [x]], [0, 1], [1, 1], loss="map") for x in (2.0, 3.0))
    >>> same(fingerprint(one), fingerprint(other))
    False
    """
    return len(seen) > 0 and np.array_equal(seen, known)
