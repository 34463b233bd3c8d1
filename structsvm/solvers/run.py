"""One run of a solver: its best bounds, clocks and history."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol, TypeAlias

import numpy as np

from structsvm.exceptions import InputError, OracleError
from structsvm.problem import Cut, Planes, Point, Problem, estimate, fingerprint, same
from structsvm.result import CutSet, Result, Status, Step, rounding
from structsvm.types import Vector

logger = logging.getLogger("structsvm")

_STALLED_AFTER = 20

_ROUNDING = 0.05
"""Part of the gap wanted that the rounding of cuts may leave unproved."""

Callback: TypeAlias = Callable[[Step], bool | None]
"""Is shown every step; returns True to stop."""


class Kept(Protocol):
    """The cuts that a solver keeps."""

    def hinges(self, w: Vector) -> Vector:
        """Return a lower bound of the hinge of each group at weights w."""


class Run:
    """What a solver has reached so far, from the weights that it starts at.

    Parameters
    ----------
    problem : the problem.
    tol : gap to reach, in units of the loss.
    start : result to go on from; None starts at 0.
    callback : is shown every step.

    Attributes
    ----------
    point, planes : those at the start.
    same_problem : whether ``start`` is of the same data and loss, so that its cuts hold here.
    kept : the cuts found so far, by which a primal is estimated where the argmax is inexact; the solver sets it.

    Raises
    ------
    InputError : when ``start`` has another number of weights.
    """

    def __init__(self, problem: Problem, tol: float, start: Result | None, callback: Callback | None) -> None:
        self.problem = problem
        self.tol = float(tol)
        self.callback = callback
        self.dual = 0.0
        self.kept: Kept | None = None
        self.history: list[Step] = []
        self.passes = 0.0
        self._best: tuple[Point, Planes, float] | None = None
        self._looked_at = np.zeros(0)
        self._seconds = {"oracle": 0.0, "qp": 0.0}
        self._began = time.perf_counter()
        if start is not None and start.w.shape != (problem.d,):
            raise InputError(f"start has {len(start.w)} weights, but the problem has {problem.d}")
        self.point, self.planes = self.evaluate(np.zeros(problem.d) if start is None else start.w)
        self._fingerprint: Vector | None = None
        self.same_problem = False
        if start is not None:
            self._fingerprint = self._take_fingerprint()
            self.same_problem = same(self._fingerprint, start.fingerprint)
            if not self.same_problem:
                logger.info("start is of other data, weights or another loss: only its w is used")

    @property
    def primal(self) -> float:
        """The best upper bound so far; an estimate where the argmax is inexact."""
        return np.inf if self._best is None else self._best[2]

    @property
    def w(self) -> Vector:
        """The weights of that bound."""
        return self._seen()[0].w

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

    def leaves_room(self, error: float, norm: float | None = None) -> bool:
        """Say whether the rounding of cuts is small beside the gap wanted.

        Parameters
        ----------
        error : sum of multipliers times the errors of cuts, at most.
        norm : ``‖w‖``; None: what it is at the optimum, at most, where ``½‖w‖² ≤ P(w) ≤ primal``.
        """
        most = np.sqrt(2.0 * self.primal) if norm is None else norm
        return bool(rounding(most, error) <= _ROUNDING * self.gap_wanted)

    def evaluate(self, w: Vector) -> tuple[Point, Planes]:
        """Score all examples at w and `see` them: half a pass."""
        point = self.score(w)
        planes, _ = self.see(point)
        self._looked_at = w
        return point, planes

    def score(self, w: Vector) -> Point:
        """Return the point at w: half a pass over the data, none for w = 0."""
        if not w.any():
            return self.problem.origin()
        with self.clock("oracle"):
            point = self.problem.at(w)
        self.passes += 0.5
        return point

    def see(self, point: Point) -> tuple[Planes, float]:
        """Find the planes at a point and ``P(w)``, and keep them where they are the best so far: no pass."""
        planes, primal = self._look(point)
        if primal < self.primal:
            self._best = point, planes, primal
        return planes, primal

    def settle(self) -> None:
        """Score the best weights again where their scores come from moves along lines: half a pass, or none."""
        point, *_ = self._seen()
        if point.moves:
            point = self.score(point.w)
            self._best = point, *self._look(point)
        self._estimate_again()

    def cut(self, planes: Planes) -> Cut:
        """Return the weighted mean of planes: half a pass."""
        with self.clock("oracle"):
            cut = self.problem.cut(planes)
        self.passes += 0.5
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
        self.dual = max(self.dual, dual)
        self._estimate_again()
        if self.primal - self.dual <= self.gap_wanted:
            self.settle()
        if self.dual > self.primal + 1e-9 * (1.0 + abs(self.primal)):
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
        stop = self.callback is not None and self.callback(step)
        if step.gap <= self.gap_wanted:
            return Status.CONVERGED if self.problem.exact else Status.ESTIMATED
        if stop:
            return Status.STOPPED
        return Status.STALLED if self._stalled() else None

    def _look(self, point: Point) -> tuple[Planes, float]:
        with self.clock("oracle"):
            planes = self.problem.planes(point)
            return planes, self._primal(planes, point)

    def _primal(self, planes: Planes, point: Point) -> float:
        """Return ``P(w)``; where the argmax is inexact, the largest lower bound of it that is known."""
        primal = self.problem.primal(planes, point)
        if self.problem.exact or self.kept is None:
            return primal
        return max(estimate(self.problem, planes, point, self.kept.hinges(point.w)), self.dual)

    def _estimate_again(self) -> None:
        """Let the cuts found since then sharpen what the best weights were estimated at."""
        if not self.problem.exact:
            point, planes, _ = self._seen()
            self._best = point, planes, self._primal(planes, point)

    def _seen(self) -> tuple[Point, Planes, float]:
        assert self._best is not None  # the start is evaluated first
        return self._best

    def _take_fingerprint(self) -> Vector:
        if self.problem.seal is not None:
            return self.problem.seal
        self.passes += 0.5
        with self.clock("oracle"):
            return fingerprint(self.problem)

    def last_look(self, w: Vector, dual: float, cuts: int, active_cuts: int) -> None:
        """Look at the weights that a run had come to when it was ended early, where it has not done so.

        Parameters
        ----------
        w : the weights.
        dual, cuts, active_cuts : as in `record`.
        """
        if np.array_equal(w, self._looked_at):
            return
        self.callback = None
        with suppress(KeyboardInterrupt):  # a second Ctrl-C must not lose what there is
            self.evaluate(w)
            self.record(dual, cuts, active_cuts)

    def _stalled(self) -> bool:
        if len(self.history) <= _STALLED_AFTER:
            return False
        before, now = self.history[-1 - _STALLED_AFTER], self.history[-1]
        progress = before.gap - now.gap if self.problem.exact else now.dual - before.dual
        return progress <= 1e-15 * (abs(self.primal) + abs(self.dual))

    def result(self, status: Status, solver: str, cuts: CutSet, handovers: int = 0) -> Result:
        """Return what was reached.

        Parameters
        ----------
        status : why the run is over.
        solver : settings of the solver, as text.
        cuts : what a restart needs.
        handovers : how often a QP backend was helped out.
        """
        try:
            self.settle()
            seal = self._take_fingerprint() if self._fingerprint is None else self._fingerprint
        except KeyboardInterrupt:
            status, seal = Status.INTERRUPTED, np.zeros(0)  # a start from here uses the weights only
        return Result(
            w=self._seen()[0].w,
            primal=self.primal,
            dual=self.dual,
            exact=self.problem.exact,
            C=self.problem.C,
            tol=self.tol,
            status=status,
            solver=solver,
            handovers=handovers,
            history=tuple(self.history),
            cuts=cuts,
            fingerprint=seal,
        )
