"""Block-coordinate Frank-Wolfe with several planes per example."""

import logging
from typing import ClassVar

import numpy as np
from attrs import field, frozen
from attrs.validators import optional

from structsvm.exceptions import InputError
from structsvm.foundation.compute.threads import VALUES_AN_ARGMAX, using
from structsvm.foundation.settings import at_least, positive
from structsvm.foundation.types import IntVector, Vector
from structsvm.problem import Problem
from structsvm.problem.base import AbstractProblem
from structsvm.problem.checks import require_moderate_norm
from structsvm.problem.codes import DualCodes, suits_codes
from structsvm.problem.planes import DualPlanes
from structsvm.problem.planes.capacity import DEFAULT_MEMORY, bytes_of_planes, fewest, places_within
from structsvm.problem.sweep import sweep_examples
from structsvm.result import Result, Status
from structsvm.solvers.base import Solver, require_examples
from structsvm.solvers.checkpoint import CheckpointLike, CheckpointWriter
from structsvm.solvers.joint_step import improve_jointly, solve_over_planes
from structsvm.solvers.pace import Pace
from structsvm.solvers.state import Callback, SolverState

logger = logging.getLogger("structsvm")

_WORTH_A_CERTIFICATE = 1.5
"""Compute a certificate once the gap seen during a pass is below this multiple of the target."""

_LONGEST_WITHOUT = 10
"""Largest number of passes without a certificate."""

_COVERED = 0.95
"""Fraction of the total gap that the examples of the next pass must cover, once each example's gap is known."""

_SWEEPS_ACCURACY = 0.07
"""Sweeps over the planes end at this fraction of the gap seen during a pass."""

_JOINT_ACCURACY = 0.02
"""Joint steps, which follow if sweeps have not reached their target, end at this fraction of that gap."""

_JOINT_CUTS = 10, 100
"""Smallest and largest limit of the number of cuts in joint steps."""

_JOINT_PASSES = 20.0
"""Largest cost of the cuts of joint steps between these limits, in passes over the data; each cut reads all planes."""

PATIENCE = 60
"""Passes after which Frank-Wolfe is assumed to converge too slowly, because C is large for the features' scale."""

_SWEEPS_THEN = 10
"""Smallest number of rounds over the planes per pass after `PATIENCE`."""

_MOST_PLANES = 2_000
"""Total number of planes up to which their QP is solved directly after `PATIENCE`."""


