"""Clocks, units and peak memory."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from attrs import asdict, frozen

from benchmarks.harness.data import Ranking
from benchmarks.harness.rows import Row, thinned
from structsvm import Problem, Result
from structsvm.registry import solvers
from structsvm.solvers import Solver

T = TypeVar("T")

BUDGET = 20.0
"""Seconds after which a measurement is not repeated any more."""


@frozen
class Size:
    """How much is measured.

    Parameters
    ----------
    scale : share of the queries and documents; the pages show results at 1.
    repeats : number of timings of work that takes a few seconds at most.
    """

    scale: float = 1.0
    repeats: int = 7


def clock(work: Callable[[], T], repeats: int, timer: Callable[[], float] = time.perf_counter) -> tuple[list[float], T]:
    """Time a work, at least once; return the seconds of each time and the last result."""
    seconds: list[float] = []
    while True:
        began = timer()
        result = work()
        seconds.append(timer() - began)
        if len(seconds) >= repeats or sum(seconds) > BUDGET:
            return seconds, result


def reading(X: Any, both: bool = False) -> float:
    """Return the seconds of one ``X @ w``, or of that and one ``X.T @ c``: the median of five."""
    w = np.linspace(-1.0, 1.0, X.shape[1]).astype(X.dtype)
    c = np.linspace(-1.0, 1.0, X.shape[0]).astype(X.dtype)
    seconds, _ = clock(lambda: (X @ w, X.T @ c) if both else X @ w, 5)
    return float(np.median(seconds))


def solve(
    what: str, data: Ranking, loss: str, C: float, solver: str | Solver, size: Size, note: str = ""
) -> tuple[Row, Result]:
    """Time a solver on a problem, with its kernels warm.

    Between two solutions one ``X @ w`` is timed on the same data: the row's unit is the median.
    """
    problem = Problem.from_queries(data.X, data.y, data.qid, loss=loss, C=C)
    chosen = solvers.create(solver)
    warm_up(problem, chosen)
    units: list[float] = []
    seconds: list[float] = []
    while len(seconds) < size.repeats and sum(seconds) < BUDGET:
        units.append(reading(data.X))
        [took], result = clock(lambda: chosen.solve(problem), 1)
        seconds.append(took)
    values = {
        "seconds": float(np.median(seconds)),
        "fastest": min(seconds),
        "units": float(np.median(seconds) / np.median(units)),
        "passes": result.history[-1].passes,
        "gap": result.gap / C,
    }
    history = thinned([[step.seconds, step.primal] for step in result.history])
    who = setting(chosen) if solver != "auto" else f"auto ({class_of(result)})"
    if not result.converged:
        note = "; ".join(filter(None, [note, result.status.value]))
    return Row(what=what, who=who, C=C, repeats=len(seconds), values=values, history=history, note=note), result


def warm_up(problem: Problem, solver: Solver) -> None:
    """Solve a small part of a problem, so that all is compiled."""
    solver.solve(problem.block(0, min(problem.n, 50)))


def class_of(result: Result) -> str:
    """Name the class of the solver that ran, which "auto" chose."""
    return solvers.find(result.solver_name).__name__


def setting(solver: Solver) -> str:
    """Name a solver, with the settings that are not its defaults."""
    settings, default = asdict(solver, recurse=False), asdict(type(solver)(), recurse=False)
    changed = [f"{name}={value!r}" for name, value in settings.items() if value != default[name]]
    return f"{type(solver).__name__}({', '.join(changed)})" if changed else type(solver).__name__


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Use this many threads in compiled loops."""
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def forget_peak() -> float:
    """Reset the peak memory of the process to its present memory, if the system supports it; return it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_megabytes()


def peak_megabytes() -> float:
    """Return the peak memory of this process so far, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    import resource  # not on every system

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # macOS counts bytes
