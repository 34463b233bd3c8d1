"""What happens before the clock starts."""

from contextlib import suppress

import numpy as np
from attrs import evolve

from structsvm.comparison.combinations import Task
from structsvm.planes import Capacity, DualPlanes, RestrictedProblem
from structsvm.planes.capacity import of_use
from structsvm.problem import Problem
from structsvm.qp import ActiveSet, DualQP
from structsvm.result import Status
from structsvm.solvers import Auto, FrankWolfe, OneSlack, Solver
from structsvm.solvers.joint_step import improve_jointly

_EXAMPLES = 2

_ITERATIONS = 12
"""Most iterations; Frank-Wolfe may take ten before it computes a certificate."""

_CUTS = 20


def warm_up(task: Task) -> None:
    """Solve a QP and a few examples, so that what is compiled, imported or cached at first use is, after that.

    ``auto`` chooses by the whole problem, so that what it would choose is warmed, and what may go on from there.
    What fails here does so quietly: it fails again when it is timed.

    Raises
    ------
    KeyboardInterrupt : after Ctrl-C.
    """
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
    """Return the memory for which planes of a few examples have as many digits as those of all."""
    exact = capacity.dtype is np.float64
    return capacity.bytes_for(few.n, few.d, of_use(few.n, few.d) if exact else capacity.places)


def _at_work(solver: Solver, problem: Problem) -> list[Solver]:
    """Return the solvers that run when a solver is asked for."""
    if not isinstance(solver, Auto):
        return [solver]
    chosen = solver.choose(problem)
    return [chosen, OneSlack(tol=solver.tol)] if isinstance(chosen, FrankWolfe) else [chosen]


def _move_jointly() -> None:
    """Take the step of Frank-Wolfe on all planes at once, which few examples do not need."""
    G = np.random.default_rng(0).standard_normal((_CUTS, _CUTS // 2))
    dual = DualPlanes(G.shape[1], np.full(_EXAMPLES, 100.0), Capacity.within(_EXAMPLES, G.shape[1], 2**20))
    dual.visit(np.arange(_CUTS) % _EXAMPLES, G, np.ones(_CUTS))
    improve_jointly(RestrictedProblem(dual), enough=0.0, most_cuts=3)


def _demanding_qp() -> DualQP:
    """Return a small QP that leads a backend through all of its code: of low rank, in two groups, to the last digit."""
    G = np.random.default_rng(0).standard_normal((_CUTS, _CUTS // 2))
    return DualQP(G @ G.T, np.ones(_CUTS), np.arange(_CUTS) % 2, np.ones(2), tol=1e-12)
