"""One run of a solver: its best bounds, clocks and history."""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, frozen

from structsvm.exceptions import ClusterError, InputError, OracleError
from structsvm.problem import AbstractProblem, AnyPlanes, AnyPoint, Cut, Problem, fingerprint, same
from structsvm.problem.fingerprint import fingerprint_aside
from structsvm.result import CutSet, Result, Status, Step, rounding
from structsvm.settings import require_callback, require_kind
from structsvm.solvers.checkpoint import Keeper, Named, without_workers
from structsvm.types import Vector

logger = logging.getLogger("structsvm")

_STALLED_AFTER = 20

_PROGRESS = 0.01
"""Part of the gap to be closed within so many steps if rounding alone may hide the gap wanted."""

_SAME = 1e-9
"""Difference between values of the objective that counts as rounding, relative to it."""

_ROUNDING = 0.05
"""Part of the gap wanted that the rounding of cuts may leave unproved."""

Callback: TypeAlias = Callable[[Step], bool | None]
"""Is shown every step; returns True to stop.

Examples
--------
>>> from structsvm import Problem
>>> from structsvm.solvers import OneSlack
>>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
>>> def rough(step):
...     print(f"{step.dual:.3f} to {step.primal:.3f}")
...     return step.gap < 0.05
>>> OneSlack(tol=1e-6).solve(problem, callback=rough).status.name
0.000 to 0.067
0.009 to 0.030
'STOPPED'
"""


@frozen(eq=False)
class _Evaluated:
    """A point with its planes and ``P(w)``, or where the argmax is inexact an estimate of it."""

    point: AnyPoint
    planes: AnyPlanes
    primal: float


