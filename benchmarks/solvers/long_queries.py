"""Few long queries."""

from collections.abc import Iterator

from benchmarks.harness.data import dense
from benchmarks.harness.measuring import Size, solve
from benchmarks.harness.rows import Row, Target
from structsvm.solvers import FrankWolfe, OneSlack

TITLE = "Long queries"
ABOUT = "Data `l`: 100 queries of 1000 documents, otherwise as `m`."


def run(size: Size) -> Iterator[Row]:
    data = dense(max(10, round(100 * size.scale)), 1000, 136)
    for loss, what in (("map", "MAP on l"), ("roc_area", "ROC area on l")):
        for C in (10.0, 100.0, 1000.0):
            for solver in ("auto", FrankWolfe(), OneSlack()):
                yield solve(what, data, loss, C, solver, size)[0]


def targets(rows: list[Row]) -> Iterator[Target]:
    yield from ()
