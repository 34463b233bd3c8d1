"""The default solver, which chooses another one by the shape of the problem."""

import logging
from typing import ClassVar

from attrs import evolve, field, frozen
from attrs.validators import optional
from joblib import effective_n_jobs

from structsvm.foundation.settings import at_least, positive, require_kind
from structsvm.problem import Problem
from structsvm.problem.base import AbstractProblem
from structsvm.problem.codes import MOST_VALUES, suits_codes
from structsvm.problem.planes.capacity import DEFAULT_MEMORY, ENOUGH_PLACES, places_within
from structsvm.result import CutSet, Result, Status
from structsvm.solvers.base import Solver
from structsvm.solvers.checkpoint import CheckpointLike, CheckpointWriter
from structsvm.solvers.frank_wolfe import PATIENCE, FrankWolfe
from structsvm.solvers.n_slack import NSlack
from structsvm.solvers.one_slack import OneSlack, makes_two_cuts
from structsvm.solvers.pace import Pace
from structsvm.solvers.qp import QPBackend
from structsvm.solvers.state import Callback

logger = logging.getLogger("structsvm")

_FEWEST_EXAMPLES = 20
"""Number of examples from which `NSlack` continues if weights have bounds."""

_IN_SCORES = 1500.0, 50.0, 0.5
"""Predicted work of steps in scores, in passes over the data, beyond which other solvers need less time: a largest
number, and a sum of a number and a part of the number of weights. With few weights, `OneSlack` needs few cuts."""

_IN_SCORES_WITH_TWO_CUTS = 1500.0, 10.0, 0.25
"""The same if `OneSlack` makes two cuts of a line search."""

_FIRST_IN_SCORES = 60.0, 5.0, 0.025
"""Work before the first prediction of steps in scores, because early gaps jump, in the same form."""

_ON_PLANES, _FOR_QUERIES, _BEFORE_N_SLACK, _FOR_FEW_QUERIES = (250.0, 40.0), (120.0, 20.0), (50.0, 20.0), (40.0, 5.0)
"""Largest predicted work of steps along planes, of structures and of rankings, and work before the first prediction.

The last two are for rankings if `NSlack` continues, and for fewer long queries than weights if `OneSlack` makes two
cuts: steps of single queries are then short."""

_EARLY = 0.5
"""Gap, in units of C, above which the planes of Frank-Wolfe slow the QPs of `NSlack` down."""

_MOST_BYTES = 2**25
"""Size of the cuts of `NSlack` and their products up to which it continues from Frank-Wolfe."""

_VALUES_A_WEIGHT, _VALUES_OF_MANY = 2, 10
"""Smallest number of feature values per weight in an example, for losses with a kernel: reading a plane of d numbers
should be cheaper than reading the rows that it summarizes. With many examples, `OneSlack` needs few passes if it makes
two cuts."""

_MANY = 5
"""Number of examples per weight from which there are many."""

_LONG = 25
"""The same number from which queries are long."""


