"""Store the programs of the fits of a comparison."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from structsvm.problem import Problem
from structsvm.result import Status
from structsvm.solvers.comparison.combinations import Combination, Task, tasks, with_settings
from structsvm.solvers.comparison.running import OutOfTime, Watch, Watched
from structsvm.solvers.qp import ActiveSet, Recorder


def save_programs(
    folder: Path, problems: Mapping[str, Problem], solvers: Iterable[str], Cs: Iterable[float], tol: float, limit: float
) -> list[int]:
    """Store the programs of each loss, solver with QPs and C in a subfolder, and return the number of each.

    The built-in backend solves them, until the time limit in seconds.
    """
    planned = [task for task in tasks(problems, solvers, ActiveSet(), Cs, tol) if task.backend is not None]
    return [_save(task, folder / _subfolder(task.combination), limit) for task in planned]


def _subfolder(names: Combination) -> str:
    return re.sub(r"[^\w.=+-]+", "_", f"{names.loss}-{names.solver}-C{repr(names.C).removesuffix('.0')}")


def _save(task: Task, folder: Path, limit: float) -> int:
    watch = Watch(limit)
    with Recorder(folder) as recorder, suppress(OutOfTime):
        solver = with_settings(task.solver, backend=Watched(recorder, watch))
        result = solver.solve(task.problem, callback=lambda _: watch.over())
        if result.status is Status.INTERRUPTED and not watch.ended:
            raise KeyboardInterrupt
    return recorder.count
