"""MAP on dense features, for C from 10 to 10,000, against dlib."""

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np

from benchmarks.harness.data import m
from benchmarks.harness.measuring import Size, clock, reading, solve
from benchmarks.harness.rows import Row, Target, pick, quotient, thinned
from structsvm import Problem, Ranker
from structsvm.foundation.types import Matrix, Vector
from structsvm.solvers import FrankWolfe, OneSlack

TITLE = "Average precision, and dlib"
ABOUT = """
Data `m`: 1000 queries of 100 documents with 136 dense features, about 10 % of them relevant, linear
labels with noise and an offset of each query. Every row has its own certificate, `primal − dual <=
0.001 C`, and dlib's `solve_structural_svm_problem` stops by the same rule at the same C. Its gap in
the table is the distance of its primal value, which our engine computes, to the best lower bound of
any row. dlib's oracle is vectorized NumPy over all queries. "query by query" is dlib's interface:
planes of all queries are computed together at each new w, and dlib caches ten planes per query. With
"one call per pass", dlib sees all queries as one example, so only its solver is measured.
"""

WHAT = "MAP on m"
CS = (10.0, 100.0, 1000.0, 10_000.0)
UNITS = {10.0: 12.0, 100.0: 20.0, 1000.0: 45.0, 10_000.0: 200.0}
TIMES_DLIB = {10.0: 40.0, 100.0: 50.0, 1000.0: 150.0}
TOL = 1e-3
QUERY_BY_QUERY, ONE_CALL = "dlib, query by query", "dlib, one call per pass"


def run(size: Size) -> Iterator[Row]:
    data = m(size.scale)
    unit = reading(data.X)
    yield Row(what=WHAT, who="NumPy: one X @ w", values={"seconds": unit, "units": 1.0}, repeats=5)
    lower = {}
    for C in CS:
        bounds = []
        for solver in ("auto", FrankWolfe(tol=TOL), OneSlack(tol=TOL)):
            row, result = solve(WHAT, data, "map", C, solver, size)
            bounds.append(result.dual)
            yield row
        lower[C] = max(bounds)
    yield _whole_fit(data.X, data.y, data.qid, size)
    if find_spec("dlib") is None:
        yield Row(what=WHAT, who="dlib", note="not installed")
        return
    for C in TIMES_DLIB:
        yield from _dlib(data.X, data.y, data.qid, C, lower[C], size)


def _whole_fit(X: Matrix, y: Vector, qid: Vector, size: Size) -> Row:
    """Time all of `Ranker.fit`, its checks of X included."""
    seconds, ranker = clock(lambda: Ranker(loss="map", C=100.0, tol=TOL).fit(X, y, qid=qid), size.repeats)
    values = {"seconds": float(np.median(seconds)), "fastest": min(seconds)}
    values |= {"passes": ranker.result_.history[-1].passes, "gap": ranker.result_.gap / 100.0}
    values["units"] = values["seconds"] / reading(X)
    return Row(what=WHAT, who="Ranker.fit, all of it", C=100.0, repeats=len(seconds), values=values)


def _dlib(X: Matrix, y: Vector, qid: Vector, C: float, lower: float, size: Size) -> Iterator[Row]:
    from benchmarks.peers import dlib_map
    from benchmarks.peers.vectorized import AveragePrecisionOracle

    problem = Problem.from_queries(X, y, qid, loss="map", C=C)
    oracle = AveragePrecisionOracle(X, y, problem.ptr)
    lower = max(lower, FrankWolfe(tol=0.01 * TOL).solve(problem).dual)
    for one_by_one in (False, True):
        unit = reading(X)
        seconds, (w, history) = clock(
            lambda one_by_one=one_by_one: dlib_map.solve(oracle, C, TOL, one_by_one=one_by_one), min(3, size.repeats)
        )
        point = problem.at(w)
        values = {
            "seconds": float(np.median(seconds)),
            "fastest": min(seconds),
            "units": float(np.median(seconds)) / unit,
            "passes": float(len(history)),
            "gap": (problem.primal(problem.planes(point), point) - lower) / C,
        }
        who = QUERY_BY_QUERY if one_by_one else ONE_CALL
        yield Row(what=WHAT, who=who, C=C, repeats=len(seconds), values=values, history=thinned(history))


def targets(rows: list[Row]) -> Iterator[Target]:
    for C, limit in TIMES_DLIB.items():
        ours = pick(rows, "seconds", what=WHAT, who="auto", C=C)
        for who in (QUERY_BY_QUERY, ONE_CALL):
            times = quotient(pick(rows, "seconds", what=WHAT, who=who, C=C), ours)
            yield Target(f"MAP on `m`, C = {C:g}: times faster than {who}", limit, times, at_least=True)
    for C, limit in UNITS.items():
        yield Target(f"MAP on `m`, C = {C:g}", limit, pick(rows, "units", what=WHAT, who="auto", C=C), unit="X @ w")
    passes = [pick(rows, "passes", what=WHAT, who="auto", C=C) for C in CS]
    most = None if None in passes else max(value for value in passes if value is not None)
    yield Target("MAP on `m`, each C: passes", 12.0, most)
