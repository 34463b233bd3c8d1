"""What a solver is, and the loop that all cutting-plane solvers share."""

import logging
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.problem import Problem
from structsvm.qp import QPBackend
from structsvm.registry import backends
from structsvm.result import CutSet, Result, Status
from structsvm.solvers.run import Callback, Run
from structsvm.solvers.working_set import WorkingSet
from structsvm.types import Vector
from structsvm.validation import at_least, positive

logger = logging.getLogger("structsvm")


class Solver(ABC):
    """An algorithm that minimises a `Problem`. Frozen settings; no state is kept on it."""

    name: ClassVar[str]

    @abstractmethod
    def solve(self, problem: Problem, start: Result | None = None, callback: Callback | None = None) -> Result:
        """Minimise the problem until ``primal − dual ≤ tol · C``.

        Parameters
        ----------
        problem : the problem.
        start : an earlier result to go on from, of any solver, backend and C. Where its data
            or loss are others, only its weights are used.
        callback : is shown every `Step`; returns True to stop.

        Returns
        -------
        The best result; after Ctrl-C too, with its own status.

        Raises
        ------
        InputError : when ``start`` has another number of weights.
        OracleError : when the loss returned an output that is not the argmax.
        """


@frozen(kw_only=True)
class CuttingPlane(Solver):
    """A solver that alternates between finding cuts and solving the QP over those found.

    Parameters
    ----------
    backend : QP backend, by name or as an object; "auto" is the built-in one.
    tol : ε, in units of the loss: stop when ``primal − dual ≤ tol · C``.
    max_iter : limit of iterations.
    max_cuts : cuts that are kept, at least 4; above it those without weight are dropped and old ones merged.
    """

    backend: str | QPBackend = "auto"
    tol: float = field(default=1e-3, validator=positive)
    max_iter: int = field(default=10_000, validator=at_least(1))
    max_cuts: int = field(default=2_000, validator=at_least(2))

    def solve(self, problem: Problem, start: Result | None = None, callback: Callback | None = None) -> Result:
        """Minimise the problem; see `Solver.solve`."""
        backend = backends.create(self.backend)
        run = Run(problem, self.tol, callback)
        working_set, w = self._start(problem, start)
        try:
            status = self._iterate(run, working_set, w, backend)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        run.dual = max(run.dual, working_set.dual)
        return run.result(status, repr(self), working_set.cuts(), working_set.handovers)

    @abstractmethod
    def _iterate(self, run: Run, working_set: WorkingSet, w: Vector, backend: QPBackend) -> Status:
        """Add cuts and solve QPs, from weights w, until a status is reached."""

    @abstractmethod
    def _group_caps(self, problem: Problem) -> Vector:
        """Return the cap of each group of cuts."""

    @abstractmethod
    def _translate(self, start: Result) -> CutSet | None:
        """Return the cuts of a solver with other groups in the groups of this one; None where they cannot be."""

    def _start(self, problem: Problem, start: Result | None) -> tuple[WorkingSet, Vector]:
        caps = self._group_caps(problem)
        max_cuts = max(self.max_cuts, 4 * len(caps))
        empty = WorkingSet(problem.d, caps, max_cuts)
        if start is None:
            return empty, np.zeros(problem.d)
        if not same_problem(problem, start):
            return empty, start.w
        cuts = start.cuts if start.cuts.groups == len(caps) else self._translate(start)
        return (empty if cuts is None else WorkingSet.restored(cuts, caps, max_cuts)), start.w


def same_problem(problem: Problem, start: Result) -> bool:
    """Say whether a result is of the same data and loss, so that its cuts and bounds hold here.

    Raises
    ------
    InputError : when it has another number of weights.
    """
    if start.w.shape != (problem.d,):
        raise InputError(f"start has {len(start.w)} weights, but the problem has {problem.d}")
    seen = problem.fingerprint()
    same = seen.shape == start.fingerprint.shape and np.allclose(seen, start.fingerprint, rtol=1e-6, atol=1e-9)
    if not same:
        logger.info("start is of other data or another loss: only its weights are used")
    return bool(same)
