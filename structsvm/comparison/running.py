"""Running a comparison, one combination after the other."""

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from numbers import Real
from pathlib import Path
from typing import TypeAlias

from attrs import asdict, evolve, frozen

from structsvm.comparison.combinations import Combination, Task, tasks, with_settings
from structsvm.comparison.limit import OutOfTime, Watch, Watched
from structsvm.comparison.records import combination_of, final, open_rows
from structsvm.comparison.table import Comparison, Row, row_of
from structsvm.comparison.warming import warm_up
from structsvm.exceptions import InputError, NotInstalledError, StructSVMError
from structsvm.problem import Problem
from structsvm.qp import QPBackend
from structsvm.result import Result, Status, Step
from structsvm.settings import require_callback
from structsvm.solvers import Solver
from structsvm.storage.records import versions

logger = logging.getLogger("structsvm")


@frozen
class Progress:
    """How far a comparison is.

    Parameters
    ----------
    number, planned : number of the combination, from 1, and how many there are.
    combination : its names.
    step : the last step of its solver; None before it starts.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.comparison import compare
    >>> def show(progress):
    ...     if progress.step is None:
    ...         print(f"{progress.number} of {progress.planned}: {progress.combination}")
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map")
    >>> comparison = compare(problem, "frank-wolfe", Cs=[1, 10], callback=show)
    1 of 2: map, frank-wolfe, C = 1
    2 of 2: map, frank-wolfe, C = 10
    """

    number: int
    planned: int
    combination: Combination
    step: Step | None


Callback: TypeAlias = Callable[[Progress], bool | None]
"""Is shown the progress; returns True to end the comparison."""


def compare(
    problems: Problem | Mapping[str, Problem],
    solvers: str | Solver | Iterable[str | Solver] = ("one-slack", "n-slack", "frank-wolfe"),
    backends: str | QPBackend | Iterable[str | QPBackend] = ("active-set", "cvxopt", "osqp", "highs"),
    Cs: float | Iterable[float] = 1.0,
    *,
    tol: float = 1e-3,
    time_limit: float | None = 60.0,
    callback: Callback | None = None,
    keep: str | Path | None = None,
) -> Comparison:
    """Solve problems with every solver, QP backend and C, each from a cold start, and tabulate what each took.

    The combinations run one after the other in this process, on the same data. Each first solves a few examples,
    so that what is compiled, imported or cached at first use does not count. A solver without QPs, such as
    ``frank-wolfe``, runs once for each C, and so does ``auto``, which chooses for itself. A combination that
    fails, or whose package is not installed, says so in its row, and the others go on. Ctrl-C ends the
    comparison, which then holds the rows so far.

    The time limit is looked at after each iteration and before each QP, so that a combination may be late by one
    of these; its row has the bounds reached by then.

    Parameters
    ----------
    problems : a problem, or several by name, such as one for each loss; their own C does not matter.
    solvers : names or objects; ``tol`` and the backend of an object are replaced, and a name may not have them.
    backends : names or objects.
    Cs : weights of the mean hinge.
    tol : gap to reach, in units of the loss: stop when ``primal − dual ≤ tol · C``.
    time_limit : seconds for each combination; None: no limit.
    callback : is shown the `Progress` at the start and after each iteration of each combination, while
        its clock is stopped; returns True to end the comparison.
    keep : file that finished rows are kept in: the same comparison, ended in any way, goes on from there. None: they
        are not kept.

    Raises
    ------
    InputError : when a list is empty or names something twice, a number is not positive, the name of a
        solver has ``tol`` or a backend in it, or ``keep`` holds the rows of another comparison.
    UnknownNameError : when a name is not known; it tells the nearest one.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Problem
    >>> from structsvm.comparison import compare
    >>> rng = np.random.default_rng(0)
    >>> y, qid = np.tile([1.0, 0.0, 0.0], 20), np.repeat(np.arange(20), 3)
    >>> problem = Problem.from_queries(rng.standard_normal((60, 5)), y, qid, loss="map")
    >>> table = compare(problem, ["one-slack", "frank-wolfe"], ["active-set", "highs"], Cs=10)
    >>> [(row.solver, row.backend, row.status) for row in table]
    [('one-slack', 'active-set', 'converged'), ('one-slack', 'highs', 'converged'), ('frank-wolfe', None, 'converged')]
    """
    if time_limit is not None and not (isinstance(time_limit, Real) and time_limit > 0.0):
        raise InputError(f"time_limit must be a positive number of seconds, or None for no limit, got {time_limit!r}")
    require_callback(callback)
    planned = tasks(problems, solvers, backends, Cs, tol)
    with open_rows(Path(keep), planned, time_limit) if keep is not None else nullcontext() as kept:
        known = {combination_of(row): row for row in kept.parts} if kept else {}
        if kept and len(known) < len(planned):
            kept.require_versions(versions())
        rows: list[Row] = []
        warm: set[tuple[str, str, str | None]] = set()
        try:
            for number, task in enumerate(planned, start=1):
                if task.combination in known:
                    rows.append(known[task.combination])
                    continue
                run = _Run(task, time_limit, Progress(number, len(planned), task.combination, None), callback)
                if run.show(None):
                    break
                kind = (task.combination.loss, task.combination.solver, task.combination.backend)
                if kind not in warm:
                    warm_up(task)
                    warm.add(kind)
                rows.append(run.row())
                if kept and final(rows[-1]):
                    kept.append(rows[-1])
                if rows[-1].status == "interrupted":
                    raise KeyboardInterrupt
                if run.told_to_stop:
                    break
        except KeyboardInterrupt:
            return Comparison(tuple(rows), len(planned), interrupted=True)
    return Comparison(tuple(rows), len(planned))


