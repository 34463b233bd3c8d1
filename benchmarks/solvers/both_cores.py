"""Time that a second thread saves."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numba
import numpy as np
from attrs import evolve
from threadpoolctl import threadpool_limits

from benchmarks.harness.data import Ranking, dense, m
from benchmarks.harness.measuring import Size, clock, warm_up
from benchmarks.harness.rows import Row, Target, pick
from structsvm import Problem
from structsvm.solvers import FrankWolfe, OneSlack, Solver

TITLE = "Threads"
ABOUT = """
Fits with `n_jobs=1` and `n_jobs=2` take turns. Just before each, NumPy computes `X @ w` and `X.T @ c` with as many
BLAS threads. Weights and bounds are bit-equal. The ratio is the median time of one thread over that of two. Two threads
of a virtual machine may share a core, so NumPy's gain shows the possible gain, which changes from minute to minute.
With fewer than 75 queries, Frank-Wolfe's visits use one thread. Sweeps over stored planes and the QP always use
one thread. [Threads that were tried](../solvers/threads_tried.md) has profiles and batch sizes.
"""

THREADS = (1, 2)
READING = "X @ w and X.T @ c"
WANTED, PART = 1.7, 0.9

_IDLE = 0.5
"""Seconds until idle threads of BLAS sleep; before, they look for work and slow down other threads."""


def run(size: Size) -> Iterator[Row]:
    long = dense(max(10, round(100 * size.scale)), 1000, 136)
    for name, data in (("m", m(size.scale)), ("l", long)):
        for loss, what in (("map", f"MAP on {name}"), ("roc_area", f"ROC area on {name}")):
            for C in (10.0, 100.0, 1000.0, 10_000.0):
                yield from compared(what, data, loss, C, FrankWolfe(), size)
        yield from compared(f"MAP on {name}", data, "map", 100.0, OneSlack(), size)


def compared(what: str, data: Ranking, loss: str, C: float, solver: Solver, size: Size) -> Iterator[Row]:
    """Time a fit and readings of the data by one thread and by two, by turns."""
    counts = [count for count in THREADS if count <= numba.config.NUMBA_NUM_THREADS]
    who = type(solver).__name__
    problems = {count: Problem.from_queries(data.X, data.y, data.qid, loss=loss, C=C, n_jobs=count) for count in counts}
    seconds: dict[tuple[str, int], list[float]] = {(by, count): [] for by in (who, READING) for count in counts}
    results: dict[int, Any] = {}
    for problem in problems.values():
        warm_up(problem, solver)
    for count in counts * size.repeats:
        with threadpool_limits(count):
            seconds[READING, count] += clock(partial(_read, data.X), 1)[0]
    time.sleep(_IDLE)
    for _ in range(size.repeats):
        for count, problem in problems.items():
            took, results[count] = clock(partial(solver.solve, problem), 1)
            seconds[who, count] += took
    for by in (READING, who):
        for count in counts:
            yield _row(what, by, C, count, seconds, results[count] if by == who else None)
    for count in set(THREADS) - set(counts):
        note = f"left out: numba is set to {numba.config.NUMBA_NUM_THREADS} thread (NUMBA_NUM_THREADS)"
        yield Row(what=what, who=_by(who, count), C=C, note=note)


def _row(
    what: str, by: str, C: float, count: int, seconds: dict[tuple[str, int], list[float]], result: Any | None
) -> Row:
    taken = seconds[by, count]
    middle = float(np.median(taken))
    values = {"seconds": middle, "fastest": min(taken)}
    if count > 1:
        values["ratio"] = float(np.median(seconds[by, 1])) / middle
    row = Row(what=what, who=_by(by, count), C=C, repeats=len(taken), values=values)
    if result is None:
        return row
    return evolve(row, values=values | {"passes": result.history[-1].passes, "gap": result.gap / C})


def _by(who: str, count: int) -> str:
    return f"{who}, {count} thread{'s' * (count > 1)}"


def _read(X: Any) -> None:
    X @ np.linspace(-1.0, 1.0, X.shape[1])
    X.T @ np.linspace(-1.0, 1.0, X.shape[0])


def targets(rows: list[Row]) -> Iterator[Target]:
    """Yield targets: two threads are 1.7 times as fast as one, or reach 0.9 of the speed-up of reading the data."""
    fits = [row for row in rows if row.who == _by("FrankWolfe", 2) and "ratio" in row.values]
    for row in fits:
        of_readings = pick(rows, "ratio", what=row.what, who=_by(READING, 2), C=row.C)
        limit = WANTED if of_readings is None else min(WANTED, PART * of_readings)
        what = f"speed-up of a FrankWolfe fit on two threads, {row.what}, C = {row.C:g}"
        yield Target(what, limit, row.values["ratio"], at_least=True)