@frozen(kw_only=True)
class FrankWolfe(Solver):
    """Block-coordinate Frank-Wolfe: one step after each argmax, and many more steps on the stored planes.

    The algorithm is from Lacoste-Julien, Jaggi, Schmidt and Pletscher, "Block-Coordinate Frank-Wolfe Optimization for
    Structural SVMs", ICML 2013. As in Shah, Kolmogorov and Lampert, CVPR 2015, planes are stored; steps move weight
    between two of them. A pass scores an example, finds its argmax and steps while its rows are in the cache. Between
    passes, sweeps over the stored planes take more steps; if C is large and sweeps are slow, 1-slack solves the QP over
    all planes without the data. The gap seen during a pass decides if the solver evaluates all examples for a
    certificate. The next pass then visits only the examples with most of the gap (sampled in Osokin, Alayrac,
    Lukasewitz, Dokania and Lacoste-Julien, "Minding the Gaps for Block Frank-Wolfe Optimization of Structured SVMs",
    ICML 2016).

    For classes, chains, graphs and declared outputs, planes are stored as codes, and an example takes several steps in
    its scores (`structsvm.problem.codes`). Between passes, all multipliers move together, towards the best combination
    of this point and three earlier ones. An iteration is then up to ten passes and a certificate.

    If 60 passes were not enough, the solver logs a warning, moves the planes together at every later pass, and solves
    the QP over all planes exactly if there are at most 2,000.

    Parameters
    ----------
    tol : ε, in units of the loss: stop when ``primal − dual ≤ tol · C``. None: 1e-3, or the default of an estimator.
    max_iter : maximum number of iterations.
    memory : bytes for planes of d numbers. Each of n examples has ``min(6 + 4 d / n, 32)`` if they fit. The minimum is
        ``min(3 + 4 d / n, 32)``, or ``min(3 + 4 d / n, 6)`` for d > 100.
    cache_sweeps : maximum number of sweeps over the planes, example by example, before all planes are moved together.
        0: the first 60 passes have neither sweeps nor joint moves.
    random_state : seed of the order in which examples are visited.

    Examples
    --------
    >>> from structsvm import Problem
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> FrankWolfe(tol=1e-4).solve(problem).gap <= 1e-4 * 0.1
    True
    """

    name: ClassVar[str] = "frank-wolfe"

    tol: float | None = field(default=None, validator=optional(positive))
    max_iter: int = field(default=10_000, validator=at_least(1))
    memory: int = field(default=DEFAULT_MEMORY, validator=at_least(1))
    cache_sweeps: int = field(default=10, validator=at_least(0))
    random_state: int = field(default=0, validator=at_least(0))

    def solve(
        self,
        problem: AbstractProblem,
        start: Result | None = None,
        callback: Callback | None = None,
        checkpoint: CheckpointLike | None = None,
    ) -> Result:
        return self.solve_unless_slow(problem, start, callback, checkpoint, Pace())

    def solve_unless_slow(
        self,
        problem: AbstractProblem,
        start: Result | None,
        callback: Callback | None,
        checkpoint: CheckpointLike | None,
        pace: Pace,
    ) -> Result:
        """Minimize the problem like `solve`; end with ``ITERATION_LIMIT`` once the pace is slow."""
        problem = require_examples("FrankWolfe", problem)
        if problem.box is not None:
            raise InputError(
                "frank-wolfe supports neither bounds on weights nor weights without regularizer: use one-slack, "
                "n-slack or auto"
            )
        with using(problem.n_jobs):
            dual: DualCodes | DualPlanes
            if suits_codes(problem):
                dual, hinges = DualCodes(problem), None
            else:
                dual = DualPlanes(problem.d, problem.cap, self._places(problem))
                hinges = dual.hinges
            writer = CheckpointWriter.of(checkpoint, self, dual.cuts)
            state = SolverState(problem, self.tol, start, callback, hinges, writer)
            start = state.start
            try:
                if isinstance(dual, DualCodes):
                    status = self._begin_with_codes(state, dual) or self._step_in_scores(problem, state, dual, pace)
                else:
                    status = self._begin(problem, state, dual) or self._iterate(problem, state, dual, pace)
            except KeyboardInterrupt:
                status = Status.INTERRUPTED
            lower = dual.refresh()
            # A start from another C may be within tol already, but the weights of the planes are closer to the optimum.
            start_will_do = state.w is state.point.w and (start is None or start.C != problem.C)
            if start_will_do or status not in (Status.CONVERGED, Status.ESTIMATED):
                state.record_last(dual.w.copy(), lower, dual.size, dual.active)
            return state.result(status, self, dual.cuts(), dual=lower)

    def _places(self, problem: Problem) -> int:
        """Return the number of planes to store per example; reject too little memory."""
        n, d = problem.n, problem.d
        places, least = places_within(n, d, self.memory), fewest(n, d)
        if places < least:
            raise InputError(
                f"FrankWolfe(memory={self.memory}) cannot store {least} planes of {d} numbers for each of {n} "
                f"examples: give it {bytes_of_planes(n, d, least)} bytes, or use OneSlack, which stores a few hundred "
                "planes in all"
            )
        return places

    def _begin(self, problem: Problem, state: SolverState, dual: DualPlanes) -> Status | None:
        """Load the planes of an earlier result, or find planes at its weights."""
        start = state.start
        if start is not None and state.same_problem and start.cuts.groups == problem.n:
            dual.load(start.cuts)
        elif start is not None:
            cuts = problem.cuts(state.planes, problem.cap > 0.0)
            dual.visit(cuts.example, cuts.G, cuts.L)
        return state.record(dual.refresh(), dual.size, dual.active)

    def _iterate(self, problem: Problem, state: SolverState, dual: DualPlanes, pace: Pace) -> Status:
        rng = np.random.default_rng(self.random_state)
        everyone = np.flatnonzero(problem.cap)
        order: IntVector = everyone
        since, swept = 0, True
        numbers_a_pass = 2 * problem.stored + VALUES_AN_ARGMAX * problem.sizes[2]
        for k in state.iterations(self.max_iter):
            if k == PATIENCE and not pace.is_limited:
                logger.warning(
                    "frank-wolfe has not converged after %d passes; a gap of %.2g * C is left. C = %.3g may be large "
                    "for the scale of the features: scale them, or try OneSlack or NSlack",
                    PATIENCE,
                    (state.primal - state.dual) / problem.C,
                    problem.C,
                )
            with state.clock("oracle"):
                met = sweep_examples(problem, dual, rng.permutation(order))
            state.count_passes(len(order) / len(everyone))
            state.count_argmaxes(len(order) / len(everyone))
            if not k:
                # Steps on planes leave other threads and memory idle.
                state.begin_fingerprint(problem)
            with state.clock("solver"):
                wanted = max(met, state.gap_wanted)
                most_cuts = _most_cuts(problem, dual)
                swept = self._improve(dual, rng, everyone, wanted, most_cuts, swept=swept, crawls=k >= PATIENCE)
            lower = dual.refresh()
            since += 1
            pace.record(state.passes + dual.reads / numbers_a_pass, met)
            slow = pace.is_slow(state.gap_wanted)
            worth_it = met <= _WORTH_A_CERTIFICATE * state.gap_wanted or slow
            if worth_it or since == _LONGEST_WITHOUT or k == self.max_iter - 1:
                since = 0
                require_moderate_norm(dual.largest, problem.total_cap)
                point, planes = state.evaluate(dual.w.copy())
                held = dual.held()
                shares = np.divide(held, problem.cap, out=np.zeros(problem.n), where=problem.cap > 0.0)
                violation = problem.checked_violation(planes, point, shares)
                order = everyone[_holding((problem.cap * violation - held)[everyone])]
            # Progress is compared with passes that move all planes together.
            resolution = dual.resolution if k >= PATIENCE + state.patience else 0.0
            status = state.record(lower, dual.size, dual.active, resolution)
            if status:
                return status
            if slow:
                break
        return Status.ITERATION_LIMIT

    def _begin_with_codes(self, state: SolverState, dual: DualCodes) -> Status | None:
        """Take over the codes of an earlier result, or store the codes of the planes at its weights."""
        start = state.start
        lower = 0.0
        if start is not None and state.same_problem and start.cuts.codes is not None:
            dual.load(start.cuts.codes)
            lower = dual.refresh()
        elif start is not None:
            dual.insert(state.planes)
        return state.record(lower, dual.size, dual.active)

    def _step_in_scores(self, problem: Problem, state: SolverState, dual: DualCodes, pace: Pace) -> Status:
        """Visit examples until the gaps met may be within the target, then compute a certificate."""
        rng = np.random.default_rng(self.random_state)
        underestimate = 1.0
        pace.record(state.passes, state.primal - state.dual)
        for k in state.iterations(self.max_iter):
            with state.clock("solver"):
                passes, argmaxes = dual.visit(state.gap_wanted / underestimate, rng)
                lower, met = dual.refresh(), float(dual.gaps.sum())
            state.count_passes(passes)
            state.count_argmaxes(argmaxes)
            if not k:
                state.begin_fingerprint(problem)
            point, planes = state.evaluate(dual.w.copy())
            held = dual.held(point.scores)
            shares = np.divide(held, problem.cap, out=np.zeros(problem.n), where=problem.cap > 0.0)
            violation = problem.checked_violation(planes, point, shares)
            np.maximum(problem.cap * violation - held, 0.0, out=dual.gaps)
            ratio = float(dual.gaps.sum()) / met if met > 0.0 else 1.0
            underestimate = max(1.0, 0.5 * (underestimate + ratio))
            status = state.record(lower, dual.size, dual.active)
            if status:
                return status
            pace.record(state.passes, state.primal - state.dual)
            if pace.is_slow(state.gap_wanted):
                break
        return Status.ITERATION_LIMIT

    def _improve(
        self,
        dual: DualPlanes,
        rng: np.random.Generator,
        everyone: IntVector,
        met: float,
        most_cuts: int,
        *,
        swept: bool,
        crawls: bool,
    ) -> bool:
        """Step on the stored planes; return True if sweeps, of which only one follows a failure, were enough."""
        rounds, enough = max(self.cache_sweeps, _SWEEPS_THEN) if crawls else self.cache_sweeps, _SWEEPS_ACCURACY * met
        if not rounds:
            return True
        swept = dual.improve(rng.permutation(everyone), enough, rounds if swept else 1) <= enough
        if swept and not (crawls and dual.gap() > enough):
            return True
        if crawls and dual.size <= _MOST_PLANES:
            solve_over_planes(dual, _JOINT_ACCURACY * met)
        else:
            improve_jointly(dual, _JOINT_ACCURACY * met, most_cuts)
        dual.improve(rng.permutation(everyone), _JOINT_ACCURACY * met, rounds)
        return False


def _most_cuts(problem: Problem, dual: DualPlanes) -> int:
    """Return the largest number of cuts in joint steps; argmaxes in Python cost more than any planes."""
    least, most = _JOINT_CUTS
    if not problem.has_kernel:
        return most
    return int(np.clip(_JOINT_PASSES * problem.stored / max(dual.size * problem.d, 1), least, most))


def _holding(gaps: Vector) -> IntVector:
    """Return the fewest examples that have most of the gap."""
    order = np.argsort(-gaps, kind="stable")
    total = np.cumsum(gaps[order])
    return order[: int(np.searchsorted(total, _COVERED * total[-1])) + 1]
