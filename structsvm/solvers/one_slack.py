"""1-slack: one cut per iteration, the mean of all examples' planes."""

from typing import ClassVar

import numpy as np
from attrs import field, frozen
from attrs.validators import optional

from structsvm.exceptions import InputError
from structsvm.foundation.settings import at_least, truth_value
from structsvm.foundation.types import Vector
from structsvm.problem.base import AbstractProblem
from structsvm.result import CutSet, Result, Status
from structsvm.solvers.base import CuttingPlane
from structsvm.solvers.line_search import Evaluated, search
from structsvm.solvers.qp import QPBackend
from structsvm.solvers.state import SolverState
from structsvm.solvers.working_set import WorkingSet

_ONE_GROUP = np.zeros(1, dtype=np.int64)

_MOST_MOVES = 20
"""Line searches after which the best point is scored again, so that rounding errors do not add up."""


_MOST_WEIGHTS = 1_000
"""Number of weights up to which a second cut at the minimum of a line costs less than the iterations that it saves."""


def makes_two_cuts(problem: AbstractProblem) -> bool:
    """Return True if a line search is followed by a cut at the minimum, too."""
    return problem.d <= _MOST_WEIGHTS


@frozen(kw_only=True)
class OneSlack(CuttingPlane):
    """The 1-slack cutting-plane algorithm: each cut is the mean of all examples' planes.

    This is Algorithm 3 of Joachims, Finley and Yu, "Cutting-Plane Training of Structural SVMs", Machine Learning 2009.
    An iteration takes one pass over the data and adds one cut, or a pass and a half and two cuts with a line search and
    up to 1,000 weights. The number of iterations does not grow with the number of examples.

    Parameters
    ----------
    backend, tol, max_cuts : see `CuttingPlane`; all cuts form one group.
    max_iter : maximum number of iterations.
    line_search : search the line from the best point to the QP's optimum, and cut at its minimum and near it (Franc and
        Sonnenburg, JMLR 2009): two to seven argmaxes per iteration, and several times fewer iterations if C is large.
        None: only if the loss has a kernel, and an exact or bounded argmax, which the search requires. False is the
        textbook algorithm.
    max_idle : a cut may be dropped if it had no weight for this number of iterations.

    Examples
    --------
    >>> from structsvm import Problem
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> OneSlack(backend="highs").solve(problem).converged
    True
    """

    name: ClassVar[str] = "one-slack"

    line_search: bool | None = field(default=None, validator=optional(truth_value))
    max_idle: int = field(default=50, validator=at_least(1))

    def _group_caps(self, problem: AbstractProblem) -> Vector:
        return np.array([problem.total_cap])

    def _translate(self, start: Result, problem: AbstractProblem) -> CutSet | None:
        """Return the mean plane of another solver, a valid cut with its dual value.

        Before that solver has converged, the plane holds the QP's solution far from the optimum;
        two cuts find it sooner.
        """
        if not start.converged and makes_two_cuts(problem) and self._searches(problem):
            return None
        cuts, cap = start.cuts, problem.with_C(start.C).total_cap
        return CutSet((cuts.a @ cuts.G)[None] / cap, (cuts.a @ cuts.L)[None] / cap, _ONE_GROUP, np.array([cap]), 1)

    def _searches(self, problem: AbstractProblem) -> bool:
        if self.line_search and not problem.certified:
            raise InputError(
                f"OneSlack(line_search=True) needs an exact or bounded argmax, but the argmax of {problem.loss.title} "
                "is inexact (exact = False): leave line_search out"
            )
        return problem.has_kernel and problem.certified if self.line_search is None else self.line_search

    def _iterate(self, state: SolverState, working_set: WorkingSet, backend: QPBackend) -> Status:
        searching = self._searches(state.problem)
        best = state.point, state.planes
        places = [best]
        status = state.record(working_set.dual, working_set.size, working_set.active, working_set.resolution)
        if state.goes_on and working_set.size and not status:
            best, places = self._look(state, best, working_set.w, searching)
        for _ in state.iterations(self.max_iter):
            if status:
                return status
            cuts = [state.cut(planes) for _, planes in places]
            G, L = np.array([cut.g for cut in cuts]), np.array([cut.L for cut in cuts])
            with state.clock("solver"):
                working_set.add(G, L, np.zeros(len(cuts), dtype=np.int64))
                working_set.solve(backend, state.qp_tol)
                working_set.prune(self.max_idle)
            best, places = self._look(state, best, working_set.w, searching)
            status = state.record(working_set.dual, working_set.size, working_set.active, working_set.resolution)
        return status or Status.ITERATION_LIMIT

    @staticmethod
    def _look(state: SolverState, best: Evaluated, w: Vector, searching: bool) -> tuple[Evaluated, list[Evaluated]]:
        """Evaluate the QP's solution, or search the line to it; return the best point and the points to cut at."""
        if not searching:
            return best, [state.evaluate(w)]
        target = state.score(w)
        if best[0].moves >= _MOST_MOVES:
            best = state.evaluate(best[0].w)
        lowest, ahead = search(state, best, target)
        both = lowest is not best and makes_two_cuts(state.problem)
        return lowest, [ahead, lowest] if both else [ahead]
