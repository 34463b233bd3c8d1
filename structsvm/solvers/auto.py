"""The default solver, which chooses another one by the shape of the problem."""

import logging
from typing import ClassVar

from attrs import evolve, field, frozen
from attrs.validators import optional
from joblib import effective_n_jobs

from structsvm.foundation.settings import at_least, positive, require_kind
from structsvm.problem import Problem
from structsvm.problem.base import AbstractProblem
from structsvm.problem.planes import Capacity
from structsvm.problem.planes.capacity import DEFAULT_MEMORY, ENOUGH_PLACES
from structsvm.result import Result, Status
from structsvm.solvers.base import Solver
from structsvm.solvers.checkpoint import CheckpointLike, CheckpointWriter
from structsvm.solvers.frank_wolfe import PATIENCE, FrankWolfe
from structsvm.solvers.n_slack import NSlack
from structsvm.solvers.one_slack import OneSlack
from structsvm.solvers.qp import QPBackend
from structsvm.solvers.state import Callback

logger = logging.getLogger("structsvm")

_FEWEST_EXAMPLES = 20
"""Number of examples below which cuts over all examples are better than planes of single examples."""

_MOST_EXAMPLES = 500
"""Number of examples up to which `NSlack` with one QP per round is best for losses in Python."""

_VALUES_A_WEIGHT = 2
"""Smallest number of feature values per weight in an example, for losses with a kernel: reading a plane of d numbers
should be cheaper than reading the rows that it summarizes."""


@frozen(kw_only=True)
class Auto(Solver):
    """The default solver: `FrankWolfe` if it can store enough planes of every example, else mostly `OneSlack`.

    For a loss in Python with an exact or bounded argmax, and at most 500 examples whose cuts fit into 256 MiB, Auto
    chooses `NSlack` with one QP per round, which needs the fewest argmaxes.

    Frank-Wolfe needs the fewest passes over the data at every C, but memory for several planes of d numbers per
    example. Auto chooses `OneSlack` if

    - that many planes do not fit into memory;
    - a plane has as many numbers as the rows that it summarizes, or more, as with single or sparse rows;
    - an exact kernel reads scores that all examples share, as with chains, whose dense planes cost more than their
      argmaxes;
    - there are fewer than twenty examples;
    - a loss in Python is computed by several processes;
    - a QP backend is set, weights have bounds, or the data are distributed.

    A loss with an inexact argmax always goes to Frank-Wolfe, which stores the best output found for each example; a cut
    over all examples loses it.

    If 60 iterations were not enough, because C is large for the scale of the features, another solver continues from
    their result. After Frank-Wolfe it is `OneSlack`. After `OneSlack` it is `NSlack` with one QP per round, if every
    example has one score, or weights have bounds and there are at least twenty examples, and if the Gram matrix of the
    cuts fits into 256 MiB. For examples of one score, that QP ends at the exact optimum.

    Parameters
    ----------
    tol : ε, in units of the loss: stop when ``primal − dual ≤ tol · C``. None: 1e-3, or the default of an estimator.
    max_iter : maximum number of iterations.
    backend : QP backend, by name or as an object; "auto" leaves the choice free.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> Ranker(solver=Auto(tol=1e-2)).fit([[1.0], [2.0]], [0, 1], qid=[1, 1]).result_.converged
    True
    """

    name: ClassVar[str] = "auto"

    tol: float | None = field(default=None, validator=optional(positive))
    max_iter: int = field(default=10_000, validator=at_least(1))
    backend: str | QPBackend = "auto"

    @property
    def _default_backend(self) -> bool:
        return isinstance(self.backend, str) and self.backend == "auto"

    def choose(self, problem: AbstractProblem) -> FrankWolfe | OneSlack | NSlack:
        """Return the first solver for a problem."""
        if not isinstance(problem, Problem) or problem.box is not None:
            return OneSlack(tol=self.tol, max_iter=self.max_iter, backend=self.backend)
        if self._default_backend and not problem.has_kernel and problem.certified and self._few(problem):
            return NSlack(tol=self.tol, max_iter=self.max_iter, batch=problem.n)
        planes = Capacity.exact_within(problem.n, problem.d, DEFAULT_MEMORY).places
        small = _VALUES_A_WEIGHT * problem.n * problem.d <= problem.stored or not problem.has_kernel
        # Sweeps over dense planes of structures take longer than their argmaxes, and line searches need exact ones.
        small = small and not (problem.has_kernel and problem.operator.shared and problem.exact)
        many = problem.n >= _FEWEST_EXAMPLES
        spread = not problem.has_kernel and effective_n_jobs(problem.n_jobs) > 1
        fits = planes >= ENOUGH_PLACES and not spread
        if self._default_backend and fits and ((many and small) or not problem.certified):
            return FrankWolfe(tol=self.tol, max_iter=self.max_iter)
        return OneSlack(tol=self.tol, max_iter=self.max_iter, backend=self.backend)

    @staticmethod
    def _few(problem: Problem) -> bool:
        """Return True if the cuts of `NSlack` and their products fit into memory, and its QPs are small."""
        cuts = 4 * problem.n
        return problem.n <= _MOST_EXAMPLES and 8 * cuts * (cuts + problem.cut_numbers) <= DEFAULT_MEMORY

    def solve(
        self,
        problem: AbstractProblem,
        start: Result | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointLike | None = None,
    ) -> Result:
        require_kind("problem", problem, AbstractProblem, "a Problem")
        keeper = CheckpointWriter.of(checkpoint, self)
        start = start if keeper is None else keeper.begin(problem, start)
        solver = self.choose(problem)
        rest = self._rest(solver, problem)
        if rest is None or self.max_iter <= PATIENCE:
            return solver.solve(problem, start, callback, keeper)
        if keeper is not None and keeper.known is not None and keeper.known.solver_name == rest.name:
            return rest.solve(problem, start, callback, keeper)
        result = evolve(solver, max_iter=PATIENCE).solve(problem, start, callback, keeper)
        if result.status is not Status.ITERATION_LIMIT:
            return result
        logger.info("%s has not converged after %d iterations: %s continues", solver.name, PATIENCE, rest.name)
        try:
            return rest.solve(problem, evolve(result, status=Status.UNFINISHED), callback, keeper)
        except KeyboardInterrupt:
            return evolve(result, status=Status.INTERRUPTED)

    def _rest(self, solver: Solver, problem: AbstractProblem) -> OneSlack | NSlack | None:
        """Return the solver that continues after `PATIENCE` iterations, if any."""
        if isinstance(solver, NSlack):
            return None
        if isinstance(solver, FrankWolfe):
            return OneSlack(tol=self.tol, max_iter=self.max_iter)
        if not isinstance(problem, Problem) or not self._default_backend:
            return None
        n, d, scores = problem.sizes
        # Rows have two outputs, so that one cut each is enough; `NSlack` stores up to 4 cuts of other examples.
        rows, cuts = scores == n, n if scores == n else 4 * n
        suits = rows or (problem.box is not None and n >= _FEWEST_EXAMPLES)
        if not suits or 8 * cuts * (cuts + d) > DEFAULT_MEMORY:
            return None
        return NSlack(tol=self.tol, max_iter=self.max_iter, batch=n)
