"""Block-coordinate Frank-Wolfe with several planes an example."""

import logging
from typing import ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.compute.threads import using
from structsvm.exceptions import InputError
from structsvm.planes import Capacity, DualPlanes, RestrictedProblem
from structsvm.planes.capacity import fewest
from structsvm.problem import AbstractProblem, Problem
from structsvm.problem.checks import require_moderate_norm
from structsvm.result import Result, Status
from structsvm.settings import at_least, positive
from structsvm.solvers.base import Solver, require_examples
from structsvm.solvers.checkpoint import CheckpointLike, Keeper
from structsvm.solvers.joint_step import improve_jointly, solve_over_planes
from structsvm.solvers.state import Callback, SolverState
from structsvm.types import IntVector, Vector

logger = logging.getLogger("structsvm")

_WORTH_A_CERTIFICATE = 1.5
"""Multiple of the gap wanted at which what a pass met makes a certificate likely."""

_LONGEST_WITHOUT = 10
"""Passes after which a certificate is computed in any case."""

_COVERED = 0.95
"""Part of the whole gap that the examples of the next pass must hold, once each one's is known."""

_SWEEPS_ACCURACY = 0.07
"""Part of the gap met by a pass at which sweeps over the planes end."""

_JOINT_ACCURACY = 0.02
"""Part of it that is left on the planes where sweeps have not come that far and all planes are moved together."""

_MOST_JOINT_CUTS = 100
"""Cuts after which that ends in any case."""

PATIENCE = 60
"""Passes after which Frank-Wolfe is held to crawl, as where C is very large for the scale of the features."""

_SWEEPS_THEN = 10
"""Rounds over the planes that are taken from then on at least."""

_MOST_PLANES = 2_000
"""Planes in all up to which their QP is solved as it stands from then on."""


