"""ROC area on dense features."""

from collections.abc import Iterator

from benchmarks.harness.data import m
from benchmarks.harness.measuring import Size, solve
from benchmarks.harness.rows import Row, Target, pick
from structsvm.solvers import FrankWolfe, OneSlack

TITLE = "ROC area"
ABOUT = "The same data, queries and tolerance with the loss `roc_area`."

WHAT = "ROC area on m"
UNITS = {10.0: 8.0, 100.0: 15.0, 1000.0: 45.0}


def run(size: Size) -> Iterator[Row]:
    data = m(size.scale)
    for C in UNITS:
        for solver in ("auto", FrankWolfe(), OneSlack()):
            yield solve(WHAT, data, "roc_area", C, solver, size)[0]


def targets(rows: list[Row]) -> Iterator[Target]:
    for C, limit in UNITS.items():
        reached = pick(rows, "units", what=WHAT, who="auto", C=C)
        yield Target(f"ROC area on `m`, C = {C:g}", limit, reached, unit="X @ w")