class SolverState:
    """What a solver has reached so far: its best weights and bounds, clocks, passes and history.

    A solver makes one for each `Solver.solve`, which evaluates the weights to start at.

    Parameters
    ----------
    problem : the problem.
    tol : gap to reach, in units of the loss.
    start : result to go on from; None starts at 0. A result that is ``UNFINISHED``, as of a checkpoint, is continued:
        its bounds, history and iterations count as those of this run.
    callback : is shown every step; where the run goes on from a checkpoint, its last step first.
    known_hinges : returns the hinges at weights w by the cuts that the solver keeps, of each example or, shape (1,), of
        their weighted mean. They sharpen the estimate of the primal where the argmax is inexact.
    keeper : keeps the run in a checkpoint.
    within_box : whether the solver keeps weights within the bounds of a problem that has some (`Box`), and its lower
        bounds are of that problem.

    Attributes
    ----------
    start : the result to go on from, which may come from the checkpoint.
    point, planes : those at the start.
    goes_on : whether ``start`` is an unfinished result of the same problem, which this run continues.
    same_problem : whether ``start`` is of the same data and loss, so that its cuts hold here.
    dual : the best lower bound so far.
    passes : passes over the data so far.
    history : the steps so far.

    Raises
    ------
    InputError : when ``start`` has another number of weights, no run can go on from the checkpoint, or the problem has
        bounds, which the solver does not keep.
    ModelFileError : when the checkpoint is damaged.
    OracleError : when the argmax finds no loss at w = 0, where any is better than none, and finds one elsewhere.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.solvers import SolverState
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> state = SolverState(problem, tol=1e-3, start=None, callback=None)
    >>> cut = state.cut(state.planes)  # at w = 0
    >>> a = min(problem.total_cap, cut.L / (cut.g @ cut.g))  # its best multiplier
    >>> _ = state.evaluate(a * cut.g)
    >>> status = state.record(a * cut.L - 0.5 * a**2 * (cut.g @ cut.g), cuts=1, active_cuts=1)
    >>> round(float(state.dual), 4), round(state.primal, 4), status  # None: the gap is above tol * C yet
    (0.0089, 0.0322, None)
    """

    def __init__(
        self,
        problem: AbstractProblem,
        tol: float,
        start: Result | None,
        callback: Callback | None,
        known_hinges: Callable[[Vector], Vector] | None = None,
        keeper: Keeper | None = None,
        *,
        within_box: bool = False,
    ) -> None:
        require_callback(callback)
        require_kind("start", start, Result | None, "a Result or None")
        if problem.box is not None and not within_box:
            raise InputError(
                "the weights of this problem have bounds, or no regulariser, and this solver knows nothing of "
                "them: use OneSlack or NSlack, or Auto, which takes one of them"
            )
        if keeper is not None:
            start = keeper.begin(problem, start)
        self.problem = problem
        self.start = start
        self.tol = float(tol)
        self.callback = callback
        self.dual = 0.0
        self.history: list[Step] = []
        self._known_hinges = known_hinges
        self._keeper = keeper
        self.goes_on = self._at_start = False
        self._handovers = self._steps_before = 0
        self.passes = 0.0
        self._seconds = {"oracle": 0.0, "solver": 0.0}
        self._began = time.perf_counter()
        self._traffic = problem.traffic
        self._before = 0, 0
        if start is not None and start.w.shape != (problem.d,):
            raise InputError(f"start has {len(start.w)} weights, but the problem has {problem.d}")
        self._earlier: deque[AnyPlanes] = deque(maxlen=problem.planes_kept)
        self._last_evaluated = problem.nearest(np.zeros(problem.d) if start is None else problem.from_weights(start.w))
        self._best = self._evaluated(self.score(self._last_evaluated))
        self.point, self.planes = self._best.point, self._best.planes
        if self.primal == 0.0 and problem.exact and not self.w.any():
            self._look_for_a_loss()
        self._fingerprint = problem.known_fingerprint
        self._take_fingerprint: Callable[[], Vector] = partial(fingerprint, problem)
        if keeper is not None:
            keeper.require_same(problem, self._own_fingerprint())
        self.same_problem = start is not None and same(self._own_fingerprint(), start.fingerprint)
        if start is None:
            return
        if not self.same_problem:
            logger.info("start is of other data, weights or another loss: only its w is used")
        elif start.status is Status.UNFINISHED and start.C == problem.C and start.history:
            self._go_on(start)

    def _go_on(self, start: Result) -> None:
        """Continue an unfinished run: take over its bounds, its history and its clocks."""
        last = start.history[-1]
        self.history, self._steps_before = list(start.history), len(start.history)
        self.dual, self._handovers = start.dual - self.problem.constant, start.handovers
        known = start.primal - self.problem.constant
        self.goes_on = self._at_start = True
        if not self.problem.exact:
            self._best = evolve(self._best, primal=max(known, self.primal))
        elif abs(known - self.primal) <= self._rounding_of_bounds():
            self._best = evolve(self._best, primal=min(known, self.primal))
        self.passes += last.passes
        self._seconds["oracle"] += last.oracle_seconds
        self._seconds["solver"] += last.solver_seconds
        self._began -= last.seconds
        self._before = last.calls, last.sent

    @property
    def primal(self) -> float:
        """The best upper bound so far, of the problem in its coordinates; an estimate where the argmax is inexact."""
        return self._best.primal

    @property
    def w(self) -> Vector:
        """The weights of that bound, in the coordinates of the problem."""
        w: Vector = self._best.point.w
        return w

    @property
    def gap_wanted(self) -> float:
        """The gap at which the run has converged, ``tol · C``."""
        return self.tol * self.problem.C

    @property
    def qp_tol(self) -> float:
        """The gap to which a QP is solved, a hundredth of ``tol · C``."""
        return 0.01 * self.gap_wanted

    @property
    def _moved(self) -> bool:
        """Whether a step was recorded by this object, beyond those of the run that it continues."""
        return len(self.history) > self._steps_before

    def iterations(self, max_iter: int) -> range:
        """Return the numbers of the iterations that are left, from 0; those of a run that is continued are used up."""
        return range(len(self.history) - 1, max_iter)

    @contextmanager
    def clock(self, name: str) -> Iterator[None]:
        """Add the time inside to the clock "oracle" or "solver"."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[name] += time.perf_counter() - began

    def count_passes(self, passes: float) -> None:
        """Count passes over the data other than those of `score` and `cut`."""
        self.passes += passes

    def tolerates_rounding(self, error: float, norm: float | None = None) -> bool:
        """Say whether the rounding of cuts is small beside the gap wanted.

        Parameters
        ----------
        error : sum of multipliers times the errors of cuts, at most.
        norm : ``‖w‖``; None: what it is at the optimum, at most, where ``½‖w‖² ≤ P(w) ≤ primal``; only where all
            weights have a regulariser.
        """
        most = np.sqrt(2.0 * self.primal) if norm is None else norm
        return bool(rounding(most, error) <= _ROUNDING * self.gap_wanted)

    def evaluate(self, w: Vector) -> tuple[AnyPoint, AnyPlanes]:
        """Score all examples at w, and `evaluate_point`: half a pass."""
        point = self.score(w)
        planes, _ = self.evaluate_point(point)
        self._last_evaluated = w
        return point, planes

    def score(self, w: Vector) -> AnyPoint:
        """Return the point at w: half a pass over the data, none for w = 0."""
        if not w.any():
            return self.problem.origin()
        with self.clock("oracle"):
            point = self.problem.at(w)
        self.count_passes(0.5)
        return point

    def evaluate_point(self, point: AnyPoint) -> tuple[AnyPlanes, float]:
        """Find the planes at a point and ``P(w)``, and keep them where they are the best so far: no pass."""
        found = self._evaluated(point)
        self._keep(found)
        return found.planes, found.primal

    def keep(self, point: AnyPoint, planes: AnyPlanes) -> None:
        """Keep a point that was evaluated elsewhere, with its planes, where it is the best so far."""
        self._earlier.append(planes)
        self._keep(_Evaluated(point, planes, self._primal(planes, point)))

    def _keep(self, found: _Evaluated) -> None:
        if found.primal < self.primal:
            self._best = found

    def cut(self, planes: AnyPlanes) -> Cut:
        """Return the weighted mean of planes: half a pass."""
        with self.clock("oracle"):
            cut = self.problem.cut(planes)
        self.count_passes(0.5)
        return cut

    def record(self, dual: float, cuts: int, active_cuts: int, resolution: float = 0.0) -> Status | None:
        """Close an iteration; returns a status where the run is over.

        The first call closes iteration 0, the start. In a run that is continued, that iteration is known already, and
        the first call records nothing.

        Parameters
        ----------
        dual : a lower bound.
        cuts, active_cuts : cuts that are kept, and those with a positive multiplier.
        resolution : gap that rounding in the solver may leave. Above the gap wanted, slow progress ends the run.

        Raises
        ------
        OracleError : when the lower bound is above the upper one.
        """
        step = self._step(dual, cuts, active_cuts)
        converged = self.primal - self.dual <= self.gap_wanted
        keeper = self._keeper
        if keeper is not None and self._moved and keeper.due():
            keeper.write(self._so_far(Status.UNFINISHED, keeper.solver, keeper.cuts(), keeper.handovers()))
        handed_over = not self._moved and (keeper is None or keeper.known is not self.start)  # was shown before
        stop = self.callback is not None and not handed_over and self.callback(step)
        if converged:
            return Status.CONVERGED if self.problem.exact else Status.ESTIMATED
        if stop:
            return Status.STOPPED
        least = _PROGRESS if resolution > self.gap_wanted else 0.0
        return Status.STALLED if _stalled(self.history, least, self.problem.exact) else None

    def record_last(self, w: Vector, dual: float, cuts: int, active_cuts: int) -> None:
        """Evaluate and record the weights at which a run ended early, unless these were evaluated last.

        Parameters
        ----------
        w : the weights.
        dual, cuts, active_cuts : as in `record`.
        """
        ended_before = self.goes_on and not self._moved
        if ended_before or np.array_equal(w, self._last_evaluated):
            return
        with suppress(KeyboardInterrupt):  # a second Ctrl-C must not lose what there is
            self.evaluate(w)
            self._step(dual, cuts, active_cuts)

    def _step(self, dual: float, cuts: int, active_cuts: int) -> Step:
        self.dual = max(self.dual, dual)
        self._estimate_best_again()
        if self.primal - self.dual <= self.gap_wanted:
            self._score_best_again()
        if self.dual > self.primal + self._rounding_of_bounds():
            raise OracleError(
                f"the lower bound {self.dual:.12g} is above the upper bound {self.primal:.12g}, which no exact "
                f"argmax can cause: {self.problem.loss.title}.loss_augmented_argmax misses the most "
                f"violated output of some example. Run {self.problem.loss.checked_by} on the loss to see which."
            )
        if self._at_start:
            self._at_start = False
            return self.history[-1]
        calls, sent = self._sent()
        step = Step(
            iteration=len(self.history),
            C=self.problem.C,
            passes=self.passes,
            primal=self.primal + self.problem.constant,
            dual=self.dual + self.problem.constant,
            cuts=cuts,
            active_cuts=active_cuts,
            oracle_seconds=self._seconds["oracle"],
            solver_seconds=self._seconds["solver"],
            seconds=time.perf_counter() - self._began,
            calls=calls,
            sent=sent,
        )
        self.history.append(step)
        logger.debug("%s", step)
        return step

    def _sent(self) -> tuple[int, int]:
        """Return calls to workers and bytes so far."""
        now, then = self.problem.traffic, self._traffic
        return self._before[0] + now.calls - then.calls, self._before[1] + now.sent - then.sent

    def _rounding_of_bounds(self) -> float:
        """Return by how much rounding may let the lower bound be above the upper one."""
        of_scores = self.problem.largest_score(self._best.point) * self.problem.total_cap
        return float(1e-9 * (1.0 + abs(self.primal)) + 1e-14 * of_scores)

    def _evaluated(self, point: AnyPoint) -> _Evaluated:
        with self.clock("oracle"):
            planes = self.problem.planes(point)
            self._earlier.append(planes)
            return _Evaluated(point, planes, self._primal(planes, point))

    def _primal(self, planes: AnyPlanes, point: AnyPoint) -> float:
        """Return ``P(w)``; where the argmax is inexact, the largest lower bound of it that is known."""
        primal = self.problem.primal(planes, point)
        if self.problem.exact or self._known_hinges is None:
            return primal
        return max(self.problem.estimate(planes, point, self._known_hinges(point.w)), self.dual)

    def _require_unbeaten(self) -> None:
        """Require that no output found elsewhere beats those behind the upper bound.

        Raises
        ------
        OracleError : when one does.
        """
        if self.problem.exact and self.w.any():
            with self.clock("oracle"):
                self.problem.require_unbeaten(self._best.planes, self._best.point, self._earlier)

    def _look_for_a_loss(self) -> None:
        """Look at some other weights for outputs with a loss, each of which is better at w = 0 than one without."""
        w = np.random.default_rng(0).standard_normal(self.problem.d)
        with self.clock("oracle"):
            elsewhere = [self.problem.planes(self.problem.at(each)) for each in (w, -w)]
            self.problem.require_unbeaten(self._best.planes, self._best.point, elsewhere)

    def _estimate_best_again(self) -> None:
        """Let the cuts found since then sharpen what the best weights were estimated at."""
        if not self.problem.exact:
            best = self._best
            self._best = evolve(best, primal=max(best.primal, self._primal(best.planes, best.point)))

    def _score_best_again(self) -> None:
        """Score the best weights again where their scores come from moves along lines: half a pass, or none."""
        if self._best.point.moves:
            self._best = self._evaluated(self.score(self.w))
        self._estimate_best_again()

    def begin_fingerprint(self, problem: Problem) -> None:
        """Let another thread, where there is one, read the data of the problem for its fingerprint meanwhile."""
        if self._fingerprint is None:
            self._take_fingerprint = fingerprint_aside(problem)

    def _own_fingerprint(self) -> Vector:
        """Return the fingerprint of the problem: where it is not known, the data are read once, as in half a pass."""
        if self._fingerprint is None:
            self.count_passes(0.5)
            with self.clock("oracle"):
                self._fingerprint = self._take_fingerprint()
        return self._fingerprint

    def result(
        self, status: Status, solver: Named | str, cuts: CutSet, handovers: int = 0, dual: float = 0.0
    ) -> Result:
        """Return what was reached.

        Parameters
        ----------
        status : why the run is over.
        solver : the solver, or its settings as text.
        cuts : what a restart needs.
        handovers : how often a QP backend was helped out.
        dual : a lower bound that may be better than those recorded.

        Raises
        ------
        OracleError : when an output found at other weights is better than the one that the argmax found at the best.
        """
        self.dual = max(self.dual, dual)
        try:
            self._score_best_again()
            self._require_unbeaten()
            self._own_fingerprint()
            found = self._so_far(status, solver, cuts, handovers)
            if self._keeper is not None and self._moved:
                self._keeper.write(found)
        except KeyboardInterrupt:
            found = self._so_far(Status.INTERRUPTED, solver, cuts, handovers)
        return found

    def lost(self, error: ClusterError, solver: Named, cuts: CutSet, handovers: int) -> ClusterError:
        """Keep the run that lost its workers in its checkpoint, if it has one, and return an error that names that."""
        if self._keeper is not None and self._moved:
            self._keeper.write(self._so_far(Status.UNFINISHED, solver, cuts, handovers))
        return without_workers(error, self._keeper)

    def _so_far(self, status: Status, solver: Named | str, cuts: CutSet, handovers: int) -> Result:
        named: dict[str, Any] = (
            {"solver": solver} if isinstance(solver, str) else {"solver": repr(solver), "solver_name": solver.name}
        )
        return Result(
            w=self.problem.to_weights(self.w),
            primal=self.primal + self.problem.constant,
            dual=self.dual + self.problem.constant,
            exact=self.problem.exact,
            C=self.problem.C,
            tol=self.tol,
            status=status,
            **named,
            handovers=self._handovers + handovers,
            history=tuple(self.history),
            cuts=cuts,
            fingerprint=np.zeros(0) if self._fingerprint is None else self._fingerprint,
        )


def _stalled(history: Sequence[Step], least: float, exact: bool) -> bool:
    """Return True if the last steps closed at most the part ``least`` of the gap, or moved no bound.

    Where the primal is an estimate, the lower bound alone counts.
    """
    if len(history) <= _STALLED_AFTER:
        return False
    before, now = history[-1 - _STALLED_AFTER], history[-1]
    progress = before.gap - now.gap if exact else now.dual - before.dual
    return progress <= max(1e-15 * (abs(now.primal) + abs(now.dual)), least * before.gap)
