"""The choice of a solver by the shape of the problem."""

import logging
from typing import ClassVar

from attrs import evolve, field, frozen
from joblib import effective_n_jobs

from structsvm.planes import Capacity
from structsvm.planes.capacity import ENOUGH_PLACES
from structsvm.problem import AbstractProblem, Problem
from structsvm.qp import QPBackend
from structsvm.result import Result, Status
from structsvm.settings import at_least, positive, require_kind
from structsvm.solvers.base import Solver
from structsvm.solvers.checkpoint import CheckpointLike, Keeper
from structsvm.solvers.frank_wolfe import PATIENCE, FrankWolfe
from structsvm.solvers.one_slack import OneSlack
from structsvm.solvers.state import Callback

logger = logging.getLogger("structsvm")

_FEWEST_EXAMPLES = 20
"""Examples below which a cut of all of them is worth more than their planes one by one."""

_VALUES_A_WEIGHT = 2
"""Feature values that scoring an example of a loss with a kernel should read for each weight: a plane has as many
numbers as there are weights, and should be cheaper to look at than the rows that it was made of."""


@frozen(kw_only=True)
class Auto(Solver):
    """`FrankWolfe` where it can keep enough planes of every example, else `OneSlack`.

    Frank-Wolfe needs the fewest passes over the data at every C, and memory for several planes
    of d numbers an example. `OneSlack` is chosen

    - where that many planes do not fit into memory;
    - where a plane has no fewer numbers than the rows that it is made of, as with single rows or sparse ones;
    - where there are fewer than twenty examples;
    - where a loss in Python is spread over processes;
    - where a QP backend is asked for, weights have bounds, or the data are spread over a cluster.

    A loss whose argmax is inexact goes to Frank-Wolfe whatever the shape of the problem and the number of examples: it
    keeps the best output found of each example, which is lost in a cut of all examples together.

    Where Frank-Wolfe has not converged after 60 passes, because C is very large for the scale of
    the features, 1-slack goes on from there. The documentation shows the figures behind this (docs/benchmarks.md).

    Parameters
    ----------
    tol : ε, in units of the loss: stop when ``primal − dual ≤ tol · C``.
    max_iter : limit of iterations.
    backend : QP backend, by name or as an object; "auto" leaves the choice free.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> from structsvm.solvers import Auto
    >>> Ranker(solver=Auto(tol=1e-2)).fit([[1.0], [2.0]], [0, 1], qid=[1, 1]).result_.converged
    True
    """

    name: ClassVar[str] = "auto"

    tol: float = field(default=1e-3, validator=positive)
    max_iter: int = field(default=10_000, validator=at_least(1))
    backend: str | QPBackend = "auto"

    def choose(self, problem: AbstractProblem) -> Solver:
        """Return the solver for a problem."""
        if not isinstance(problem, Problem) or problem.box is not None:
            return OneSlack(tol=self.tol, max_iter=self.max_iter, backend=self.backend)
        planes = Capacity.exact_within(problem.n, problem.d, FrankWolfe().memory).places
        small = _VALUES_A_WEIGHT * problem.n * problem.d <= problem.stored or not problem.has_kernel
        many = problem.n >= _FEWEST_EXAMPLES
        spread = not problem.has_kernel and effective_n_jobs(problem.n_jobs) > 1
        fits = planes >= ENOUGH_PLACES and not spread
        if self.backend == "auto" and fits and ((many and small) or not problem.exact):
            return FrankWolfe(tol=self.tol, max_iter=self.max_iter)
        return OneSlack(tol=self.tol, max_iter=self.max_iter, backend=self.backend)

    def solve(
        self,
        problem: AbstractProblem,
        start: Result | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointLike | None = None,
    ) -> Result:
        """Minimise the problem with the solver that fits it; see `Solver.solve`."""
        require_kind("problem", problem, AbstractProblem, "a Problem")
        keeper = Keeper.of(checkpoint, self)
        start = start if keeper is None else keeper.begin(problem, start)
        chosen = self.choose(problem)
        if not isinstance(chosen, FrankWolfe) or self.max_iter <= PATIENCE:
            return chosen.solve(problem, start, callback, keeper)
        rest = OneSlack(tol=self.tol, max_iter=self.max_iter)
        if keeper is not None and keeper.known is not None and keeper.known.solver_name == rest.name:
            return rest.solve(problem, start, callback, keeper)
        result = evolve(chosen, max_iter=PATIENCE).solve(problem, start, callback, keeper)
        if result.status is not Status.ITERATION_LIMIT:
            return result
        logger.info("frank-wolfe has not converged after %d passes: one-slack goes on", PATIENCE)
        try:
            return rest.solve(problem, evolve(result, status=Status.UNFINISHED), callback, keeper)
        except KeyboardInterrupt:
            return evolve(result, status=Status.INTERRUPTED)
