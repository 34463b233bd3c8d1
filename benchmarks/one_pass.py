"""One pass of Frank-Wolfe against reading the data twice."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from benchmarks.data import Ranking, m
from benchmarks.measuring import Size, reading, warm_up
from benchmarks.rows import Row, Target, pick
from structsvm import Problem
from structsvm.solvers import FrankWolfe

TITLE = "One pass"
ABOUT = """
A pass of Frank-Wolfe scores each query, finds its argmax, combines its rows and steps. The
ratio is its time to that of one `X @ w` and one `X.T @ c` of NumPy, measured just before: the
median over the passes of one run, argmaxes and steps included, steps on planes kept from earlier
passes not.
"""

PASSES = 9


def run(size: Size) -> Iterator[Row]:
    data = m(size.scale)
    for what, loss in (("one pass, MAP", "map"), ("one pass, ROC area", "roc_area")):
        yield one_pass(what, data, loss, 100.0, size)
    short = Ranking(data.X.astype(np.float32), data.y, data.qid)
    yield one_pass("one pass, MAP, float32", short, "map", 100.0, size)


def one_pass(what: str, data: Ranking, loss: str, C: float, size: Size) -> Row:
    """Time passes over the data, at weights that move as they do in a run."""
    problem = Problem.from_queries(data.X, data.y, data.qid, loss=loss, C=C)
    solver = FrankWolfe(tol=1e-12, max_iter=PASSES, cache_sweeps=0)
    warm_up(problem, solver)
    seconds, units = [], []
    for _ in range(size.repeats):
        units.append(reading(data.X, both=True))
        steps = solver.solve(problem).history
        for before, after in pairwise(steps):
            seconds.append((after.oracle_seconds - before.oracle_seconds) / (after.passes - before.passes))
    middle = float(np.median(seconds))
    values = {"seconds": middle, "fastest": min(seconds), "ratio": middle / float(np.median(units))}
    return Row(what=what, who="FrankWolfe", C=C, repeats=len(seconds), values=values)


def targets(rows: list[Row]) -> Iterator[Target]:
    reached = pick(rows, "ratio", what="one pass, MAP")
    yield Target("a FrankWolfe pass, MAP on `m`", 1.0, reached, unit="(X @ w + X.T @ c)")
