"""Run one combination of a comparison, compiled before and within a time limit."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from traceback import extract_tb
from typing import ClassVar, TypeAlias

import numpy as np
from attrs import asdict, evolve, frozen

from structsvm.exceptions import NotInstalledError, StructSVMError
from structsvm.foundation.compute.compile_progress import running_time
from structsvm.problem import Problem
from structsvm.problem.planes import DualPlanes
from structsvm.result import Result, Status, Step
from structsvm.solvers import Auto, FrankWolfe, Solver
from structsvm.solvers.comparison.combinations import Combination, Task, with_settings
from structsvm.solvers.comparison.table import ComparisonRow
from structsvm.solvers.joint_step import improve_jointly
from structsvm.solvers.qp import ActiveSet, DualQP, QPBackend, QPSolution


class OutOfTime(KeyboardInterrupt):
    """The time limit has passed. Solvers treat it as Ctrl-C and return their best result."""


class Watch:
    """The clock of one run of a solver, which can pause, and counts of its QPs."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.ended = False
        self.qps = 0
        self.largest = 0
        self.paused = 0.0
        self._began = running_time()

    @property
    def seconds(self) -> float:
        """Time since the start, without pauses."""
        return running_time() - self._began - self.paused

    def over(self) -> bool:
        """Return True if the run must end now."""
        if self.limit is not None and self.seconds >= self.limit:
            self.ended = True
        return self.ended

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Pause the clock."""
        began = running_time()
        try:
            yield
        finally:
            self.paused += running_time() - began


@frozen(eq=False)
class Watched(QPBackend):
    """A backend that raises `OutOfTime` before a QP if the time is up; an n-slack iteration solves hundreds of QPs."""

    name: ClassVar[str] = "watched"
    backend: QPBackend
    watch: Watch

    def solve(self, qp: DualQP, start: QPSolution | None = None) -> QPSolution:
        """Solve; see `QPBackend.solve`."""
        self.watch.qps += 1
        self.watch.largest = max(self.watch.largest, qp.size)
        if self.watch.over():
            raise OutOfTime
        return self.backend.solve(qp, start)


_EXAMPLES = 2

_ITERATIONS = 12
"""Largest number of iterations; Frank-Wolfe may take ten before it computes a certificate."""

_CUTS = 20


def warm_up(task: Task) -> None:
    """Solve a QP and a few examples, so that the timed run does not compile, import or fill caches; ignore errors."""
    with suppress(Exception):
        (task.backend or ActiveSet()).solve(_demanding_qp())
    for solver in _at_work(task.solver, task.problem):
        with suppress(Exception):
            if isinstance(solver, FrankWolfe):
                _move_jointly()
            weighted = np.flatnonzero(task.problem.cap)[:_EXAMPLES]
            few = task.problem.block(int(weighted[0]), int(weighted[-1]) + 1)
            result = solver.solve(few, callback=lambda step: step.iteration >= _ITERATIONS)
            if result.status is Status.INTERRUPTED:
                raise KeyboardInterrupt


def _at_work(solver: Solver, problem: Problem) -> list[Solver]:
    """Return the solvers that actually run for a given solver."""
    if not isinstance(solver, Auto):
        return [solver]
    first = solver.choose(problem)
    rest = solver.rest(first, problem)
    return [first] if rest is None else [first, rest]


def _move_jointly() -> None:
    """Run the joint step of Frank-Wolfe on all planes, which a few examples do not trigger."""
    G = np.random.default_rng(0).standard_normal((_CUTS, _CUTS // 2))
    dual = DualPlanes(G.shape[1], np.full(_EXAMPLES, 100.0), _CUTS)
    dual.visit(np.arange(_CUTS) % _EXAMPLES, G, np.ones(_CUTS))
    improve_jointly(dual, enough=0.0, most_cuts=3)


def _demanding_qp() -> DualQP:
    """Return a small QP that exercises all code of a backend: low rank, two groups, tight tolerance."""
    G = np.random.default_rng(0).standard_normal((_CUTS, _CUTS // 2))
    return DualQP(G @ G.T, np.ones(_CUTS), np.arange(_CUTS) % 2, np.ones(2), tol=1e-12)


logger = logging.getLogger("structsvm")


@frozen
class Progress:
    """Progress of a comparison: combination ``number`` of ``planned``, and the last step of its solver or None."""

    number: int
    planned: int
    combination: Combination
    step: Step | None

    def __str__(self) -> str:
        text = f"{self.number} of {self.planned}: {self.combination}"
        step = self.step
        return text if step is None else f"{text}: iteration {step.iteration}, gap {step.gap / step.C:.2g} * C"


Callback: TypeAlias = Callable[[Progress], bool | None]
"""Function that is called with the progress and returns True to end the comparison."""


class CombinationRun:
    """The run of one combination."""

    def __init__(self, task: Task, limit: float | None, progress: Progress, callback: Callback | None) -> None:
        self.task = task
        self.limit = limit
        self.progress = progress
        self.callback = callback
        self.stopped = False
        self.fault: Exception | None = None

    def show(self, step: Step | None) -> bool:
        """Report the progress to the callback; return True if the comparison must end."""
        try:
            if self.callback is not None and self.callback(evolve(self.progress, step=step)):
                self.stopped = True
        except Exception as error:
            self.fault = error
            raise
        return self.stopped

    def row(self) -> ComparisonRow:
        """Run the combination and return its row."""
        task = self.task
        watch = Watch(self.limit)

        steps: dict[int, Step] = {}

        def after(step: Step) -> bool:
            # The clock of the solver does not pause.
            step = steps[step.iteration] = evolve(step, seconds=step.seconds - watch.paused)
            with watch.pause():
                stop = self.show(step)
            return watch.over() or stop

        solver = task.solver
        if task.backend is not None:
            solver = with_settings(solver, backend=Watched(task.backend, watch))
        try:
            result = solver.solve(task.problem, callback=after)
        except OutOfTime:
            return self.without_result("time limit", f"{self.late()} before the first result")
        except NotInstalledError as error:
            return self.without_result("not installed", str(error))
        except Exception as error:
            # The callback raised the error, not the solver.
            if error is self.fault:
                raise
            logger.info("%s failed", task.combination, exc_info=True)
            if isinstance(error, StructSVMError):
                return self.without_result("failed", str(error))
            place = extract_tb(error.__traceback__)[-1]
            reason = f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
            return self.without_result("failed", reason)
        seconds = watch.seconds
        result = evolve(result, history=tuple(steps.get(step.iteration, step) for step in result.history))
        status, note = self._ending(result, watch)
        cuts = len(result.cuts.codes or result.cuts)
        return evolve(
            self.from_steps(status, note, result.history, seconds),
            gap=max(result.gap, 0.0) / result.C,
            primal=result.primal,
            dual=result.dual,
            cuts=cuts,
            peak_cuts=max(watch.largest, *(step.cuts for step in result.history), cuts),
            qps=None if task.backend is None else watch.qps,
            handovers=None if task.backend is None else result.handovers,
        )

    def _ending(self, result: Result, watch: Watch) -> tuple[str, str]:
        """Return the status and the note of a result."""
        # A final check may find convergence after the time limit.
        if result.status is Status.CONVERGED or (watch.ended and result.converged):
            return "converged", ""
        if watch.ended:
            return "time limit", f"{self.late()}: the row has the bounds reached by then"
        return result.status.name.lower().replace("_", " "), result.status.value

    def late(self) -> str:
        """Return the note of a run that reached the time limit."""
        return f"the time limit of {self.limit:g} s has passed"

    def without_result(self, status: str, note: str) -> ComparisonRow:
        """Return a row without figures."""
        return ComparisonRow(**asdict(self.task.combination), tol=self.task.tol, status=status, note=note)

    def from_steps(self, status: str, note: str, steps: Sequence[Step], seconds: float) -> ComparisonRow:
        """Return the row of a run after some steps, with the bounds of the last one; ``seconds`` is the total time."""
        row = self.without_result(status, note)
        if not steps:
            return row
        last = steps[-1]
        return evolve(
            row,
            gap=last.gap / last.C,
            primal=last.primal,
            dual=last.dual,
            iterations=last.iteration,
            passes=last.passes,
            cuts=last.cuts,
            peak_cuts=max(step.cuts for step in steps),
            oracle_seconds=last.oracle_seconds,
            solver_seconds=last.solver_seconds,
            seconds=seconds,
            compile_seconds=last.compile_seconds,
            history=tuple(steps),
        )