@frozen(kw_only=True)
class Auto(Solver):
    """The default solver: `FrankWolfe` if it can store enough planes of every example, else mostly `OneSlack`.

    For a loss in Python with an exact or bounded argmax, Auto chooses `NSlack` with one QP per round, which needs the
    fewest argmaxes, if four cuts of each example and their products fit into 256 MiB: about 1,400 examples at most.

    Frank-Wolfe needs the fewest passes over the data. If it can step in the scores of each example, as for classes,
    chains, graphs and declared outputs, Auto chooses it.

    For rankings, Frank-Wolfe needs memory for several planes of d numbers per example. Auto chooses `OneSlack` if

    - these planes do not fit into memory;
    - a plane has more than half as many numbers as the rows that it summarizes, as with single or sparse rows; or more
      than a tenth, with up to 1,000 weights and at least five examples per weight;
    - all examples share scores, as in long chains, and a plane has more than a tenth as many numbers as its rows;
    - there is one example;
    - a loss in Python is computed by several processes;
    - a QP backend is set, weights have bounds, or the data are distributed.

    The second to fourth reasons do not count if the argmax is neither exact nor bounded: Frank-Wolfe stores the best
    output found for each example, and a cut over all examples loses it.

    If C is large for the scale of the features, the first solver may be slow, and another one continues from its
    result. Frank-Wolfe is slow if its gaps predict more work than

    - for steps in scores and d weights, ``10 + d/4`` passes if d ≤ 1,000, otherwise ``min(50 + d/2, 1500)`` passes;
    - for steps along planes of structures, 250 passes;
    - for rankings, 120 passes, or 50 if `NSlack` continues; but 40 if there are at most 1,000 weights, fewer queries
      than weights, and at least 25 feature values per query and weight.

    Work counts the numbers that are read, also in steps on planes, not seconds. `NSlack` with one QP per round
    continues if its cuts and their products fit into 32 MiB; for rankings, examples must also be at least twice as many
    as weights. `OneSlack` continues in all other cases, and if rounding stops the QPs of `NSlack`; for losses in
    Python, it continues after 60 iterations. As first solver, `OneSlack` is slow after 60 iterations. `NSlack` then
    continues if the cuts and their products fit into 256 MiB. Every example must also have one score, or there must be
    bounds on weights and at least twenty examples. For examples of one score, its QP ends at the exact optimum.

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
        planes = places_within(problem.n, problem.d, DEFAULT_MEMORY)
        structured = problem.operator.shared and problem.exact
        many = makes_two_cuts(problem) and problem.n >= _MANY * problem.d
        least = _VALUES_OF_MANY if many else _VALUES_A_WEIGHT
        least = MOST_VALUES if structured else least
        small = least * problem.n * problem.d <= problem.stored or not problem.has_kernel
        spread = not problem.has_kernel and effective_n_jobs(problem.n_jobs) > 1
        fits = planes >= ENOUGH_PLACES and not spread
        if self._default_backend and fits and ((problem.n > 1 and small) or not problem.certified):
            return FrankWolfe(tol=self.tol, max_iter=self.max_iter)
        return OneSlack(tol=self.tol, max_iter=self.max_iter, backend=self.backend)

    @staticmethod
    def _few(problem: Problem, memory: int = DEFAULT_MEMORY) -> bool:
        """Return True if the cuts of `NSlack` and their products fit into memory."""
        cuts = 4 * problem.n
        return 8 * cuts * (cuts + problem.cut_numbers) <= memory

    def solve(
        self,
        problem: AbstractProblem,
        start: Result | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointLike | None = None,
    ) -> Result:
        require_kind("problem", problem, AbstractProblem, "a Problem")
        require_kind("start", start, Result | None, "a Result or None")
        keeper = CheckpointWriter.of(checkpoint, self)
        start = start if keeper is None else keeper.begin(problem, start)
        solver = self.choose(problem)
        rest = self.rest(solver, problem)
        if rest is None or self.max_iter <= PATIENCE:
            return solver.solve(problem, start, callback, keeper)
        last = OneSlack(tol=self.tol, max_iter=self.max_iter)
        name = None if start is None or start.C != problem.C else start.solver_name
        if name in (rest.name, last.name) and name != solver.name:
            return (rest if name == rest.name else last).solve(problem, start, callback, keeper)
        if isinstance(solver, FrankWolfe) and isinstance(problem, Problem) and problem.has_kernel:
            pace = self._pace(problem, rest)
            result = solver.solve_unless_slow(problem, start, callback, keeper, pace)
        else:
            result = evolve(solver, max_iter=PATIENCE).solve(problem, start, callback, keeper)
        if result.status is not Status.ITERATION_LIMIT:
            return result
        _log_change("slow", result, rest)
        if isinstance(rest, NSlack) and result.gap > _EARLY * problem.C:
            result = evolve(result, cuts=CutSet.none(problem.d, problem.n))
        try:
            result = rest.solve(problem, evolve(result, status=Status.UNFINISHED), callback, keeper)
            if result.status is Status.STALLED and isinstance(solver, FrankWolfe) and isinstance(rest, NSlack):
                # The QPs of `OneSlack` are smaller, so that rounding stops it later.
                _log_change("stalled", result, last)
                result = evolve(result, status=Status.UNFINISHED, cuts=CutSet.none(problem.d, 1))
                result = last.solve(problem, result, callback, keeper)
        except KeyboardInterrupt:
            return evolve(result, status=Status.INTERRUPTED)
        return result

    @staticmethod
    def _pace(problem: Problem, rest: Solver) -> Pace:
        """Return the pace that Frank-Wolfe must keep, or ``rest`` continues."""
        two = makes_two_cuts(problem)
        if suits_codes(problem):
            limits = (_IN_SCORES_WITH_TWO_CUTS if two else _IN_SCORES), _FIRST_IN_SCORES
            return Pace(*(min(most, least + part * problem.d) for most, least, part in limits))
        if not problem.loss.scores_rows:
            return Pace(*_ON_PLANES)
        if two and problem.n < problem.d and problem.stored >= _LONG * problem.n * problem.d:
            return Pace(*_FOR_FEW_QUERIES)
        return Pace(*(_BEFORE_N_SLACK if isinstance(rest, NSlack) else _FOR_QUERIES))

    def rest(self, solver: Solver, problem: AbstractProblem) -> OneSlack | NSlack | None:
        """Return the solver that continues if the first solver is slow, or None."""
        if isinstance(solver, NSlack):
            return None
        if isinstance(solver, FrankWolfe):
            few = isinstance(problem, Problem) and problem.has_kernel and self._few(problem, _MOST_BYTES)
            if few and (_is_structured(problem) or problem.n >= 2 * problem.d):
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


def _log_change(reason: str, result: Result, rest: Solver) -> None:
    logger.info(
        "%s is %s after %d iterations: %s continues",
        result.solver_name,
        reason,
        result.history[-1].iteration,
        rest.name,
    )


def _is_structured(problem: AbstractProblem) -> bool:
    """Return True if outputs are more than rankings of rows, or if examples step in their scores."""
    return not problem.loss.scores_rows or (isinstance(problem, Problem) and suits_codes(problem))