@frozen(kw_only=True)
class FrankWolfe(Solver):
    """Block-coordinate Frank-Wolfe, one step after each argmax, and many more on the planes that are kept.

    Lacoste-Julien, Jaggi, Schmidt and Pletscher, "Block-Coordinate Frank-Wolfe Optimization
    for Structural SVMs", ICML 2013; the planes are those of Shah, Kolmogorov and Lampert,
    CVPR 2015, moved in pairs. A pass scores an example, finds its argmax and steps while its
    rows are at hand. Between passes, sweeps over the planes that are kept take more steps, and
    where C is large, for which these crawl, the QP over all planes is solved by 1-slack, without
    the data. What the pass met tells when a certificate is worth a pass of its own;
    the certificate tells which examples hold the gap, and only those are visited next (sampled by their gaps in
    Osokin, Alayrac, Lukasewitz, Dokania and Lacoste-Julien, "Minding the Gaps for Block Frank-Wolfe Optimization of
    Structured SVMs", ICML 2016).

    Where 60 passes were not enough, it says so in the log, moves the planes together at every pass from there, and
    solves the QP over all of them to the end where they are no more than 2,000.

    Where memory for as many planes as are of use is wanting in float64, planes are kept in float32. Bounds
    allow for the rounding; should it take more than a twentieth of ``tol · C``, as where tol is
    very small, planes are kept in float64 from there, however few.

    Parameters
    ----------
    tol : ε, in units of the loss: stop when ``primal − dual ≤ tol · C``.
    max_iter : limit of passes.
    memory : bytes for planes; 6 of each of n examples are kept and ``4 d / n`` more, 32 at most, where they fit, and
        at least 3 and ``4 d / n`` more, 32 at most, or 6 where d is above 100.
    cache_sweeps : most rounds over the planes, example by example, before all are moved together; 0 for neither in
        the first 60 passes.
    seed : of the order in which examples are visited.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.solvers import FrankWolfe
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> FrankWolfe(tol=1e-4).solve(problem).gap <= 1e-4 * 0.1
    True
    """

    name: ClassVar[str] = "frank-wolfe"

    tol: float = field(default=1e-3, validator=positive)
    max_iter: int = field(default=10_000, validator=at_least(1))
    memory: int = field(default=256 * 2**20, validator=at_least(1))
    cache_sweeps: int = field(default=10, validator=at_least(0))
    seed: int = field(default=0, validator=at_least(0))

    def solve(
        self,
        problem: AbstractProblem,
        start: Result | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointLike | None = None,
    ) -> Result:
        """Minimise the problem; see `Solver.solve`."""
        problem = require_examples("FrankWolfe", problem)
        if problem.box is not None:
            raise InputError(
                "frank-wolfe cannot bound weights, nor leave some without regulariser: use one-slack, n-slack or auto"
            )
        with using(problem.n_jobs):
            return self._minimise(problem, start, callback, checkpoint)

    def _minimise(
        self,
        problem: Problem,
        start: Result | None,
        callback: Callback | None,
        checkpoint: CheckpointLike | None,
    ) -> Result:
        capacity = self._require_enough(Capacity.within(problem.n, problem.d, self.memory), problem)
        dual = DualPlanes(problem.d, problem.cap, capacity)
        state = SolverState(problem, self.tol, start, callback, dual.hinges, Keeper.of(checkpoint, self, dual.cuts))
        start = state.start
        try:
            status = self._begin(state, dual, start) or self._iterate(state, dual)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        lower = dual.refresh()
        # the start may be within tol at another C, too; the weights of the planes are nearer
        start_will_do = state.w is state.point.w and (start is None or start.C != problem.C)
        if start_will_do or status not in (Status.CONVERGED, Status.ESTIMATED):
            state.record_last(dual.w.copy(), lower, dual.size, dual.active)
        return state.result(status, self, dual.cuts(), dual=lower)

    def _require_enough(self, capacity: Capacity, problem: Problem) -> Capacity:
        """Refuse a capacity of fewer planes than can be kept."""
        n, d = problem.n, problem.d
        least = fewest(n, d)
        if capacity.places < least:
            coarse = ", in float64, as float32 has too few digits for this tol" if capacity.dtype is np.float64 else ""
            raise InputError(
                f"FrankWolfe(memory={self.memory}) cannot keep {least} planes of {d} numbers for each of {n} "
                f"examples{coarse}: give it {capacity.bytes_for(n, d, least)} bytes, or use OneSlack, which "
                "keeps a few hundred planes in all"
            )
        return capacity

    def _begin(self, state: SolverState, dual: DualPlanes, start: Result | None) -> Status | None:
        """Take over the planes of an earlier result, or those at its weights."""
        problem = require_examples("FrankWolfe", state.problem)
        if start is not None and state.same_problem and start.cuts.groups == problem.n:
            dual.load(start.cuts)
        elif start is not None:
            cuts = problem.cuts(state.planes, problem.cap > 0.0)
            dual.visit(cuts.example, cuts.G, cuts.L)
        return state.record(dual.refresh(), dual.size, dual.active)

    def _iterate(self, state: SolverState, dual: DualPlanes) -> Status:
        problem = require_examples("FrankWolfe", state.problem)
        rng = np.random.default_rng(self.seed)
        everyone = np.flatnonzero(problem.cap)
        order: IntVector = everyone
        since, swept = 0, True
        for k in state.iterations(self.max_iter):
            if k == PATIENCE:
                logger.warning(
                    "frank-wolfe has not converged after %d passes, a gap of %.2g * C is left: C = %.3g may be large "
                    "for the scale of the features. OneSlack or NSlack may need less; so may features that are scaled",
                    PATIENCE,
                    (state.primal - state.dual) / problem.C,
                    problem.C,
                )
            with state.clock("oracle"):
                met = problem.sweep(dual, rng.permutation(order))
            state.count_passes(len(order) / len(everyone))
            if not k:
                state.begin_fingerprint(problem)  # steps on planes leave other threads and memory idle
            with state.clock("solver"):
                wanted = max(met, state.gap_wanted)
                swept = self._improve(dual, rng, everyone, wanted, swept=swept, crawls=k >= PATIENCE)
            lower = dual.refresh()
            if dual.rounds and not state.tolerates_rounding(dual.most_error, float(np.linalg.norm(dual.w))):
                logger.info("planes in float32 have too few digits for tol=%g: float64 from here", self.tol)
                exact = Capacity.exact_within(problem.n, problem.d, self.memory)
                dual.stop_rounding(self._require_enough(exact, problem))
            since += 1
            worth_it = met <= _WORTH_A_CERTIFICATE * state.gap_wanted
            if worth_it or since == _LONGEST_WITHOUT or k == self.max_iter - 1:
                since = 0
                require_moderate_norm(dual.largest, problem.total_cap)
                point, planes = state.evaluate(dual.w.copy())
                held = dual.held()
                shares = np.divide(held, problem.cap, out=np.zeros(problem.n), where=problem.cap > 0.0)
                violation = problem.checked_violation(planes, point, shares)
                order = everyone[_holding((problem.cap * violation - held)[everyone])]
            status = state.record(lower, dual.size, dual.active)
            if status:
                return status
        return Status.ITERATION_LIMIT

    def _improve(
        self,
        dual: DualPlanes,
        rng: np.random.Generator,
        everyone: IntVector,
        met: float,
        *,
        swept: bool,
        crawls: bool,
    ) -> bool:
        """Step on the planes that are kept, and say whether sweeps over them were enough.

        Where they were not after the pass before, there is one sweep before all planes are moved together.
        """
        rounds, enough = max(self.cache_sweeps, _SWEEPS_THEN) if crawls else self.cache_sweeps, _SWEEPS_ACCURACY * met
        if not rounds:
            return True
        swept = dual.improve(rng.permutation(everyone), enough, rounds if swept else 1) <= enough
        if swept and not (crawls and dual.gap() > enough):
            return True
        restricted = RestrictedProblem(dual)
        if crawls and dual.size <= _MOST_PLANES:
            solve_over_planes(restricted, _JOINT_ACCURACY * met)
        else:
            improve_jointly(restricted, _JOINT_ACCURACY * met, _MOST_JOINT_CUTS)
        dual.improve(rng.permutation(everyone), _JOINT_ACCURACY * met, rounds)
        return False


def _holding(gaps: Vector) -> IntVector:
    """Return the fewest examples that hold most of the gap."""
    order = np.argsort(-gaps, kind="stable")
    total = np.cumsum(gaps[order])
    return order[: int(np.searchsorted(total, _COVERED * total[-1])) + 1]
