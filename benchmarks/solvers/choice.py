"""Frank-Wolfe against 1-slack as planes take more and more memory."""

from collections.abc import Iterator

from benchmarks.harness.data import sparse
from benchmarks.harness.measuring import Size, solve
from benchmarks.harness.rows import Row, Target
from structsvm.exceptions import InputError
from structsvm.solvers import FrankWolfe, OneSlack

TITLE = 'How `solver="auto"` chooses'
ABOUT = """
Frank-Wolfe stores planes of d numbers for each query, by default 256 MB in all. Here 2000 queries
of 20 documents have more and more features, 20 of them not zero. Fewer and fewer planes per
query fit, and a plane costs more and more compared with its rows; C = 1000, MAP.
"""

FEATURES = (100, 300, 1000, 2000, 4000, 10_000)
C = 1000.0


def run(size: Size) -> Iterator[Row]:
    for features in FEATURES:
        data = sparse(max(20, round(2000 * size.scale)), 20, features, 20)
        what = f"MAP, {features} features"
        for solver in ("auto", FrankWolfe(), OneSlack()):
            try:
                yield solve(what, data, "map", C, solver, size)[0]
            except InputError:
                yield Row(what=what, who="FrankWolfe", C=C, note="memory for fewer than three planes per query")


def targets(rows: list[Row]) -> Iterator[Target]:
    yield from ()
