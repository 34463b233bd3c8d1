"""Passes of Frank-Wolfe: visit examples, store their planes in a dual point, and step."""

import numpy as np

from structsvm.exceptions import InputError
from structsvm.foundation.compute.threads import using
from structsvm.foundation.types import IntVector, Vector
from structsvm.losses.user_methods import RAISED_AS_IS
from structsvm.problem.checks import beaten
from structsvm.problem.planes import DualPlanes
from structsvm.problem.problem import Problem, failed_kernel


def sweep_examples(problem: Problem, dual: DualPlanes, order: IntVector) -> float:
    """Visit examples, store the plane of each in a dual point, and step; return the sum of the gaps at the visits.

    A batch is a fiftieth of the examples; several threads find its planes at the same weights, an average of ``dual.w``
    over the previous batches. Then the examples step one by one, each at ``dual.w`` after the previous steps, so that
    the dual never falls. Results do not depend on the number of threads. With fewer than 75 examples, or with a loss or
    an operator in Python, a batch is one example. ``order`` has each example at most once.
    """
    if np.bincount(order, minlength=problem.n).max(initial=0) > 1:
        raise InputError("order must contain each example at most once")
    try:
        with using(problem.n_jobs):
            visited = problem.oracle.sweep(
                problem.operator.view, dual, order, problem.stored / problem.n, problem.coordinates
            )
    except RAISED_AS_IS:
        raise
    except Exception as error:
        raise failed_kernel(problem, problem.at(dual.w), error) from error
    if visited is None:
        return sum(_visit(problem, dual, i, dual.w) for i in order.tolist())
    if visited.wrong >= 0:
        _visit(problem, dual, visited.wrong, visited.w)
        raise beaten(problem.loss, problem.first + visited.wrong)
    return visited.met


def _visit(problem: Problem, dual: DualPlanes, i: int, w: Vector) -> float:
    example = problem.block(i, i + 1)
    point = example.at(w)
    planes = example.planes(point)
    example.primal(planes, point)
    example.checked_violation(planes, point, np.array([dual.best(i, w)]))
    cuts = example.cuts(planes, np.ones(1, dtype=np.bool_))
    return dual.visit(cuts.example + i, cuts.G, cuts.L)
