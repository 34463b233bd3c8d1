"""Indicators of thresholds as small integers, against the expanded matrix."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse as sp

from benchmarks.harness.data import dense
from benchmarks.harness.measuring import Size, clock
from benchmarks.harness.rows import Row, Target, pick, quotient
from structsvm.features import Thresholds
from structsvm.features.operators import Rows

TITLE = "Binned features"
ABOUT = """
44,000 documents in 50 queries have scores of 17 functions, 40 % of them missing: 50 indicators of
each function, 850 columns. A `BinnedMatrix` stores a byte for each document and function. All other
rows store the same matrix expanded, as a float64 array (NumPy) and as CSR with 32-bit indices
(SciPy). One pass computes all scores and combines all features: `X @ w` and `X.T @ c`.
"""

BINNED, ARRAY, CSR = "BinnedMatrix", "float64 array", "CSR"
QUERIES, DOCUMENTS, FUNCTIONS, MISSING = 50, 880, 17, 0.4
PASS = "one pass"


def run(size: Size) -> Iterator[Row]:
    base = dense(max(5, round(QUERIES * size.scale)), DOCUMENTS, FUNCTIONS)
    rng = np.random.default_rng(1)
    base.X[rng.random(base.X.shape) < MISSING] = np.nan
    binned = Thresholds().fit_transform(base.X)
    for who, X in ((BINNED, binned), (ARRAY, binned.toarray()), (CSR, binned.tocsr())):
        yield _one_pass(who, X, size)


def _one_pass(who: str, X: Any, size: Size) -> Row:
    rows = Rows.one_row_per_example(X)
    w, c = np.linspace(-1.0, 1.0, X.shape[1]), np.linspace(-1.0, 1.0, X.shape[0])
    clock(lambda: (rows.scores(w), rows.combine(c)), 1)
    seconds, _ = clock(lambda: (rows.scores(w), rows.combine(c)), 3 * size.repeats)
    values = {"seconds": float(np.median(seconds)), "fastest": min(seconds), "stored": _bytes(X) / 1e6}
    return Row(what=PASS, who=who, repeats=len(seconds), values=values)


def _bytes(X: Any) -> int:
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes


def targets(rows: list[Row]) -> Iterator[Target]:
    for what, name, limit in (("memory, times smaller", "stored", 20.0), ("a pass, times faster", "seconds", 5.0)):
        of_array, of_binned = (pick(rows, name, what=PASS, who=who) for who in (ARRAY, BINNED))
        yield Target(f"binned features: {what} than a float64 array", limit, quotient(of_array, of_binned), True)
