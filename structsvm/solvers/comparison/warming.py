"""Warm up a combination before its clock starts."""

from contextlib import suppress

import numpy as np
from attrs import evolve

from structsvm.problem import Problem
from structsvm.problem.planes import Capacity, DualPlanes
from structsvm.problem.planes.capacity import of_use
from structsvm.result import Status
from structsvm.solvers import Auto, FrankWolfe, OneSlack, Solver
from structsvm.solvers.comparison.combinations import Task
from structsvm.solvers.joint_step import improve_jointly
from structsvm.solvers.qp import ActiveSet, DualQP

_EXAMPLES = 2

_ITERATIONS = 12
"""Largest number of iterations; Frank-Wolfe may take ten before it computes a certificate."""

_CUTS = 20


def warm_up(task: Task) -> None:
    """Solve a QP and a few examples, so that the timed run does not compile, import or fill caches; ignore errors."""
    with suppress(Exception):
        (task.backend or ActiveSet()).solve(_demanding_qp())
    for solver in _at_work(task.solver, task.problem):
        with suppress(Exception):
            if isinstance(solver, FrankWolfe):
                _move_jointly()
            weighted = np.flatnonzero(task.problem.cap)[:_EXAMPLES]
            few = task.problem.block(int(weighted[0]), int(weighted[-1]) + 1)
            if isinstance(solver, FrankWolfe):
                solver = evolve(solver, memory=_memory(few, Capacity.within(task.problem.n, few.d, solver.memory)))
            result = solver.solve(few, callback=lambda step: step.iteration >= _ITERATIONS)
            if result.status is Status.INTERRUPTED:
                raise KeyboardInterrupt


def _memory(few: Problem, capacity: Capacity) -> int:
    """Return the memory at which planes of a few examples have the same precision as planes of all examples."""
    exact = capacity.dtype is np.float64
    return capacity.bytes_for(few.n, few.d, of_use(few.n, few.d) if exact else capacity.places)


def _at_work(solver: Solver, problem: Problem) -> list[Solver]:
    """Return the solvers that actually run for a given solver."""
    if not isinstance(solver, Auto):
        return [solver]
    first = solver.choose(problem)
    return [first, OneSlack(tol=solver.tol)] if isinstance(first, FrankWolfe) else [first]


def _move_jointly() -> None:
    """Run the joint step of Frank-Wolfe on all planes, which a few examples do not trigger."""
    G = np.random.default_rng(0).standard_normal((_CUTS, _CUTS // 2))
    dual = DualPlanes(G.shape[1], np.full(_EXAMPLES, 100.0), Capacity.within(_EXAMPLES, G.shape[1], 2**20))
    dual.visit(np.arange(_CUTS) % _EXAMPLES, G, np.ones(_CUTS))
    improve_jointly(dual, enough=0.0, most_cuts=3)


def _demanding_qp() -> DualQP:
    """Return a small QP that exercises all code of a backend: low rank, two groups, tight tolerance."""
    G = np.random.default_rng(0).standard_normal((_CUTS, _CUTS // 2))
    return DualQP(G @ G.T, np.ones(_CUTS), np.arange(_CUTS) % 2, np.ones(2), tol=1e-12)
