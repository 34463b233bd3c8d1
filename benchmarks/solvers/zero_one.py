"""The hinge loss of a classification SVM, against LIBLINEAR."""

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from benchmarks.harness.data import Ranking, m
from benchmarks.harness.measuring import Size, clock, reading, solve
from benchmarks.harness.rows import Row, Target
from structsvm import Problem
from structsvm.solvers import OneSlack

TITLE = "Zero-one loss, and LinearSVC"
ABOUT = """
Every document of `m` is an example. The objective equals the objective of `LinearSVC(loss="hinge",
C=C/n, fit_intercept=False)`. LinearSVC's `tol` does not bound the objective. Therefore it is made ten
times smaller until its weights are within 0.001 C of the best lower bound; the last fit is timed.
"""

WHAT = "zero-one on m"
TOLS = (1.0, 0.1, 0.01, 1e-3, 1e-4)


def run(size: Size) -> Iterator[Row]:
    data = m(size.scale)
    for per_example in (1e-3, 1e-2, 1e-1):
        C = per_example * len(data.y)
        lower = []
        for solver in ("auto", OneSlack()):
            row, result = solve(WHAT, data, "zero_one", C, solver, size)
            lower.append(result.dual)
            yield row
        yield _linear_svc(data, C, max(lower), size)


def _linear_svc(data: Ranking, C: float, lower: float, size: Size) -> Row:
    problem = Problem.from_queries(data.X, data.y, loss="zero_one", C=C)
    sign = np.where(data.y > 0, 1, -1)
    for tol in TOLS:
        model = LinearSVC(loss="hinge", C=C / len(sign), fit_intercept=False, tol=tol, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            [first], _ = clock(lambda model=model: model.fit(data.X, sign), 1)
        point = problem.at(model.coef_[0].astype(np.float64))
        gap = (problem.primal(problem.planes(point), point) - lower) / C
        if gap <= 1e-3:
            break
    seconds = [first]
    if size.repeats > 1:
        seconds, _ = clock(lambda: model.fit(data.X, sign), min(3, size.repeats))
    middle = float(np.median(seconds))
    values = {"seconds": middle, "fastest": min(seconds), "units": middle / reading(data.X), "gap": gap}
    return Row(what=WHAT, who=f"LinearSVC(tol={tol:g})", C=C, repeats=len(seconds), values=values)


def targets(rows: list[Row]) -> Iterator[Target]:
    yield from ()
