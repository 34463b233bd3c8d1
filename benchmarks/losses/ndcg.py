"""NDCG and reciprocal rank: the time of an argmax, and the gain from training them on MQ2008."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from benchmarks.harness.data import letor_folder
from benchmarks.harness.folds import CS, Fold, read_folds
from benchmarks.harness.measuring import Size, clock
from benchmarks.harness.rows import Row, Target, without_data
from structsvm import Ranker
from structsvm.foundation.types import Vector
from structsvm.metrics import Measure, parse_measure
from structsvm.problem.oracle import make_oracle
from structsvm.registry import losses

TITLE = "NDCG and reciprocal rank"
ABOUT = f"""
One loss-augmented argmax of queries of 100 and 1000 documents, 5 % of them of grade 1 and 5 % of grade 2, at
random scores that are a little better than chance. Then training on LETOR's MQ2008, five folds, with {len(CS)} values
of C, 0.01 to 100. For each measure, the model with its best validation value is tested: NDCG@10, NDCG without a
cut-off, and NDCG@10 with LETOR's discount. Measures use the gains of grades, and queries without a relevant document
count as 0, as in LETOR. "ndcg" losses use the gains, too; losses with "encoding=pairwise" and other losses distinguish
only relevant documents from other documents. Truncated losses use the first ten ranks only.
"""

ARGMAX = (
    "map",
    "mrr",
    "ndcg(encoding=pairwise)",
    "ndcg@10(encoding=pairwise,truncated=true)",
    "letor_ndcg(encoding=pairwise)",
    "ndcg(encoding=thresholds)",
    "ndcg@10(encoding=thresholds,truncated=true)",
    "ndcg(encoding=position)",
)
TRAINED = (
    "map",
    "roc_area",
    "mrr",
    "ndcg",
    "ndcg@10(truncated=true)",
    "letor_ndcg@10(truncated=true)",
    "ndcg(encoding=pairwise)",
    "ndcg@10(encoding=pairwise,truncated=true)",
    "letor_ndcg@10(encoding=pairwise,truncated=true)",
    "ndcg(encoding=position)",
    "ndcg@10(encoding=position,truncated=true)",
)
LENGTHS = {100: 1000, 1000: 100}
WHAT = "MQ2008, 5 folds"
MEASURES = {
    "ndcg": parse_measure("ndcg@10"),
    "full_ndcg": parse_measure("ndcg"),
    "letor_ndcg": parse_measure("letor_ndcg@10"),
}


def run(size: Size) -> Iterator[Row]:
    for documents, queries in LENGTHS.items():
        for name in ARGMAX:
            yield _argmax(name, documents, max(2, round(queries * size.scale)), size)
    folder = letor_folder()
    if folder is None:
        yield without_data(WHAT, "this library")
        return
    folds = read_folds(folder)
    for name in TRAINED:
        seconds, found = clock(partial(_tested_on, folds, name), 1)
        means = {key: float(np.mean([one[key] for one in found])) for key in MEASURES}
        yield Row(what=WHAT, who=name, repeats=1, values={"seconds": seconds[0], **means})


def _argmax(name: str, documents: int, queries: int, size: Size) -> Row:
    rng = np.random.default_rng(documents)
    grades = np.repeat([2.0, 1.0, 0.0], [documents // 20, documents // 20, documents - 2 * (documents // 20)])
    ys = [rng.permutation(grades) for _ in range(queries)]
    scores = 0.5 * rng.standard_normal(queries * documents) + 0.5 * (np.concatenate(ys) > 0)
    ptr, cap = np.arange(queries + 1) * documents, np.ones(queries)
    oracle = make_oracle(losses.create(name).bind(ys), ys)
    oracle.planes(scores, ptr, cap)
    seconds, _ = clock(lambda: oracle.planes(scores, ptr, cap), max(3, 3 * size.repeats))
    values = {"microseconds": 1e6 * float(np.median(seconds)) / queries}
    return Row(what=f"argmax, {documents} documents", who=name, repeats=len(seconds), values=values)


def _tested_on(folds: Sequence[Fold], name: str) -> list[dict[str, float]]:
    return [_tested(name, fold) for fold in folds]


def _tested(name: str, fold: Fold) -> dict[str, float]:
    """Return each measure on the test part, for the ranker with its best value on the validation part."""
    train, valid, test = fold
    path = Ranker(name).path(train.X, train.y, qid=train.qid, Cs=CS)
    judged = [ranker.predict(valid.X) for ranker in path]

    def tested(measure: Measure) -> float:
        values: list[float] = [measure.mean(scores, valid.y, valid.qid) for scores in judged]
        scores: Vector = path[int(np.argmax(values))].predict(test.X)
        return measure.mean(scores, test.y, test.qid)

    return {key: tested(measure) for key, measure in MEASURES.items()}


def targets(rows: list[Row]) -> Iterator[Target]:
    found = {row.who: row.values["ndcg"] for row in rows if row.what == WHAT and "ndcg" in row.values}
    for other in ("map", "roc_area"):
        ours = "ndcg@10(truncated=true)"
        lead = found[ours] - found[other] if {ours, other} <= set(found) else None
        yield Target(f"MQ2008: test NDCG@10 of {ours} above {other}", 0.0, lead, at_least=True)
