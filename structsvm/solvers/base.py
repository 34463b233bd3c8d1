"""The interface of solvers, and the loop that cutting-plane solvers share."""

from abc import ABC, abstractmethod
from typing import ClassVar

from attrs import field, frozen
from attrs.validators import optional

from structsvm.exceptions import ClusterError, InputError
from structsvm.foundation.compute.threads import using
from structsvm.foundation.settings import at_least, positive, require_kind
from structsvm.foundation.types import Vector
from structsvm.problem import Problem
from structsvm.problem.base import AbstractProblem
from structsvm.registry import backends
from structsvm.result import CutSet, Result, Status
from structsvm.solvers.boxed_working_set import BoxedWorkingSet
from structsvm.solvers.checkpoint import CheckpointLike, CheckpointWriter, without_workers
from structsvm.solvers.qp import QPBackend
from structsvm.solvers.state import Callback, SolverState
from structsvm.solvers.working_set import WorkingSet


class Solver(ABC):
    """Base class of solvers: algorithms that minimize a `Problem`, with frozen settings and without state.

    To write one, derive an attrs class with a field ``tol`` and let a `SolverState` manage bounds, clocks and history.
    ``structsvm.testing.check_solver`` checks it.

    Examples
    --------
    >>> from attrs import frozen
    >>> from structsvm import Ranker
    >>> from structsvm.solvers import FrankWolfe, OneSlack
    >>> @frozen(kw_only=True)
    ... class InTwo(Solver):
    ...     name = "in-two"
    ...     tol: float = 1e-3
    ...     def solve(self, problem, start=None, callback=None, checkpoint=None):
    ...         start = FrankWolfe(tol=10 * self.tol).solve(problem, start, callback)
    ...         return OneSlack(tol=self.tol).solve(problem, start, callback, checkpoint)
    >>> ranker = Ranker("map", solver=InTwo()).fit([[1.0], [2.0], [4.0]], [0, 0, 1], qid=[1, 1, 1])
    >>> ranker.result_.converged
    True
    """

    name: ClassVar[str]

    @abstractmethod
    def solve(
        self,
        problem: AbstractProblem,
        start: Result | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointLike | None = None,
    ) -> Result:
        """Minimize the problem until ``primal − dual ≤ tol · C``; after Ctrl-C, return the best result so far.

        Parameters
        ----------
        problem : the problem.
        start : an earlier result of any solver, backend and C. If its data or loss differ, only its weights are used.
        callback : function that is called with every `Step`; it returns True to stop. A resumed run first calls it with
            the checkpoint's last step.
        checkpoint : `Checkpoint`, or path, of a file that stores the run. If the file exists, the run resumes from it
            and ignores ``start``. A solver without this argument cannot use checkpoints.

        Raises
        ------
        ModelFileError : the checkpoint is damaged or not a checkpoint.
        OracleError : the loss returned an output that is not the argmax.
        ClusterError : the cluster that stores the data does not answer; the message names the checkpoint, if any.
        """


def require_examples(solver: str, problem: AbstractProblem) -> Problem:
    """Return the problem if its data are in this process; reject distributed problems."""
    require_kind("problem", problem, AbstractProblem, "a Problem")
    if not isinstance(problem, Problem):
        raise InputError(
            f"{solver} needs planes of single examples, but the data of this problem are distributed: use OneSlack, "
            "which needs only sums over all examples"
        )
    return problem


_FEW_WEIGHTS = 100
"""Number of weights up to which all cuts that an optimum may need are kept, because merged cuts must be found again."""


@frozen(kw_only=True)
class CuttingPlane(Solver):
    """Base class of solvers that alternate between finding cuts and solving the QP over them.

    Parameters
    ----------
    backend : QP backend, by name or as an object; "auto" is the built-in backend.
    tol : ε, in units of the loss: stop when ``primal − dual ≤ tol · C``. None: 1e-3, or the default of an estimator.
    max_iter : maximum number of iterations.
    max_cuts : number of cuts above which cuts without weight are dropped and old cuts merged. At least 4 per group;
        with up to 100 weights, also at least weights plus groups, because an optimum may need this number.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.solvers import NSlack, OneSlack
    >>> X, y, qid = [[1.0], [2.0], [4.0], [2.0], [1.0]], [0, 0, 1, 0, 1], [1, 1, 1, 2, 2]
    >>> problem = Problem.from_queries(X, y, qid, loss="map", C=0.1)
    >>> for solver in (OneSlack(tol=1e-6, max_cuts=50), NSlack(tol=1e-6, backend="active-set")):
    ...     result = solver.solve(problem)
    ...     print(f"{solver.name}: {result.primal:.4f}, groups of cuts: {result.cuts.groups}")
    one-slack: 0.0515, groups of cuts: 1
    n-slack: 0.0515, groups of cuts: 2
    """

    backend: str | QPBackend = "auto"
    tol: float | None = field(default=None, validator=optional(positive))
    max_iter: int = field(default=10_000, validator=at_least(1))
    max_cuts: int = field(default=2_000, validator=at_least(2))

    def solve(
        self,
        problem: AbstractProblem,
        start: Result | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointLike | None = None,
    ) -> Result:
        require_kind("problem", problem, AbstractProblem, "a Problem")
        with using(problem.n_jobs):
            backend = backends.create(self.backend)
            caps = self._group_caps(problem)
            most = self._most_cuts(problem, len(caps))
            box = problem.box
            if box is None:
                working_set = WorkingSet(problem.d, caps, most, sparse=problem.sparse)
            else:
                working_set = BoxedWorkingSet(box, caps, most)
            keeper = CheckpointWriter.of(checkpoint, self, working_set.cuts, lambda: working_set.handovers)
            try:
                state = SolverState(problem, self.tol, start, callback, working_set.hinges, keeper, within_box=True)
            except ClusterError as error:
                raise without_workers(error, keeper) from error
            start = state.start
            if start is not None and state.same_problem:
                ready = start.cuts.groups == len(caps) and start.cuts.codes is None
                cuts = start.cuts if ready else self._translate(start, problem)
                if cuts is None:
                    # Without cuts, it takes many steps to reach the bounds of the run that this run continues.
                    state.patience = max(state.patience, len(state.history))
                else:
                    working_set.load(cuts)
            try:
                try:
                    status = self._iterate(state, working_set, backend)
                except KeyboardInterrupt:
                    status = Status.INTERRUPTED
                    if working_set.dual > state.dual:
                        state.record_last(working_set.w, working_set.dual, working_set.size, working_set.active)
                return state.result(status, self, working_set.cuts(), working_set.handovers, working_set.dual)
            except ClusterError as error:
                raise state.lost(error, self, working_set.cuts(), working_set.handovers) from error

    def _most_cuts(self, problem: AbstractProblem, groups: int) -> int:
        """Return the number of cuts to keep: with few weights at least as many as an optimum needs."""
        return max(self.max_cuts, 4 * groups, groups + problem.d if problem.d <= _FEW_WEIGHTS else 0)

    @abstractmethod
    def _iterate(self, state: SolverState, working_set: WorkingSet, backend: QPBackend) -> Status:
        """Add cuts and solve QPs, starting from the first evaluation's planes, until a status is reached."""

    @abstractmethod
    def _group_caps(self, problem: AbstractProblem) -> Vector:
        """Return the cap of each group of cuts; reject more groups than memory allows."""

    @abstractmethod
    def _translate(self, start: Result, problem: AbstractProblem) -> CutSet | None:
        """Convert cuts of a solver with other groups to the groups of this solver; None if that is impossible."""
