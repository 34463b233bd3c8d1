"""A data set of the size of MSLR-WEB30K."""

from collections.abc import Iterator

import numpy as np

from benchmarks.harness.data import dense
from benchmarks.harness.measuring import Size, class_of, clock, peak_megabytes, reading
from benchmarks.harness.rows import Row, Target, pick
from structsvm import Ranker

TITLE = "The size of MSLR-WEB30K"
ABOUT = """
31,531 queries of 120 documents with 136 features in float32, 2.06 GB, made like `m`; C/n is as for
`m` at C = 100. `Ranker.fit` from start to end with the default solver. The peak is the peak memory
of the whole process, Python and the data included.
"""

WHAT = "MAP, 31,531 x 120 x 136, float32"
QUERIES, DOCUMENTS, FEATURES = 31_531, 120, 136


def run(size: Size) -> Iterator[Row]:
    data = dense(max(20, round(QUERIES * size.scale)), DOCUMENTS, FEATURES, dtype=np.float32)
    made = peak_megabytes()
    yield Row(what=WHAT, who="the data", values={"megabytes": data.X.nbytes / 1e6})
    yield Row(what=WHAT, who="the process with its data, before the fit", values={"megabytes": made})
    unit = reading(data.X)
    ranker = Ranker(loss="map", C=0.1 * QUERIES * size.scale)
    [took], _ = clock(lambda: ranker.fit(data.X, data.y, qid=data.qid), 1)
    result = ranker.result_
    values = {
        "seconds": took,
        "units": took / unit,
        "passes": result.history[-1].passes,
        "gap": result.gap / result.C,
        "megabytes": peak_megabytes(),
    }
    yield Row(what=WHAT, who=f"Ranker ({class_of(result)})", C=result.C, repeats=1, values=values)


def targets(rows: list[Row]) -> Iterator[Target]:
    data, peak = (pick(rows, "megabytes", what=WHAT, who=who) for who in ("the data", "Ranker"))
    yield Target("the size of MSLR-WEB30K: passes", 10.0, pick(rows, "passes", what=WHAT, who="Ranker"))
    yield Target("the size of MSLR-WEB30K: gap / C", 1e-3, pick(rows, "gap", what=WHAT, who="Ranker"))
    limit = 0.0 if data is None else 1.3 * data + 400.0
    yield Target("the size of MSLR-WEB30K: peak memory, 1.3 x the array + 400 MB", limit, peak, unit="MB")
