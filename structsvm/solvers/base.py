"""What a solver is, and the loop that all cutting-plane solvers share."""

from abc import ABC, abstractmethod
from typing import ClassVar

from attrs import field, frozen

from structsvm.compute.threads import using
from structsvm.exceptions import ClusterError, InputError
from structsvm.problem import AbstractProblem, Problem
from structsvm.qp import QPBackend
from structsvm.registry import backends
from structsvm.result import CutSet, Result, Status
from structsvm.settings import at_least, positive, require_kind
from structsvm.solvers.boxed_working_set import BoxedWorkingSet
from structsvm.solvers.checkpoint import CheckpointLike, Keeper, without_workers
from structsvm.solvers.state import Callback, SolverState
from structsvm.solvers.working_set import WorkingSet
from structsvm.types import Vector


class Solver(ABC):
    """An algorithm that minimises a `Problem`. Frozen settings; no state is kept on it.

    To write one, derive an attrs class with a field ``tol`` and let a `SolverState` keep bounds, clocks and
    history. ``structsvm.testing.check_solver`` says whether it is right.

    Examples
    --------
    >>> from attrs import frozen
    >>> from structsvm import Ranker
    >>> from structsvm.solvers import FrankWolfe, OneSlack, Solver
    >>> @frozen(kw_only=True)
    ... class InTwo(Solver):
    ...     name = "in-two"
    ...     tol: float = 1e-3
    ...
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
        """Minimise the problem until ``primal − dual ≤ tol · C``.

        Parameters
        ----------
        problem : the problem.
        start : an earlier result to go on from, of any solver, backend and C. Where its data
            or loss are others, only its weights are used.
        callback : is shown every `Step`; returns True to stop. Where the run goes on from a checkpoint, it is shown
            the last step of that first.
        checkpoint : `Checkpoint`, or the path of its file, which the run is kept in; where the file exists, it goes
            on from there, and not from ``start``. A solver without this argument cannot be kept.

        Returns
        -------
        The best result; after Ctrl-C too, with its own status.

        Raises
        ------
        InputError : when ``start`` has another number of weights, or the checkpoint is of another problem or solver.
        ModelFileError : when the checkpoint is damaged or something else.
        OracleError : when the loss returned an output that is not the argmax.
        ClusterError : when the data are spread over a cluster that does not answer; it names the checkpoint, if any.
        """


def require_examples(solver: str, problem: AbstractProblem) -> Problem:
    """Return a problem that hands out planes of single examples, as one does whose data are in this process.

    Raises
    ------
    InputError : when it does not; it names the solver that does without.
    """
    require_kind("problem", problem, AbstractProblem, "a Problem")
    if not isinstance(problem, Problem):
        raise InputError(
            f"{solver} looks at one example after the other, and the data of this problem are spread over a cluster: "
            "use OneSlack, which asks for sums over all of them"
        )
    return problem


_FEW_WEIGHTS = 100
"""Weights up to which no cut is merged that an optimum needs: merged ones would have to be found again and again."""


@frozen(kw_only=True)
class CuttingPlane(Solver):
    """A solver that alternates between finding cuts and solving the QP over those found.

    Parameters
    ----------
    backend : QP backend, by name or as an object; "auto" is the built-in one.
    tol : ε, in units of the loss: stop when ``primal − dual ≤ tol · C``.
    max_iter : limit of iterations.
    max_cuts : cuts that are kept; above it those without weight are dropped and old ones merged. At least 4 of each
        group, and up to 100 weights one for each of them besides one of each group: an optimum may need so many.

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
    tol: float = field(default=1e-3, validator=positive)
    max_iter: int = field(default=10_000, validator=at_least(1))
    max_cuts: int = field(default=2_000, validator=at_least(2))

    def solve(
        self,
        problem: AbstractProblem,
        start: Result | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointLike | None = None,
    ) -> Result:
        """Minimise the problem; see `Solver.solve`."""
        require_kind("problem", problem, AbstractProblem, "a Problem")
        with using(problem.n_jobs):
            return self._minimise(problem, start, callback, checkpoint)

    def _minimise(
        self,
        problem: AbstractProblem,
        start: Result | None,
        callback: Callback | None,
        checkpoint: CheckpointLike | None,
    ) -> Result:
        backend = backends.create(self.backend)
        caps = self._group_caps(problem)
        most = self._most_cuts(problem, len(caps))
        box = problem.box
        working_set = WorkingSet(problem.d, caps, most) if box is None else BoxedWorkingSet(box, caps, most)
        keeper = Keeper.of(checkpoint, self, working_set.cuts, lambda: working_set.handovers)
        try:
            state = SolverState(problem, self.tol, start, callback, working_set.hinges, keeper, within_box=True)
        except ClusterError as error:
            raise without_workers(error, keeper) from error
        start = state.start
        if start is not None and state.same_problem:
            cuts = start.cuts if start.cuts.groups == len(caps) else self._translate(start, problem)
            if cuts is not None and state.tolerates_rounding(cuts.most_error(caps)):
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
        """Return how many cuts are kept: no fewer than an optimum needs where these take little memory."""
        return max(self.max_cuts, 4 * groups, groups + problem.d if problem.d <= _FEW_WEIGHTS else 0)

    @abstractmethod
    def _iterate(self, state: SolverState, working_set: WorkingSet, backend: QPBackend) -> Status:
        """Add cuts and solve QPs, from the planes of the first evaluation, until a status is reached."""

    @abstractmethod
    def _group_caps(self, problem: AbstractProblem) -> Vector:
        """Return the cap of each group of cuts.

        Raises
        ------
        InputError : when there are more groups than the solver has memory for.
        """

    @abstractmethod
    def _translate(self, start: Result, problem: AbstractProblem) -> CutSet | None:
        """Return the cuts of a solver with other groups in the groups of this one; None where they cannot be."""
