"""Store the programs of the fits of a comparison."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from structsvm.exceptions import StructSVMError
from structsvm.problem import Problem
from structsvm.result import Status
from structsvm.solvers.comparison.combinations import Task, tasks, with_settings
from structsvm.solvers.comparison.running import OutOfTime, Watch, Watched
from structsvm.solvers.qp import ActiveSet, Recorder


def save_programs(
    folder: Path, problems: Mapping[str, Problem], solvers: Iterable[str], Cs: Iterable[float], tol: float, limit: float
) -> None:
    """Store the programs of each loss, solver with QPs and C in a subfolder; the built-in backend solves them."""
    for task in tasks(problems, solvers, ActiveSet(), Cs, tol):
        if task.backend is not None:
            of = task.combination
            _save(task, folder / re.sub(r"[^\w.=+-]+", "_", f"{of.loss}-{of.solver}-C{of.C:g}"), limit)


def _save(task: Task, folder: Path, limit: float) -> None:
    watch = Watch(limit)
    # The table of the comparison reports errors.
    with suppress(OutOfTime, StructSVMError), Recorder(folder) as recorder:
        solver = with_settings(task.solver, backend=Watched(recorder, watch))
        result = solver.solve(task.problem, callback=lambda _: watch.over())
        if result.status is Status.INTERRUPTED and not watch.ended:
            raise KeyboardInterrupt
