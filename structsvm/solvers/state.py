"""The state of a solver's run: its start, history, callback, checkpoint and result."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias

import numpy as np
from attrs import evolve

from structsvm.exceptions import ClusterError, InputError
from structsvm.foundation.settings import require_callback, require_kind
from structsvm.foundation.types import Vector
from structsvm.problem import Problem, fingerprint
from structsvm.problem.base import AbstractProblem
from structsvm.problem.fingerprint import fingerprint_aside, same
from structsvm.result import CutSet, Result, Status, Step
from structsvm.solvers.bounds import CertifiedBounds
from structsvm.solvers.checkpoint import CheckpointWriter, Named, without_workers

logger = logging.getLogger("structsvm")

_STALLED_AFTER = 20

_PROGRESS = 0.01
"""Fraction of the gap to close within `SolverState.patience` steps if rounding may hide the target gap."""

Callback: TypeAlias = Callable[[Step], bool | None]
"""Function that is called with every step and returns True to stop."""


class SolverState(CertifiedBounds):
    """The state of a run: best weights and bounds, clocks, passes and history.

    Each `Solver.solve` makes one, which evaluates the start weights.

    Parameters
    ----------
    problem : the problem.
    tol : target gap, in units of the loss; None: 1e-3.
    start : result to start from; None: w = 0. A run continues a result with status ``UNFINISHED``, such as a
        checkpoint's: its bounds, history and iterations count.
    callback : called with every step, first with the last step of a continued run.
    known_hinges : function that returns lower bounds of the hinges at weights w, from the solver's cuts: of each
        example, or of their weighted mean, shape (1,). They estimate the primal if the argmax is inexact.
    keeper : stores the run in a checkpoint.
    within_box : True if the solver's weights and lower bounds respect bounds on weights (``problem.box``).

    Attributes
    ----------
    start : the result to start from, possibly from the checkpoint.
    point, planes : the start weights with their scores, and the planes of the argmaxes there.
    goes_on : True if this run continues ``start``.
    same_problem : True if ``start`` has the same data and loss, so that its cuts are valid here.
    dual : the best lower bound so far.
    passes, argmaxes : passes over the data and argmaxes of each example so far.
    history : the steps so far.
    last_t : the step t at which the last line search found a lower P; 1 before the first.
    patience : number of steps without progress that end the run.

    Raises
    ------
    ModelFileError : the checkpoint is damaged.
    OracleError : the argmax at w = 0 has loss 0, although an output with a positive loss was found elsewhere.

    Examples
    --------
    >>> from structsvm import Problem
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> state = SolverState(problem, tol=1e-3, start=None, callback=None)
    >>> cut = state.cut(state.planes)  # at w = 0
    >>> a = min(problem.total_cap, cut.L / (cut.g @ cut.g))  # its best multiplier
    >>> _ = state.evaluate(a * cut.g)
    >>> status = state.record(a * cut.L - 0.5 * a**2 * (cut.g @ cut.g), cuts=1, active_cuts=1)
    >>> round(float(state.dual), 4), round(state.primal, 4), status  # None: the gap is still above tol * C
    (0.0089, 0.0322, None)
    """

    def __init__(
        self,
        problem: AbstractProblem,
        tol: float | None,
        start: Result | None,
        callback: Callback | None,
        known_hinges: Callable[[Vector], Vector] | None = None,
        keeper: CheckpointWriter | None = None,
        *,
        within_box: bool = False,
    ) -> None:
        require_callback(callback)
        require_kind("start", start, Result | None, "a Result or None")
        if problem.box is not None and not within_box:
            raise InputError(
                "some weights of this problem have bounds or no regularizer, which this solver does not support: use "
                "OneSlack, NSlack or Auto"
            )
        if keeper is not None:
            start = keeper.begin(problem, start)
        if start is not None and start.w.shape != (problem.d,):
            raise InputError(f"start has {len(start.w)} weights, but the problem has {problem.d}")
        super().__init__(problem, tol, known_hinges, start)
        self.start = start
        self.callback = callback
        self.history: list[Step] = []
        self.goes_on = self._at_start = False
        self.last_t = 1.0
        self.patience = _STALLED_AFTER
        self._keeper = keeper
        self._handovers = self._steps_before = 0
        self._fingerprint = problem.known_fingerprint
        self._take_fingerprint: Callable[[], Vector] = partial(fingerprint, problem)
        if keeper is not None:
            keeper.require_same(problem, self._own_fingerprint())
        self.same_problem = start is not None and same(self._own_fingerprint(), start.fingerprint)
        if start is None:
            return
        if not self.same_problem:
            logger.info("start belongs to other data, example weights or another loss: only its w is used")
        elif start.C == problem.C:
            self._take_bounds(start)
            if start.status is Status.UNFINISHED and start.history:
                self._go_on(start)

    def _go_on(self, start: Result) -> None:
        """Continue an unfinished run with its bounds, history and clocks."""
        last = start.history[-1]
        self.history, self._steps_before = list(start.history), len(start.history)
        self.dual, self._handovers = start.dual - self.problem.constant, start.handovers
        primal = start.primal - self.problem.constant
        self.goes_on = self._at_start = True
        if not self.problem.certified:
            self._best = evolve(self._best, primal=max(primal, self.primal))
        elif abs(primal - self.primal) <= self._rounding_of_bounds():
            self._best = evolve(self._best, primal=min(primal, self.primal))
        self._add_effort(last)

    @property
    def _moved(self) -> bool:
        """True if this run, and not only the run that it continues, has recorded a step."""
        return len(self.history) > self._steps_before

    def iterations(self, max_iter: int) -> range:
        """Return the remaining iteration numbers, from 0; iterations of a continued run count."""
        return range(len(self.history) - 1, max_iter)

    def record(self, dual: float, cuts: int, active_cuts: int, resolution: float = 0.0) -> Status | None:
        """Record an iteration; return a status if the run is over, else None. The first call records the start.

        Parameters
        ----------
        dual : a lower bound.
        cuts, active_cuts : number of cuts, and of cuts with a positive multiplier.
        resolution : gap that rounding in the solver may leave. If it exceeds the target, slow progress ends the run.

        Raises
        ------
        OracleError : the lower bound exceeds the upper one.
        """
        step = self._step(dual, cuts, active_cuts)
        gap = self.primal - self.dual
        converged, only_inference = gap <= self.gap_wanted, gap - self.inference_gap <= self.gap_wanted
        keeper = self._keeper
        if keeper is not None and self._moved and keeper.due():
            keeper.write(self._so_far(Status.UNFINISHED, keeper.solver, keeper.cuts(), keeper.handovers()))
        # The callback has received the last step of a run that another solver passed on.
        handed_over = not self._moved and (keeper is None or keeper.known is not self.start)
        stop = self.callback is not None and not handed_over and self.callback(step)
        if converged:
            return Status.CONVERGED if self.problem.certified else Status.ESTIMATED
        if only_inference:
            return Status.INFERENCE_LIMIT
        if stop:
            return Status.STOPPED
        least = _PROGRESS if resolution > self.gap_wanted else 0.0
        steps = self.history[max(self._steps_before - 1, 0) :]
        return Status.STALLED if _stalled(steps, self.patience, least, self.problem.exact) else None

    def record_last(self, w: Vector, dual: float, cuts: int, active_cuts: int) -> None:
        """Evaluate and record the weights at which a run ended early, unless they were evaluated last; see `record`."""
        ended_before = self.goes_on and not self._moved
        if ended_before or np.array_equal(w, self._last_evaluated):
            return
        # A second Ctrl-C must not lose the result.
        with suppress(KeyboardInterrupt):
            self.evaluate(w)
            self._step(dual, cuts, active_cuts)

    def _step(self, dual: float, cuts: int, active_cuts: int) -> Step:
        self._raise_dual(dual)
        self._estimate_best_again()
        if self.primal - self.dual <= self.gap_wanted:
            self._score_best_again()
        self._require_order()
        if self._at_start:
            self._at_start = False
            return self.history[-1]
        step = Step(
            iteration=len(self.history),
            C=self.problem.C,
            primal=self.primal + self.problem.constant,
            dual=self.dual + self.problem.constant,
            cuts=cuts,
            active_cuts=active_cuts,
            **self._effort(),
        )
        self.history.append(step)
        logger.debug("%s", step)
        return step

    def begin_fingerprint(self, problem: Problem) -> None:
        """Start to compute the fingerprint of the data, on another thread if possible."""
        if self._fingerprint is None:
            self._take_fingerprint = fingerprint_aside(problem)

    def _own_fingerprint(self) -> Vector:
        """Return the problem's fingerprint; if it is unknown, read the data once, which counts as half a pass."""
        if self._fingerprint is None:
            self.count_passes(0.5)
            self.count_argmaxes(1)
            with self.clock("oracle"):
                self._fingerprint = self._take_fingerprint()
        return self._fingerprint

    def result(self, status: Status, solver: Named, cuts: CutSet, handovers: int = 0, dual: float = 0.0) -> Result:
        """Return the result.

        Parameters
        ----------
        status : reason for the end of the run.
        solver : the solver.
        cuts : the cuts needed to restart.
        handovers : number of QPs handed to the built-in backend.
        dual : a lower bound that may be better than the recorded ones.

        Raises
        ------
        OracleError : an output found at other weights beats the argmax at the best weights.
        """
        self._raise_dual(dual)
        try:
            self._score_best_again()
            self._require_unbeaten()
            self._own_fingerprint()
            result = self._so_far(status, solver, cuts, handovers)
            if self._keeper is not None and self._moved:
                self._keeper.write(result)
        except KeyboardInterrupt:
            result = self._so_far(Status.INTERRUPTED, solver, cuts, handovers)
        return result

    def lost(self, error: ClusterError, solver: Named, cuts: CutSet, handovers: int) -> ClusterError:
        """Write the checkpoint of a run that lost its workers, if it has one, and return an error that names it."""
        if self._keeper is not None and self._moved:
            self._keeper.write(self._so_far(Status.UNFINISHED, solver, cuts, handovers))
        return without_workers(error, self._keeper)

    def _so_far(self, status: Status, solver: Named, cuts: CutSet, handovers: int) -> Result:
        primal, dual = self.primal + self.problem.constant, self.dual + self.problem.constant
        return Result(
            w=self.problem.to_weights(self.w),
            primal=primal,
            dual=dual,
            certified=self.problem.certified,
            # Rounding may lift it above the gap.
            inference_gap=max(0.0, min(self.inference_gap, primal - dual)),
            C=self.problem.C,
            tol=self.tol,
            status=status,
            solver=repr(solver),
            solver_name=solver.name,
            handovers=self._handovers + handovers,
            history=tuple(self.history),
            cuts=cuts,
            fingerprint=np.zeros(0) if self._fingerprint is None else self._fingerprint,
        )


def _stalled(history: Sequence[Step], patience: int, least: float, exact: bool) -> bool:
    """Return True if the last steps closed at most the fraction ``least`` of the gap, or moved no exact bound."""
    if len(history) <= patience:
        return False
    before, now = history[-1 - patience], history[-1]
    progress = before.gap - now.gap if exact else now.dual - before.dual
    return progress <= max(1e-15 * (abs(now.primal) + abs(now.dual)), least * before.gap)
