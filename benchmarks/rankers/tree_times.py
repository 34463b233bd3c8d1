"""Time to grow, refit and score trees, compared with LightGBM."""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import numpy as np

import structsvm
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, quotient
from benchmarks.rankers.trees import made
from structsvm.models.ensembles import ensemble_of
from structsvm.rankers import LambdaMART, TreeRanker
from structsvm.rankers.tree_ranker import SAMPLED

TITLE = "Time of trees under the certificate"
ABOUT = """
Median CPU seconds of one run on one thread. LightGBM grows 100 trees of 8 leaves on 50,000 documents with 136 features
and grades 0 to 4 (500 queries of the made data of the benchmark `trees`). `TreeRanker` refits these trees by `map` at
C = 1000 to a gap of 1e-6 · C. "find leaves" looks up the leaf of every document in every tree. A saved model then
scores 100 documents with NumPy alone.
"""

TREES, C = 100, 1000.0
GROW, LEAVES, REFIT, BESIDE = "grow", "find leaves", "refit leaves", "refit leaves and features"
SCORE = "score 100 documents"
OURS, LIGHTGBM = "structsvm", "LightGBM"


def run(size: Size) -> Iterator[Row]:
    if find_spec("lightgbm") is None:
        yield Row(what=GROW, who=LIGHTGBM, note="lightgbm is not installed")
        return
    data = made(max(50, round(500 * size.scale)), 100, 136, 0, graded=True)
    X = data.X.astype(np.float32)
    few, many = min(3, size.repeats), 20 * size.repeats
    grower = LambdaMART(TREES, num_leaves=8, random_state=0, params={"num_threads": 1, **SAMPLED})
    yield _timed(GROW, LIGHTGBM, lambda: grower.fit(X, data.y, data.qid), few)
    booster = grower.booster_
    found, *_ = ensemble_of(booster).trees()
    yield _timed(LEAVES, OURS, lambda: found.leaves(X), few)
    yield _timed(LEAVES, LIGHTGBM, lambda: booster.predict(X, pred_leaf=True, num_threads=1), few)
    for what, features in ((REFIT, False), (BESIDE, True)):
        ranker = TreeRanker("map", C=C, trees=booster, features=features, n_jobs=1)
        # The first fit compiles.
        ranker.fit(X[:2000], data.y[:2000], data.qid[:2000])
        yield _timed(what, OURS, partial(ranker.fit, X, data.y, data.qid), few)
    with tempfile.TemporaryDirectory() as folder:
        ranker.save(Path(folder) / "model.npz")
        model = structsvm.load(Path(folder) / "model.npz")
    query = X[:100].astype(np.float64)
    yield _timed(SCORE, OURS, lambda: model.predict(query), many)
    yield _timed(SCORE, LIGHTGBM, lambda: booster.predict(query, num_threads=1), many)


def targets(rows: list[Row]) -> Iterator[Target]:
    seconds = {(row.what, row.who): row.values.get("cpu") for row in rows}
    for what in (REFIT, BESIDE):
        ratio = quotient(seconds.get((what, OURS)), seconds.get((GROW, LIGHTGBM)))
        yield Target(f"{what}, in units of growing the trees", 1.0, ratio)


def _timed(what: str, who: str, work: Callable[[], object], repeats: int) -> Row:
    """Return the median CPU seconds of some calls."""
    seconds = []
    for _ in range(repeats):
        began = process_time()
        work()
        seconds.append(process_time() - began)
    return Row(what=what, who=who, repeats=repeats, values={"cpu": float(np.median(seconds))})
