"""Compare solvers and backends: plan, run or read, and tabulate all combinations."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from numbers import Real
from pathlib import Path

import numpy as np
from attrs import asdict

from structsvm.exceptions import InputError, brief
from structsvm.foundation.settings import DEFAULT_TOL, as_path, require_callback
from structsvm.foundation.storage.records import Header, Records, RecordType, digest, open_records, versions
from structsvm.problem import Problem, fingerprint
from structsvm.registry.built_in import DEFAULT_BACKENDS
from structsvm.solvers import Solver
from structsvm.solvers.comparison.combinations import Task, tasks
from structsvm.solvers.comparison.isolation import BackendProcesses
from structsvm.solvers.comparison.running import Callback, CombinationRun, Progress, warm_up
from structsvm.solvers.comparison.table import UNFINISHED, Comparison, ComparisonRow
from structsvm.solvers.qp import ActiveSet, QPBackend

_ROWS = RecordType(
    part=ComparisonRow,
    key=lambda row: (row.loss, row.solver, row.backend or "", row.C),
    work="comparison",
    name="row",
    names="rows",
    data="data",
    whole_folder=False,
)


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

    The combinations run one after the other, on the same data. Each first solves a few examples, untimed, so that
    compilation, imports and caches do not count. Solvers that use no QPs, such as ``frank-wolfe``, or choose their
    backend, such as ``auto``, run once for each C. If a combination fails, or its package is not installed, its row
    reports it and the comparison continues. Ctrl-C ends the comparison and returns the rows so far.

    If any backend is not the built-in one, each backend and each solver without QPs runs in a separate process with a
    copy of the data. A backend that crashes, or does not return within 10 seconds after the time limit, then ends only
    its own process, and all times are comparable.

    Parameters
    ----------
    problems : a problem, or a dictionary of problems by name, such as one for each loss; their C is ignored.
    solvers : names or objects; they may not set ``tol`` or a backend.
    backends : names or objects; the name "all" stands for every installed backend.
    Cs : weights of the mean hinge.
    tol : target gap, in units of the loss: stop when ``primal − dual ≤ tol · C``.
    time_limit : seconds for each combination, checked after each iteration and before each QP; None: no limit.
    callback : function that is called at the start and after each iteration of each combination, while its clock is
        paused; it returns True to end the comparison. Its argument has the ``combination`` (``str`` gives its text),
        its ``number``, ``planned`` (how many there are) and ``step`` (the solver's last step, or None).
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
    planned = tasks(problems, solvers, backends, Cs, tol)
    rows_file = _open_rows(as_path("keep", keep), planned, time_limit) if keep is not None else nullcontext()
    with rows_file as record, BackendProcesses() as workers:
        finished = {row.combination: row for row in record.parts} if record else {}
        if record and len(finished) < len(planned):
            record.require_versions(versions())
        rows: list[ComparisonRow] = []
        isolated = not all(isinstance(task.backend, ActiveSet | None) for task in planned)
        warm: set[tuple[str, str, str | None]] = set()
        try:
            for number, task in enumerate(planned, start=1):
                if task.combination in finished:
                    rows.append(finished[task.combination])
                    continue
                run = CombinationRun(task, time_limit, Progress(number, len(planned), task.combination, None), callback)
                if run.show(None):
                    break
                if isolated:
                    rows.append(workers.row(run))
                else:
                    kind = (task.combination.loss, task.combination.solver, task.combination.backend)
                    if kind not in warm:
                        warm_up(task)
                        warm.add(kind)
                    rows.append(run.row())
                if record and rows[-1].status not in UNFINISHED:
                    record.append(rows[-1])
                if rows[-1].status == "interrupted":
                    raise KeyboardInterrupt
                if run.stopped:
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
