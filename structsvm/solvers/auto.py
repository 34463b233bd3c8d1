"""The default solver, which chooses another one by the shape of the problem."""

import logging
from typing import ClassVar

import numpy as np
from attrs import evolve, field, frozen
from attrs.validators import optional
from joblib import effective_n_jobs

from structsvm.foundation.settings import at_least, positive, require_callback, require_kind
from structsvm.problem import Problem
from structsvm.problem.base import AbstractProblem
from structsvm.problem.codes import MOST_VALUES, suits_codes
from structsvm.problem.planes import Capacity
from structsvm.problem.planes.capacity import DEFAULT_MEMORY, ENOUGH_PLACES
from structsvm.result import Result, Status, Step
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

_MOST_PASSES = 500.0
"""Number of passes with steps in scores beyond which other solvers need less time."""

_MOST_BYTES = 2**24
"""Size of the cuts of `NSlack` and their products up to which it continues from steps in scores."""

_LOOK_BACK = 8
"""Number of certificates over which progress is measured."""

_VALUES_A_WEIGHT = 2
"""Smallest number of feature values per weight in an example, for losses with a kernel: reading a plane of d numbers
should be cheaper than reading the rows that it summarizes."""


class _Pace:
    """A callback that stops steps in scores once their gaps predict more than `_MOST_PASSES`."""

    def __init__(self, callback: Callback | None, tol: float | None, *, watches: bool) -> None:
        require_callback(callback)
        self.slow = False
        self._callback, self._tol, self._watches = callback, 1e-3 if tol is None else tol, watches
        self._steps: list[Step] = []

    def __call__(self, step: Step) -> bool:
        stop = self._callback is not None and bool(self._callback(step))
        self._steps.append(step)
        wanted = self._tol * step.C
        # A step within the target ends the fit, and its gap may be 0.
        if self._watches and not stop and len(self._steps) > _LOOK_BACK and step.gap > wanted:
            before = self._steps[-1 - _LOOK_BACK]
            closed, rest = np.log(before.gap / step.gap), np.log(step.gap / wanted)
            passes = step.passes - before.passes
            self.slow = bool(step.passes * closed + passes * rest > _MOST_PASSES * closed)
        return stop or self.slow


@frozen(kw_only=True)
class Auto(Solver):
    """The default solver: `FrankWolfe` if it can store enough planes of every example, else mostly `OneSlack`.

    For a loss in Python with an exact or bounded argmax, and at most 500 examples whose cuts fit into 256 MiB, Auto
    chooses `NSlack` with one QP per round, which needs the fewest argmaxes.

    Frank-Wolfe needs the fewest passes over the data. If it can step in the scores of each example, as for classes,
    chains, graphs and declared outputs, Auto chooses it. If C is large for the scale of the features, its gaps soon
    predict more than 500 passes. Then another solver continues from its result: `NSlack` with one QP per round if its
    cuts and their products fit into 16 MiB, else `OneSlack`.

    For rankings, Frank-Wolfe needs memory for several planes of d numbers per example. Auto chooses `OneSlack` if

    - that many planes do not fit into memory;
    - a plane has as many numbers as the rows that it summarizes, or more, as with single or sparse rows;
    - a plane has a tenth as many numbers or more, and all examples share scores, as in long chains;
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
        if self._default_backend and suits_codes(problem):
            return FrankWolfe(tol=self.tol, max_iter=self.max_iter)
        planes = Capacity.exact_within(problem.n, problem.d, DEFAULT_MEMORY).places
        structured = problem.operator.shared and problem.exact
        least = MOST_VALUES if structured else _VALUES_A_WEIGHT
        small = least * problem.n * problem.d <= problem.stored or not problem.has_kernel
        many = problem.n >= _FEWEST_EXAMPLES
        spread = not problem.has_kernel and effective_n_jobs(problem.n_jobs) > 1
        fits = planes >= ENOUGH_PLACES and not spread
        if self._default_backend and fits and ((many and small) or not problem.certified):
            return FrankWolfe(tol=self.tol, max_iter=self.max_iter)
        return OneSlack(tol=self.tol, max_iter=self.max_iter, backend=self.backend)

    @staticmethod
    def _few(problem: Problem, memory: int = DEFAULT_MEMORY) -> bool:
        """Return True if the cuts of `NSlack` and their products fit into memory, and its QPs are small."""
        cuts = 4 * problem.n
        return problem.n <= _MOST_EXAMPLES and 8 * cuts * (cuts + problem.cut_numbers) <= memory

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
        in_scores = isinstance(problem, Problem) and suits_codes(problem) and isinstance(solver, FrankWolfe)
        pace = _Pace(callback, self.tol, watches=in_scores)
        result = evolve(solver, max_iter=PATIENCE).solve(problem, start, pace, keeper)
        if result.status is not Status.ITERATION_LIMIT and not pace.slow:
            return result
        logger.info(
            "%s is slow after %d iterations: %s continues", solver.name, result.history[-1].iteration, rest.name
        )
        try:
            return rest.solve(problem, evolve(result, status=Status.UNFINISHED), callback, keeper)
        except KeyboardInterrupt:
            return evolve(result, status=Status.INTERRUPTED)

    def _rest(self, solver: Solver, problem: AbstractProblem) -> OneSlack | NSlack | None:
        """Return the solver that continues after `PATIENCE` iterations, if any."""
        if isinstance(solver, NSlack):
            return None
        if isinstance(solver, FrankWolfe):
            if isinstance(problem, Problem) and suits_codes(problem) and self._few(problem, _MOST_BYTES):
                return NSlack(tol=self.tol, max_iter=self.max_iter, batch=problem.n)
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
