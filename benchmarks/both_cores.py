"""What a second thread saves."""

import os
from collections.abc import Iterator

from attrs import evolve

from benchmarks.data import dense, m
from benchmarks.measuring import Size, solve, threads
from benchmarks.rows import Row, Target
from structsvm.solvers import FrankWolfe, OneSlack

TITLE = "Threads"
ABOUT = """
The same with numba set to one and to two threads. Results agree to rounding. Frank-Wolfe's visits
follow one another, so that only its certificates can use a second thread.
"""


def run(size: Size) -> Iterator[Row]:
    long = dense(max(10, round(100 * size.scale)), 1000, 136)
    for what, data in (("MAP on m", m(size.scale)), ("MAP on l", long)):
        for solver in (FrankWolfe(), OneSlack()):
            for count in (1, 2):
                if count > (os.cpu_count() or 1):
                    yield Row(what=what, who=type(solver).__name__, note="there is one core")
                    continue
                with threads(count):
                    row, _ = solve(what, data, "map", 100.0, solver, size)
                yield evolve(row, who=f"{row.who}, {count} thread{'s' * (count > 1)}")


def targets(rows: list[Row]) -> Iterator[Target]:
    yield from ()
