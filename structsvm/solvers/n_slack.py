"""n-slack: cuts of single examples, each with a slack of its own."""

from typing import ClassVar

from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.problem import AbstractProblem, Planes, Point, Problem
from structsvm.qp import QPBackend
from structsvm.result import CutSet, Result, Status
from structsvm.settings import at_least
from structsvm.solvers.base import CuttingPlane, require_examples
from structsvm.solvers.state import SolverState
from structsvm.solvers.working_set import WorkingSet
from structsvm.types import Vector

_MOST_BYTES = 4 * 2**30
"""What the cuts and their Gram matrix may take."""


@frozen(kw_only=True)
class NSlack(CuttingPlane):
    """The n-slack cutting-plane algorithm, literally by default.

    Algorithm 1 of Yue, Finley, Radlinski and Joachims (SIGIR 2007), from Tsochantaridis et
    al. (JMLR 2005): example by example, the most violated output is added to the working set
    where it is violated by more than ε, and the QP is solved again at once. After each round
    a pass of its own computes the bounds, since the slacks met on the way belong to different
    weights; it stops when they are close enough. Where they are not and no constraint was
    added, ε is halved.

    For some thousand examples at most: the QP has at least one variable an example.

    Parameters
    ----------
    backend : QP backend, by name or as an object; "auto" is the built-in one.
    tol : ε, in units of the loss: stop when ``primal − dual ≤ tol · C``.
    max_iter : limit of rounds, two passes over the data each.
    max_cuts : cuts that are kept, at least 4 an example, and up to 100 weights one an example and one a weight; above
        it those without weight are dropped and old ones merged.
    batch : examples whose constraints are added between two QPs; 1 is the paper's algorithm,
        n solves one QP a round.
    max_idle : QPs without weight after which a cut may be dropped.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.solvers import NSlack
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> NSlack(batch=10).solve(problem).converged
    True
    """

    name: ClassVar[str] = "n-slack"

    batch: int = field(default=1, validator=at_least(1))
    max_idle: int = field(default=5_000, validator=at_least(1))

    def _group_caps(self, problem: AbstractProblem) -> Vector:
        problem = require_examples("NSlack", problem)
        cuts = self._most_cuts(problem, problem.n)
        need = 8 * cuts * (cuts + problem.d)
        if need > _MOST_BYTES:
            raise InputError(
                f"NSlack keeps up to {cuts} cuts, 4 for each of {problem.n} examples or max_cuts, with a matrix of all "
                f"their products: {need / 2**30:.0f} GiB, and {_MOST_BYTES / 2**30:.0f} GiB is the most it takes. "
                "Use OneSlack or FrankWolfe, whose memory does not grow like this"
            )
        return problem.cap

    def _translate(self, start: Result, problem: AbstractProblem) -> CutSet | None:
        """Return None: a mean plane cannot be taken apart."""
        return None

    def _iterate(self, state: SolverState, working_set: WorkingSet, backend: QPBackend) -> Status:
        problem = require_examples("NSlack", state.problem)
        parts = [range(i, min(i + self.batch, problem.n)) for i in range(0, problem.n, self.batch)]
        blocks = [problem.block(part.start, part.stop) for part in parts]
        accuracy = self.tol * problem.C / problem.total_cap  # ε, where the example weights have mean 1
        widest = accuracy
        status = state.record(working_set.dual, working_set.size, working_set.active, working_set.resolution)
        if status:
            return status
        if working_set.size:  # restored, with multipliers that no QP has seen
            with state.clock("solver"):
                working_set.solve(backend, state.qp_tol)
        elif state.point.w.any():
            self._add(state, working_set, problem, range(problem.n), state.point, state.planes, accuracy, backend)
        for _ in state.iterations(self.max_iter):
            changed = False
            for part, block in zip(parts, blocks, strict=True):
                with state.clock("oracle"):
                    point = block.at(working_set.w)
                    planes = block.planes(point)
                changed |= self._add(state, working_set, block, part, point, planes, accuracy, backend)
            state.count_passes(1.0)
            point, planes = state.evaluate(working_set.w)
            self._hinges(working_set, problem, range(problem.n), point, planes)
            status = state.record(working_set.dual, working_set.size, working_set.active, working_set.resolution)
            if status:
                return status
            if not changed:  # what is left of the gap is that of the QP, and slacks of up to ε
                accuracy *= 0.5
                if working_set.size:
                    with state.clock("solver"):
                        working_set.solve(backend, state.qp_tol * accuracy / widest)
        return Status.ITERATION_LIMIT

    def _add(
        self,
        state: SolverState,
        working_set: WorkingSet,
        block: Problem,
        part: range,
        point: Point,
        planes: Planes,
        accuracy: float,
        backend: QPBackend,
    ) -> bool:
        """Add the planes of a range of examples that are violated by more than ε; solve the QP if there are any."""
        with state.clock("oracle"):
            violation, slack = self._hinges(working_set, block, part, point, planes)
            violated = (violation > slack + accuracy) & (block.cap > 0.0)
            cuts = block.cuts(planes, violated)
        if not violated.any():
            return False
        with state.clock("solver"):
            working_set.add(cuts.G, cuts.L, cuts.example + part.start)
            working_set.solve(backend, state.qp_tol)
            working_set.prune(self.max_idle)
        return True

    def _hinges(
        self, working_set: WorkingSet, block: Problem, part: range, point: Point, planes: Planes
    ) -> tuple[Vector, Vector]:
        """Return the hinge of each example of a range, by its argmax and by the cuts found earlier.

        Raises
        ------
        OracleError : when an earlier cut is violated by more than the plane of the argmax.
        """
        slack = working_set.slack(part, point.w)
        return block.checked_violation(planes, point, slack), slack
