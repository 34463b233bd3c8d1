"""Passes that the line search saves OneSlack."""

from collections.abc import Iterator

from benchmarks.harness.data import m
from benchmarks.harness.measuring import Size, solve
from benchmarks.harness.rows import Row, Target, pick, quotient
from structsvm.solvers import OneSlack

TITLE = "OneSlack with and without line search"
ABOUT = "MAP on `m` with the textbook algorithm and with the line search, which is the default."

WHAT = "MAP on m"


def run(size: Size) -> Iterator[Row]:
    data = m(size.scale)
    for C in (10.0, 100.0, 1000.0):
        for on in (True, False):
            yield solve(WHAT, data, "map", C, OneSlack(line_search=on), size)[0]


def targets(rows: list[Row]) -> Iterator[Target]:
    without, with_ = (
        pick(rows, "passes", what=WHAT, who=f"OneSlack(line_search={on}", C=1000.0) for on in (False, True)
    )
    yield Target("line search, C = 1000: times fewer passes", 5.0, quotient(without, with_), at_least=True)
