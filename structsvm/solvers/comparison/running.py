"""Run a comparison, one combination after the other, compiled before and within a time limit."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from numbers import Real
from pathlib import Path
from typing import ClassVar, TypeAlias

import numpy as np
from attrs import asdict, evolve, frozen

from structsvm.exceptions import InputError, NotInstalledError, StructSVMError, brief
from structsvm.foundation.compute.compile_progress import running_time
from structsvm.foundation.settings import DEFAULT_TOL, as_path, require_callback
from structsvm.foundation.storage.records import Header, Records, RecordType, digest, open_records, versions
from structsvm.problem import Problem, fingerprint
from structsvm.problem.planes import Capacity, DualPlanes
from structsvm.problem.planes.capacity import of_use
from structsvm.registry.built_in import DEFAULT_BACKENDS
from structsvm.result import Result, Status, Step
from structsvm.solvers import Auto, FrankWolfe, OneSlack, Solver
from structsvm.solvers.comparison.combinations import Combination, Task, tasks, with_settings
from structsvm.solvers.comparison.table import UNFINISHED, Comparison, ComparisonRow, row_of
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
            if isinstance(solver, FrankWolfe):
                solver = evolve(solver, memory=_memory(few, Capacity.within(task.problem.n, few.d, solver.memory)))
            result = solver.solve(few, callback=lambda step: step.iteration >= _ITERATIONS)
            if result.status is Status.INTERRUPTED:
                raise KeyboardInterrupt


def _memory(few: Problem, capacity: Capacity) -> int:
    """Return the memory at which planes of a few examples have the same precision as planes of all examples."""
    exact = capacity.dtype is np.float64
    return capacity.bytes_for(few.n, few.d, of_use(few.n, few.d) if exact else capacity.places)


def _at_work(solver: Solver, problem: Problem) -> list[Solver]:
    """Return the solvers that actually run for a given solver."""
    if not isinstance(solver, Auto):
        return [solver]
    first = solver.choose(problem)
    return [first, OneSlack(tol=solver.tol)] if isinstance(first, FrankWolfe) else [first]


def _move_jointly() -> None:
    """Run the joint step of Frank-Wolfe on all planes, which a few examples do not trigger."""
    G = np.random.default_rng(0).standard_normal((_CUTS, _CUTS // 2))
    dual = DualPlanes(G.shape[1], np.full(_EXAMPLES, 100.0), Capacity.within(_EXAMPLES, G.shape[1], 2**20))
    dual.visit(np.arange(_CUTS) % _EXAMPLES, G, np.ones(_CUTS))
    improve_jointly(dual, enough=0.0, most_cuts=3)


def _demanding_qp() -> DualQP:
    """Return a small QP that exercises all code of a backend: low rank, two groups, tight tolerance."""
    G = np.random.default_rng(0).standard_normal((_CUTS, _CUTS // 2))
    return DualQP(G @ G.T, np.ones(_CUTS), np.arange(_CUTS) % 2, np.ones(2), tol=1e-12)


logger = logging.getLogger("structsvm")

_ROWS = RecordType(
    part=ComparisonRow,
    key=lambda row: (row.loss, row.solver, row.backend or "", row.C),
    work="comparison",
    name="row",
    names="rows",
    data="data",
    whole_folder=False,
)


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


def compare(
    problems: Problem | Mapping[str, Problem],
    solvers: str | Solver | Iterable[str | Solver] = ("one-slack", "n-slack", "frank-wolfe"),
    backends: str | QPBackend | Iterable[str | QPBackend] = DEFAULT_BACKENDS,
    Cs: float | Iterable[float] = 1.0,
    *,
    tol: float = DEFAULT_TOL,
    time_limit: float | None = 60.0,
    callback: Callback | None = None,
    keep: str | Path | None = None,
) -> Comparison:
    """Solve problems with every solver, QP backend and C, each from a cold start, and tabulate the results.

    The combinations run one after the other, on the same data. Each first solves a few examples, so that compilation,
    imports and caches do not count. Solvers that use no QPs, such as ``frank-wolfe``, or choose their backend, such as
    ``auto``, run once for each C. If a combination fails, or its package is not installed, its row reports it and the
    comparison continues. Ctrl-C ends the comparison and returns the rows so far.

    Each backend other than the built-in one runs in a process of its own, which receives a copy of the data. So a
    backend that crashes, or does not return within 10 seconds after the time limit, ends its process only.

    Parameters
    ----------
    problems : a problem, or several by name, such as one for each loss; their own C does not matter.
    solvers : names or objects; they may not set ``tol`` or a backend.
    backends : names or objects; "all": every installed backend.
    Cs : weights of the mean hinge.
    tol : target gap, in units of the loss: stop when ``primal − dual ≤ tol · C``.
    time_limit : seconds for each combination, checked after each iteration and before each QP; None: no limit.
    callback : function that is called at the start and after each iteration of each combination, while its clock is
        paused; it returns True to end the comparison. Its argument has the ``number`` of the combination, how many are
        ``planned``, the ``combination`` (``str`` gives its text), and the last ``step`` of the solver or None.
    keep : file for finished rows, from which the same comparison resumes; None: no file.

    Raises
    ------
    UnknownNameError : a name is unknown; the message suggests the nearest one.

    Examples
    --------
    >>> from structsvm import Problem
    >>> rng = np.random.default_rng(0)
    >>> y, qid = np.tile([1.0, 0.0, 0.0], 20), np.repeat(np.arange(20), 3)
    >>> problem = Problem.from_queries(rng.standard_normal((60, 5)), y, qid, loss="map")
    >>> def show(progress):
    ...     if progress.step is None:
    ...         print(f"{progress.number} of {progress.planned}: {progress.combination}")
    >>> table = compare(problem, ["one-slack", "frank-wolfe"], "active-set", Cs=10, callback=show)
    1 of 2: map, one-slack, active-set, C = 10
    2 of 2: map, frank-wolfe, C = 10
    >>> [(row.solver, row.backend, row.status) for row in table]
    [('one-slack', 'active-set', 'converged'), ('frank-wolfe', None, 'converged')]
    """
    if time_limit is not None and not (isinstance(time_limit, Real) and time_limit > 0.0):
        raise InputError(
            f"time_limit must be a positive number of seconds, or None for no limit, got {brief(time_limit)}"
        )
    require_callback(callback)
    # The import of joblib takes long, and isolation imports this module.
    from structsvm.solvers.comparison.isolation import Workers

    planned = tasks(problems, solvers, backends, Cs, tol)
    rows_file = _open_rows(as_path("keep", keep), planned, time_limit) if keep is not None else nullcontext()
    with rows_file as record, Workers() as workers:
        finished = {row.combination: row for row in record.parts} if record else {}
        if record and len(finished) < len(planned):
            record.require_versions(versions())
        rows: list[ComparisonRow] = []
        warm: set[tuple[str, str, str | None]] = set()
        try:
            for number, task in enumerate(planned, start=1):
                if task.combination in finished:
                    rows.append(finished[task.combination])
                    continue
                run = Run(task, time_limit, Progress(number, len(planned), task.combination, None), callback)
                if run.show(None):
                    break
                if isinstance(task.backend, ActiveSet | None):
                    kind = (task.combination.loss, task.combination.solver, task.combination.backend)
                    if kind not in warm:
                        warm_up(task)
                        warm.add(kind)
                    rows.append(run.row())
                else:
                    rows.append(workers.row(run))
                if record and rows[-1].status not in UNFINISHED:
                    record.append(rows[-1])
                if rows[-1].status == "interrupted":
                    raise KeyboardInterrupt
                if run.told_to_stop:
                    break
        except KeyboardInterrupt:
            return Comparison(tuple(rows), len(planned), interrupted=True)
    return Comparison(tuple(rows), len(planned))


def _open_rows(
    path: Path, tasks: Sequence[Task], limit: float | None
) -> AbstractContextManager[Records[ComparisonRow]]:
    """Open the file of finished rows of one comparison, ``limit`` in seconds."""
    of_one = {task.combination.loss: task.problem for task in tasks}
    combinations = [asdict(task.combination) for task in tasks]
    settings = {
        **{name: list(dict.fromkeys(combination[name] for combination in combinations)) for name in combinations[0]},
        "tol": tasks[0].tol,
        "time limit": limit,
    }
    data = digest(np.ascontiguousarray(fingerprint(problem)) for problem in of_one.values())
    return open_records(path, Header(settings, data, versions()), _ROWS)


class Run:
    """The run of one combination."""

    def __init__(self, task: Task, limit: float | None, progress: Progress, callback: Callback | None) -> None:
        self.task = task
        self.limit = limit
        self.progress = progress
        self.callback = callback
        self.told_to_stop = False
        self.fault: Exception | None = None

    def show(self, step: Step | None) -> bool:
        """Report the progress to the callback; return True if the comparison must end."""
        try:
            if self.callback is not None and self.callback(evolve(self.progress, step=step)):
                self.told_to_stop = True
        except Exception as error:
            self.fault = error
            raise
        return self.told_to_stop

    def row(self) -> ComparisonRow:
        """Run the combination and return its row."""
        task = self.task
        watch = Watch(self.limit)

        steps: dict[int, Step] = {}

        def after(step: Step) -> bool:
            # The solver does not know of pauses.
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
            reason = str(error) if isinstance(error, StructSVMError) else f"{type(error).__name__}: {error}"
            return self.without_result("failed", reason)
        seconds = watch.seconds
        result = evolve(result, history=tuple(steps.get(step.iteration, step) for step in result.history))
        status, note = self._ending(result, watch)
        return row_of(
            task.combination,
            result,
            status=status,
            note=note,
            seconds=seconds,
            qps=None if task.backend is None else watch.qps,
            largest_qp=watch.largest,
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

    def cut_short(self, status: str, note: str, steps: Sequence[Step], seconds: float) -> ComparisonRow:
        """Return the row of a run that ended without a result, with the bounds of its last step."""
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
