"""A million sparse documents."""

from collections.abc import Iterator

import numpy as np

from benchmarks.harness.data import Ranking, sparse
from benchmarks.harness.measuring import Size, class_of, clock, peak_megabytes, reading
from benchmarks.harness.rows import Row, Target, pick
from structsvm import Problem, Ranker
from structsvm.foundation.types import Vector

TITLE = "Sparse features"
ABOUT = """
10,000 queries of 100 documents with 100,000 features, 50 of them not zero: CSR with 64-bit numbers
and 32-bit indices. The loss is `roc_area`, C/n as for `m` at C = 100. The peak is the peak memory of
the whole process after `Ranker.fit` with the default solver. Ratios are to the time of SciPy's
`X @ w` and `X.T @ c`. One pass is all scores, all argmaxes and their mean plane. The ratio of the fit
is its whole time, checks of the data and line searches included, over its number of passes. The
target applies to one pass; the fit, with its line searches, does not reach it.
"""

WHAT = "ROC area, 1,000,000 x 100,000, sparse"
QUERIES, DOCUMENTS, FEATURES, ENTRIES = 10_000, 100, 100_000, 50


def run(size: Size) -> Iterator[Row]:
    data = sparse(max(20, round(QUERIES * size.scale)), DOCUMENTS, FEATURES, ENTRIES)
    X = data.X
    arrays = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    yield Row(what=WHAT, who="the data", values={"megabytes": arrays / 1e6})
    ranker = Ranker(loss="roc_area", C=0.1 * QUERIES * size.scale)
    [took], _ = clock(lambda: ranker.fit(X, data.y, qid=data.qid), 1)
    peak = peak_megabytes()
    both = reading(X, both=True)
    yield Row(what=WHAT, who="SciPy: X @ w and X.T @ c", values={"seconds": both, "ratio": 1.0}, repeats=5)
    result = ranker.result_
    last = result.history[-1]
    values = {
        "seconds": took,
        "units": took / reading(X),
        "ratio": took / last.passes / both,
        "passes": last.passes,
        "gap": result.gap / result.C,
        "megabytes": peak,
    }
    yield _one_pass(data, both, result.w, size)
    note = f"{100 * last.solver_seconds / last.seconds:.0f} % of the time in the QP; compiled code read from disk"
    yield Row(what=WHAT, who=f"Ranker ({class_of(result)})", C=result.C, repeats=1, values=values, note=note)


def _one_pass(data: Ranking, both: float, w: Vector, size: Size) -> Row:
    problem = Problem.from_queries(data.X, data.y, data.qid, loss="roc_area", C=1.0)
    seconds, _ = clock(lambda: problem.cut(problem.planes(problem.at(w))), size.repeats)
    middle = float(np.median(seconds))
    values = {"seconds": middle, "fastest": min(seconds), "ratio": middle / both}
    return Row(what=WHAT, who="one pass", repeats=len(seconds), values=values)


def targets(rows: list[Row]) -> Iterator[Target]:
    data, peak = (pick(rows, "megabytes", what=WHAT, who=who) for who in ("the data", "Ranker"))
    limit = 0.0 if data is None else 1.5 * data + 400.0
    yield Target("sparse: peak memory, 1.5 x the CSR arrays + 400 MB", limit, peak, unit="MB")
    yield Target("sparse: a pass", 1.5, pick(rows, "ratio", what=WHAT, who="one pass"), unit="(X @ w + X.T @ c)")
