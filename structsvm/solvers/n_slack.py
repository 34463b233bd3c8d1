"""n-slack: cuts of single examples, each with its own slack."""

from typing import ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.foundation.settings import at_least
from structsvm.foundation.types import Vector
from structsvm.problem import Problem
from structsvm.problem.base import AbstractProblem
from structsvm.problem.codes import cuts_of
from structsvm.problem.points import Planes, Point
from structsvm.result import CutSet, Result, Status
from structsvm.solvers.base import CuttingPlane, require_examples
from structsvm.solvers.qp import QPBackend
from structsvm.solvers.state import SolverState
from structsvm.solvers.working_set import WorkingSet

_MOST_BYTES = 4 * 2**30
"""Largest memory for the cuts and their Gram matrix."""


@frozen(kw_only=True)
class NSlack(CuttingPlane):
    """The n-slack cutting-plane algorithm: cuts of single examples; by default exactly as published.

    This is Algorithm 1 of Yue, Finley, Radlinski and Joachims (SIGIR 2007), from Tsochantaridis et al. (JMLR 2005). For
    each example, it adds the most violated output to the working set if the violation exceeds ε, and then solves the QP
    again. A separate pass after each round computes the bounds, because the slacks of the round belong to different
    weights. The solver stops when the bounds are close enough; if they are not and a round adds no constraint, it
    halves ε.

    It suits up to a few thousand examples: the QP has at least one variable per example.

    Parameters
    ----------
    backend, tol, max_cuts : see `CuttingPlane`; a group of cuts is an example.
    max_iter : maximum number of rounds. Each takes two passes over the data, or one with ``batch=n``.
    batch : number of examples whose constraints are added between two QPs: 1, as in the paper; n, for one QP per round.
    max_idle : a cut may be dropped if it had no weight in this number of QPs.

    Examples
    --------
    >>> from structsvm import Problem
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
        need = 8 * cuts * (cuts + problem.cut_numbers)
        if need > _MOST_BYTES:
            raise InputError(
                f"NSlack stores up to {cuts} cuts, 4 for each of {problem.n} examples or max_cuts, and all their "
                f"products. This takes {need / 2**30:.0f} GiB, and the limit is {_MOST_BYTES / 2**30:.0f} GiB: use "
                "OneSlack or FrankWolfe"
            )
        return problem.cap

    def _translate(self, start: Result, problem: AbstractProblem) -> CutSet | None:
        """Return the planes of codes; a mean plane cannot be split."""
        codes = start.cuts.codes
        return None if codes is None else cuts_of(require_examples("NSlack", problem), codes)

    def _iterate(self, state: SolverState, working_set: WorkingSet, backend: QPBackend) -> Status:
        problem = require_examples("NSlack", state.problem)
        parts = [range(i, min(i + self.batch, problem.n)) for i in range(0, problem.n, self.batch)]
        blocks = [problem.block(part.start, part.stop) for part in parts]
        # This is ε if the example weights have mean 1.
        accuracy = state.tol * problem.C / problem.total_cap
        widest = accuracy
        status = state.record(working_set.dual, working_set.size, working_set.active, working_set.resolution)
        if status:
            return status
        # Restored cuts have multipliers that no QP has optimized.
        if working_set.size:
            with state.clock("solver"):
                working_set.solve(backend, state.qp_tol)
        elif state.point.w.any():
            self._add(state, working_set, problem, range(problem.n), state.point, state.planes, accuracy, backend)
        point, planes = state.point, state.planes
        for _ in state.iterations(self.max_iter):
            changed = False
            for part, block in zip(parts, blocks, strict=True):
                # With one QP per round, the planes of the last evaluation often serve the next round.
                if len(parts) > 1 or not np.array_equal(point.w, working_set.w):
                    with state.clock("oracle"):
                        point = block.at(working_set.w)
                        planes = block.planes(point)
                    state.count_passes(len(part) / problem.n)
                    state.count_argmaxes(len(part) / problem.n)
                changed |= self._add(state, working_set, block, part, point, planes, accuracy, backend)
            point, planes = state.evaluate(working_set.w)
            self._hinges(working_set, problem, range(problem.n), point, planes)
            status = state.record(working_set.dual, working_set.size, working_set.active, working_set.resolution)
            if status:
                return status
            # The remaining gap comes from the QP and from slacks of up to ε.
            if not changed:
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
        """Return the hinge of each example of a range, by its argmax and by earlier cuts."""
        slack = working_set.slack(part, point.w)
        return block.checked_violation(planes, point, slack), slack
