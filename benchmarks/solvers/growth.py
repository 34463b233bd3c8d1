"""Growth of the time of a pass with the data."""

from collections.abc import Iterator

from benchmarks.harness.data import dense
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick, quotient
from benchmarks.solvers.one_pass import one_pass

TITLE = "Growth"
ABOUT = "The time of one pass of Frank-Wolfe if one size of `m` is doubled."

SHAPES = {
    "m": (1000, 100, 136),
    "documents doubled": (1000, 200, 136),
    "queries doubled": (2000, 100, 136),
    "features doubled": (1000, 100, 272),
}


def run(size: Size) -> Iterator[Row]:
    for what, (queries, documents, features) in SHAPES.items():
        data = dense(max(20, round(queries * size.scale)), documents, features)
        # C/n stays, so that the weights move alike
        yield one_pass(what, data, "map", queries / 10.0, size)


def targets(rows: list[Row]) -> Iterator[Target]:
    base = pick(rows, "seconds", what="m")
    for what in list(SHAPES)[1:]:
        yield Target(f"{what}: times the seconds per pass", 2.2, quotient(pick(rows, "seconds", what=what), base))
