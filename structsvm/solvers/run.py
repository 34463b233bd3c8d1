"""One run of a solver: its best bounds, clocks and history."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeAlias

import numpy as np
from attrs import evolve, frozen

from structsvm.exceptions import InputError, OracleError
from structsvm.problem import Cut, Planes, Point, Problem, estimate, fingerprint, same
from structsvm.result import CutSet, Result, Status, Step, rounding
from structsvm.settings import require_callback, require_kind
from structsvm.types import Vector

logger = logging.getLogger("structsvm")

_STALLED_AFTER = 20

_ROUNDING = 0.05
"""Part of the gap wanted that the rounding of cuts may leave unproved."""

Callback: TypeAlias = Callable[[Step], bool | None]
"""Is shown every step; returns True to stop."""


@frozen(eq=False)
class _Evaluated:
    """A point with its planes and ``P(w)``, or where the argmax is inexact an estimate of it."""

    point: Point
    planes: Planes
    primal: float


class Named(Protocol):
    """What a run needs of the solver whose run it is."""

    @property
    def name(self) -> str:
        """The name that the solver is registered by."""


class Run:
    """What a solver has reached so far, from the weights that it starts at.

    Parameters
    ----------
    problem : the problem.
    tol : gap to reach, in units of the loss.
    start : result to go on from; None starts at 0.
    callback : is shown every step.
    known_hinges : returns the hinges at weights w by the cuts that the solver keeps, of each example or, shape (1,), of
        their weighted mean. They sharpen the estimate of the primal where the argmax is inexact.

    Attributes
    ----------
    point, planes : those at the start.
    same_problem : whether ``start`` is of the same data and loss, so that its cuts hold here.
    dual : the best lower bound so far.
    passes : passes over the data so far.
    history : the steps so far.

    Raises
    ------
    InputError : when ``start`` has another number of weights.
    """

    def __init__(
        self,
        problem: Problem,
        tol: float,
        start: Result | None,
        callback: Callback | None,
        known_hinges: Callable[[Vector], Vector] | None = None,
    ) -> None:
        require_callback(callback)
        require_kind("start", start, Result | None, "a Result or None")
        self.problem = problem
        self.tol = float(tol)
        self.callback = callback
        self.dual = 0.0
        self.history: list[Step] = []
        self._known_hinges = known_hinges
        self.passes = 0.0
        self._seconds = {"oracle": 0.0, "qp": 0.0}
        self._began = time.perf_counter()
        if start is not None and start.w.shape != (problem.d,):
            raise InputError(f"start has {len(start.w)} weights, but the problem has {problem.d}")
        self._last_evaluated = np.zeros(problem.d) if start is None else start.w
        self._best = self._evaluated(self.score(self._last_evaluated))
        self.point, self.planes = self._best.point, self._best.planes
        self._fingerprint = problem.known_fingerprint
        self.same_problem = start is not None and same(self._own_fingerprint(), start.fingerprint)
        if start is not None and not self.same_problem:
            logger.info("start is of other data, weights or another loss: only its w is used")

    @property
    def primal(self) -> float:
        """The best upper bound so far; an estimate where the argmax is inexact."""
        return self._best.primal

    @property
    def w(self) -> Vector:
        """The weights of that bound."""
        return self._best.point.w

    @property
    def gap_wanted(self) -> float:
        """The gap at which the run has converged, ``tol · C``."""
        return self.tol * self.problem.C

    @property
    def qp_tol(self) -> float:
        """The gap to which a QP is solved, a hundredth of ``tol · C``."""
        return 0.01 * self.gap_wanted

    @contextmanager
    def clock(self, name: str) -> Iterator[None]:
        """Add the time inside to the clock "oracle" or "qp"."""
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
        norm : ``‖w‖``; None: what it is at the optimum, at most, where ``½‖w‖² ≤ P(w) ≤ primal``.
        """
        most = np.sqrt(2.0 * self.primal) if norm is None else norm
        return bool(rounding(most, error) <= _ROUNDING * self.gap_wanted)

    def evaluate(self, w: Vector) -> tuple[Point, Planes]:
        """Score all examples at w, and `evaluate_point`: half a pass."""
        point = self.score(w)
        planes, _ = self.evaluate_point(point)
        self._last_evaluated = w
        return point, planes

    def score(self, w: Vector) -> Point:
        """Return the point at w: half a pass over the data, none for w = 0."""
        if not w.any():
            return self.problem.origin()
        with self.clock("oracle"):
            point = self.problem.at(w)
        self.count_passes(0.5)
        return point

    def evaluate_point(self, point: Point) -> tuple[Planes, float]:
        """Find the planes at a point and ``P(w)``, and keep them where they are the best so far: no pass."""
        found = self._evaluated(point)
        if found.primal < self.primal:
            self._best = found
        return found.planes, found.primal

    def cut(self, planes: Planes) -> Cut:
        """Return the weighted mean of planes: half a pass."""
        with self.clock("oracle"):
            cut = self.problem.cut(planes)
        self.count_passes(0.5)
        return cut

    def record(self, dual: float, cuts: int, active_cuts: int) -> Status | None:
        """Close an iteration; returns a status where the run is over.

        Parameters
        ----------
        dual : a lower bound.
        cuts, active_cuts : cuts that are kept, and those with a positive multiplier.

        Raises
        ------
        OracleError : when the lower bound is above the upper one.
        """
        step = self._step(dual, cuts, active_cuts)
        stop = self.callback is not None and self.callback(step)
        if step.gap <= self.gap_wanted:
            return Status.CONVERGED if self.problem.exact else Status.ESTIMATED
        if stop:
            return Status.STOPPED
        return Status.STALLED if _stalled(self.history, self.problem.exact) else None

    def record_last(self, w: Vector, dual: float, cuts: int, active_cuts: int) -> None:
        """Evaluate and record the weights at which a run ended early, unless these were evaluated last.

        Parameters
        ----------
        w : the weights.
        dual, cuts, active_cuts : as in `record`.
        """
        if np.array_equal(w, self._last_evaluated):
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
                "violated output of some example. Run structsvm.testing.check_loss on the loss to see which."
            )
        step = Step(
            iteration=len(self.history),
            C=self.problem.C,
            passes=self.passes,
            primal=self.primal,
            dual=self.dual,
            cuts=cuts,
            active_cuts=active_cuts,
            oracle_seconds=self._seconds["oracle"],
            qp_seconds=self._seconds["qp"],
            seconds=time.perf_counter() - self._began,
        )
        self.history.append(step)
        logger.debug("%s", step)
        return step

    def _rounding_of_bounds(self) -> float:
        """Return by how much rounding may let the lower bound be above the upper one."""
        of_scores = np.abs(self._best.point.scores).max(initial=0.0) * self.problem.cap.sum()
        return float(1e-9 * (1.0 + abs(self.primal)) + 1e-14 * of_scores)

    def _evaluated(self, point: Point) -> _Evaluated:
        with self.clock("oracle"):
            planes = self.problem.planes(point)
            return _Evaluated(point, planes, self._primal(planes, point))

    def _primal(self, planes: Planes, point: Point) -> float:
        """Return ``P(w)``; where the argmax is inexact, the largest lower bound of it that is known."""
        primal = self.problem.primal(planes, point)
        if self.problem.exact or self._known_hinges is None:
            return primal
        return max(estimate(self.problem, planes, point, self._known_hinges(point.w)), self.dual)

    def _estimate_best_again(self) -> None:
        """Let the cuts found since then sharpen what the best weights were estimated at."""
        if not self.problem.exact:
            best = self._best
            self._best = evolve(best, primal=self._primal(best.planes, best.point))

    def _score_best_again(self) -> None:
        """Score the best weights again where their scores come from moves along lines: half a pass, or none."""
        if self._best.point.moves:
            self._best = self._evaluated(self.score(self.w))
        self._estimate_best_again()

    def _own_fingerprint(self) -> Vector:
        """Return the fingerprint of the problem: where it is not known, the data are read once, as in half a pass."""
        if self._fingerprint is None:
            self.count_passes(0.5)
            with self.clock("oracle"):
                self._fingerprint = fingerprint(self.problem)
        return self._fingerprint

    def result(
        self, status: Status, solver: "Named | str", cuts: CutSet, handovers: int = 0, dual: float = 0.0
    ) -> Result:
        """Return what was reached.

        Parameters
        ----------
        status : why the run is over.
        solver : the solver, or its settings as text.
        cuts : what a restart needs.
        handovers : how often a QP backend was helped out.
        dual : a lower bound that may be better than those recorded.
        """
        self.dual = max(self.dual, dual)
        named: dict[str, Any] = (
            {"solver": solver} if isinstance(solver, str) else {"solver": repr(solver), "solver_name": solver.name}
        )
        try:
            self._score_best_again()
            seen = self._own_fingerprint()
        except KeyboardInterrupt:
            status, seen = Status.INTERRUPTED, np.zeros(0)  # a start from here uses the weights only
        return Result(
            w=self.w,
            primal=self.primal,
            dual=self.dual,
            exact=self.problem.exact,
            C=self.problem.C,
            tol=self.tol,
            status=status,
            **named,
            handovers=handovers,
            history=tuple(self.history),
            cuts=cuts,
            fingerprint=seen,
        )


def _stalled(history: Sequence[Step], exact: bool) -> bool:
    """Say whether the bounds of the last steps stand still: where the primal is an estimate, the lower one alone."""
    if len(history) <= _STALLED_AFTER:
        return False
    before, now = history[-1 - _STALLED_AFTER], history[-1]
    progress = before.gap - now.gap if exact else now.dual - before.dual
    return progress <= 1e-15 * (abs(now.primal) + abs(now.dual))
