"""One pass of Frank-Wolfe against reading the data twice."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from benchmarks.harness.data import Ranking, m
from benchmarks.harness.measuring import Size, clock, reading, warm_up
from benchmarks.harness.rows import Row, Target, pick, quotient
from structsvm import Problem
from structsvm.features.operators import Rows
from structsvm.solvers import FrankWolfe

TITLE = "One pass"
ABOUT = """
A pass of Frank-Wolfe scores each query, finds its argmax, combines its rows and steps. Its time is the median over the
passes of some runs, with argmaxes and steps, but without steps on planes stored from earlier passes. Between the runs,
one `X @ w` and one `X.T @ c` of NumPy are timed on the same numbers (float32 if X is). The table has a pass in units of
the first product, and as its ratio to both together. Units differ between machines, because the speed of the product
relative to memory depends on the processor and the BLAS. Therefore the table also has the time of all scores, computed
row by row as in a pass. The argmax is timed separately, over all queries, at the last weights.
"""

PASSES = 9


def run(size: Size) -> Iterator[Row]:
    data = m(size.scale)
    for dtype in (np.float64, np.float32):
        given = Ranking(data.X.astype(dtype), data.y, data.qid)
        yield _all_scores(given, dtype, size)
        for loss, name in (("map", "MAP"), ("roc_area", "ROC area")):
            yield one_pass(_title(name, dtype), given, loss, 100.0, size)


def _title(loss: str, dtype: type) -> str:
    return f"one pass, {loss}" if dtype is np.float64 else f"one pass, {loss}, float32"


def _all_scores(data: Ranking, dtype: type, size: Size) -> Row:
    """Time the scores of all rows, which are summed in float64 whatever the storage."""
    rows = Rows.one_row_per_example(data.X)
    w = np.linspace(-1.0, 1.0, rows.d)
    rows.scores(w)
    seconds, _ = clock(lambda: rows.scores(w), 5 * size.repeats)
    middle = float(np.median(seconds))
    values = {"seconds": middle, "fastest": min(seconds), "units": middle / reading(data.X)}
    return Row(what=f"all scores, {np.dtype(dtype).name}", who="Rows", repeats=len(seconds), values=values)


def one_pass(what: str, data: Ranking, loss: str, C: float, size: Size) -> Row:
    """Time passes over the data, at weights that move as they do in a run."""
    problem = Problem.from_queries(data.X, data.y, data.qid, loss=loss, C=C)
    solver = FrankWolfe(tol=1e-12, max_iter=PASSES, cache_sweeps=0)
    warm_up(problem, solver)
    seconds, units, both, argmax = [], [], [], []
    for _ in range(size.repeats):
        units.append(reading(data.X))
        both.append(reading(data.X, both=True))
        result = solver.solve(problem)
        for before, after in pairwise(result.history):
            seconds.append((after.oracle_seconds - before.oracle_seconds) / (after.passes - before.passes))
        point = problem.at(result.w)
        argmax += clock(partial(problem.planes, point), 5)[0]
    middle = float(np.median(seconds))
    values = {
        "seconds": middle,
        "fastest": min(seconds),
        "units": middle / float(np.median(units)),
        "ratio": middle / float(np.median(both)),
        "argmax": 1e6 * float(np.median(argmax)) / problem.n,
    }
    return Row(what=what, who="FrankWolfe", C=C, repeats=len(seconds), values=values)


def targets(rows: list[Row]) -> Iterator[Target]:
    what, short = _title("MAP", np.float64), _title("MAP", np.float32)
    yield Target("a FrankWolfe pass, MAP on `m`", 1.0, pick(rows, "ratio", what=what), unit="(X @ w + X.T @ c)")
    yield Target("a FrankWolfe pass, MAP on `m`, in reads of X", 1.5, pick(rows, "units", what=what), unit="X @ w")
    yield Target("the argmax of MAP, 100 documents", 2.0, pick(rows, "argmax", what=what), unit="µs")
    times = quotient(pick(rows, "seconds", what=short), pick(rows, "seconds", what=what))
    yield Target("a FrankWolfe pass, MAP on `m`, float32: time to that in float64", 0.8, times)
