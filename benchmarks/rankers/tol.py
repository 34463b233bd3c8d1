"""Variation of a reported measure with the seed, the solver and the backend, by tol."""

from collections.abc import Iterator
from time import process_time

import numpy as np

from benchmarks.harness.data import letor_folder, m, robust_folder, robust_pools
from benchmarks.harness.folds import Fold, best_of_path, partition, read_folds
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, without_data
from structsvm import Ranker
from structsvm.data import RankingData
from structsvm.foundation.settings import DEFAULT_TOL
from structsvm.metrics import AP
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack, Solver

TITLE = "The same model from every solver"
ABOUT = """
Test MAP of linear models with C, among nine values, chosen by validation MAP: five folds of MQ2008, five of Robust 2003
(the pools of 17 submissions to a depth of 50), and one of 1,000 made queries of 100 documents and 136 features.
"spread" is the largest minus the smallest test MAP of Frank-Wolfe with seeds 0 to 4, 1-slack and n-slack with the
built-in backend, and 1-slack over cvxopt, HiGHS and OSQP. CPU seconds are for `solver="auto"`, all folds and C.
"""

TOLS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
SMALLEST_OF_BACKENDS = 1e-5
"""Backends other than the built-in one are less precise than this tol."""


def run(size: Size) -> Iterator[Row]:
    for what, there in (("MQ2008", letor_folder()), ("Robust 2003", robust_folder())):
        if there is None:
            yield without_data(what, "auto", what)
    for what, folds in _data(size):
        for tol in TOLS:
            began = process_time()
            values = [_test_map(Auto(tol=tol), folds)]
            seconds = process_time() - began
            values += [_test_map(solver, folds) for solver in _solvers(tol)]
            numbers = {"tol": tol, "cpu": seconds, "map": values[0], "spread": max(values) - min(values)}
            yield Row(what=what, who="auto", repeats=1, values=numbers)


def targets(rows: list[Row]) -> Iterator[Target]:
    for row in rows:
        if row.values.get("tol") == DEFAULT_TOL:
            yield Target(f"{row.what}: spread of the test MAP at the default tol", 0.0003, row.values["spread"])


def _data(size: Size) -> Iterator[tuple[str, list[Fold]]]:
    folder = letor_folder()
    if folder is not None:
        yield "MQ2008", read_folds(folder)
    if robust_folder() is not None:
        yield "Robust 2003", partition(robust_pools(depth=50), 0, size)
    made = m(size.scale)
    yield "made", partition(RankingData(made.X, made.y, made.qid, None), 0, size)[:1]


def _solvers(tol: float) -> Iterator[Solver]:
    yield from (FrankWolfe(tol=tol, random_state=seed) for seed in range(5))
    yield OneSlack(tol=tol)
    yield NSlack(tol=tol)
    if tol >= SMALLEST_OF_BACKENDS:
        yield from (OneSlack(tol=tol, backend=backend) for backend in ("cvxopt", "highs", "osqp"))


def _test_map(solver: Solver, folds: list[Fold]) -> float:
    """Return the test MAP of models with the C of the best validation MAP, a mean over folds."""
    ranker = Ranker("map", solver=solver, n_jobs=1)
    tests = [fold[2] for fold in folds]
    scores = [best_of_path(ranker, fold).predict(fold[2].X) for fold in folds]
    return float(np.mean([AP().mean(s, test.y, test.qid) for s, test in zip(scores, tests, strict=True)]))
