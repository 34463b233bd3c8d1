"""Passes of Frank-Wolfe: visit examples, store their planes in a dual point, and step."""

from collections.abc import Callable
from typing import Any

import numpy as np

from structsvm.exceptions import InputError
from structsvm.features.operators.views import is_built_in
from structsvm.foundation.compute.environment import numba
from structsvm.foundation.compute.threads import using
from structsvm.foundation.signals import held
from structsvm.foundation.types import IntVector, Vector
from structsvm.losses.user_methods import RAISED_AS_IS
from structsvm.problem.batches import Batches
from structsvm.problem.checks import ROUNDING, beaten
from structsvm.problem.loops import batched_visits, compiled_kernel
from structsvm.problem.oracle import CompiledOracle
from structsvm.problem.planes import DualPlanes
from structsvm.problem.problem import Problem, failed_kernel


def sweep_examples(problem: Problem, dual: DualPlanes, order: IntVector) -> float:
    """Visit examples, store the plane of each in a dual point, and step; return the sum of the gaps at the visits.

    `structsvm.problem.batches` describes the batches of examples that threads share; with a loss or an operator in
    Python, a batch is one example. ``order`` has each example at most once.
    """
    if np.bincount(order, minlength=problem.n).max(initial=0) > 1:
        raise InputError("order must contain each example at most once")
    oracle, view = problem.oracle, problem.operator.view
    if view is None or not isinstance(oracle, CompiledOracle):
        return sum(_visit(problem, dual, i, dual.w) for i in order.tolist())
    n = problem.n
    batches = Batches.of(len(order), n, problem.sizes[2] / n, problem.stored / n, dual.w, first=not dual.size)
    try:
        with using(problem.n_jobs) as threads:
            threads.together(_compiled_visits(problem, oracle, view, dual, order, batches), batches.threads)
    except RAISED_AS_IS:
        raise
    except Exception as error:
        raise failed_kernel(problem, problem.at(dual.w), error) from error
    wrong = order[np.flatnonzero(batches.wrong)].tolist()
    if wrong:
        _visit(problem, dual, wrong[0], batches.w)
        raise beaten(problem.loss, problem.first + wrong[0])
    return float(batches.met[0])


def _compiled_visits(
    problem: Problem, oracle: CompiledOracle, view: Any, dual: DualPlanes, order: IntVector, batches: Batches
) -> Callable[[], None]:
    """Return the work of one thread."""
    loop = batched_visits(numba.typeof(view), numba.typeof(dual.arrays), is_built_in(view))
    kernel = compiled_kernel(oracle.kernel)
    data = view, problem.operator.shared, oracle.labels, oracle.label_ptr, oracle.params, dual.arrays, order
    none, coordinates = np.zeros(0), problem.coordinates
    moved = (none, none) if coordinates is None else (coordinates.center, coordinates.scale)
    allowed = ROUNDING if oracle.exact else np.inf

    def visit_some() -> None:
        try:
            with held():
                loop(kernel, *data, *moved, batches, allowed, oracle.bounded, oracle.unreachable_truths, dual.w)
        except BaseException:
            batches.stop()
            raise

    return visit_some


def _visit(problem: Problem, dual: DualPlanes, i: int, w: Vector) -> float:
    example = problem.block(i, i + 1)
    point = example.at(w)
    planes = example.planes(point)
    example.primal(planes, point)
    example.checked_violation(planes, point, np.array([dual.best(i, w)]))
    cuts = example.cuts(planes, np.ones(1, dtype=np.bool_))
    return dual.visit(cuts.example + i, cuts.G, cuts.L)