class _Run:
    """The run of one combination."""

    def __init__(self, task: Task, limit: float | None, progress: Progress, callback: Callback | None) -> None:
        self.task = task
        self.limit = limit
        self.progress = progress
        self.callback = callback
        self.told_to_stop = False
        self.fault: Exception | None = None

    def show(self, step: Step | None) -> bool:
        """Show the progress; say whether the comparison is to end."""
        try:
            if self.callback is not None and self.callback(evolve(self.progress, step=step)):
                self.told_to_stop = True
        except Exception as error:
            self.fault = error
            raise
        return self.told_to_stop

    def row(self) -> Row:
        """Solve, and return what came of it."""
        task = self.task
        watch = Watch(self.limit)

        def after(step: Step) -> bool:
            with watch.pause():
                stop = self.show(step)
            return watch.over() or stop

        solver = task.solver
        if task.backend is not None:
            solver = with_settings(solver, backend=Watched(task.backend, watch))
        try:
            result = solver.solve(task.problem, callback=after)
        except OutOfTime:
            return self._without_result("time limit", f"{self._late()}, before there was a result")
        except NotInstalledError as error:
            return self._without_result("not installed", str(error))
        except Exception as error:
            if error is self.fault:  # the caller's own, not of what is compared
                raise
            logger.info("%s failed", task.combination, exc_info=True)
            reason = str(error) if isinstance(error, StructSVMError) else f"{type(error).__name__}: {error}"
            return self._without_result("failed", reason)
        seconds = watch.seconds
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
        if result.status is Status.CONVERGED or (watch.ended and result.converged):  # as a last look may find
            return "converged", ""
        if watch.ended:
            return "time limit", f"{self._late()}: these are the bounds reached by then"
        return result.status.name.lower().replace("_", " "), result.status.value

    def _late(self) -> str:
        return f"the time limit of {self.limit:g} s has passed"

    def _without_result(self, status: str, note: str) -> Row:
        return Row(**asdict(self.task.combination), tol=self.task.tol, status=status, note=note)
