"""Losses to train if precision or recall at k is reported: losses at full depth, and truncated bounds."""

import warnings
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from benchmarks.harness.measuring import Size, clock
from benchmarks.harness.rows import Row, Target
from benchmarks.losses.cutoff import CS, Fold, data_sets
from structsvm import Ranker
from structsvm.exceptions import ZeroWeightsWarning
from structsvm.metrics import Measure, P, Recall

TITLE = "Precision and recall at k"
ABOUT = """
Losses at full depth that `p@5`, `recall@10` and `recall@100` could train, on the data of the benchmark `cutoff`.
Validation chooses C for each measure separately; queries without a relevant document count as 0.
"""

MEASURES: dict[str, Measure] = {"p5": P(5), "recall10": Recall(10), "recall100": Recall(100)}
LOSSES = ("map", "roc_area", "ndcg", "p@5(truncated=true)", "recall@100(truncated=true)")


def run(size: Size) -> Iterator[Row]:
    for what, folds in data_sets(size):
        for loss in LOSSES:
            seconds, values = clock(partial(_tested, loss, folds), 1)
            yield Row(what=what, who=loss, repeats=1, values={**values, "seconds": seconds[0]})


def _tested(loss: str, folds: Sequence[Fold]) -> dict[str, float]:
    """Return the mean of each measure over the test queries of all folds."""
    found: dict[str, list[float]] = {name: [] for name in MEASURES}
    for train, valid, test in folds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ZeroWeightsWarning)  # of truncated bounds, as the values show
            path = Ranker(loss).path(train.X, train.y, qid=train.qid, Cs=CS)
        judged = [ranker.predict(valid.X) for ranker in path]
        for name, measure in MEASURES.items():
            best = int(np.argmax([measure.mean(scores, valid.y, valid.qid) for scores in judged]))
            values = measure.per_query(path[best].predict(test.X), test.y, test.qid).values
            found[name] += np.nan_to_num(values).tolist()
    return {name: float(np.mean(values)) for name, values in found.items()}


def targets(rows: list[Row]) -> Iterator[Target]:
    return iter(())
