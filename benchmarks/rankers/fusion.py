"""Fusion of the submissions to TREC 2003's Robust track, against the best of them."""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.harness.data import robust_folder
from benchmarks.harness.measuring import Size, clock
from benchmarks.harness.rows import Row, Target, pick, without_data
from structsvm import Ranker
from structsvm.data import Qrels, Run, join_runs, load_qrels, load_runs
from structsvm.data.dataset import JoinedRuns
from structsvm.foundation.types import BoolVector
from structsvm.fusion import Fusion, WeightedCombSUM
from structsvm.fusion.comb import Comb
from structsvm.metrics import AP
from structsvm.registry import fusions

TITLE = "Fusion"
ABOUT = """
The 17 submissions to TREC 2003's Robust track, fused by each method. Candidates are the first 1000
documents of each run, and the first 1000 of the fused run are measured: MAP as trec_eval has it, with
all relevant documents that were judged. Weights are learned on the topics of the other set: by the MAP of each run
there, by its fourth power, and by SVM-map. Seconds are the time of `predict`, from the matrix of scores to the fused
scores.
"""

SETS: dict[str, Callable[[int], bool]] = {
    "the 50 old topics": lambda topic: topic < 600,
    "the 50 new topics": lambda topic: topic > 600,
}
BEST, MEDIAN = "best run", "median of the runs"
LENGTH = 1000

SCALINGS = ("none", "min-max", "z", "sum")


def run(size: Size) -> Iterator[Row]:
    folder = robust_folder()
    if folder is None:
        for what in SETS:
            yield without_data(what, BEST, "robust03")
        return
    runs, qrels = load_runs(folder / "runs"), load_qrels(folder / "qrels.txt")
    known = list(dict.fromkeys(qrels.qid.tolist()))
    every = {what: [topic for topic in known if belongs(int(topic))] for what, belongs in SETS.items()}
    for what, of_set in every.items():
        topics = of_set[: max(2, round(len(of_set) * size.scale))]
        others = [topic for other, of_other in every.items() if other != what for topic in of_other[: len(topics)]]
        single = {each.name: _mean_ap(each, np.isin(each.qid, topics), qrels) for each in runs}
        best = max(single, key=lambda name: single[name])
        yield Row(what=what, who=f"{BEST}, {best}", values={"trec_map": single[best]})
        yield Row(what=what, who=MEDIAN, values={"trec_map": float(np.median(list(single.values())))})
        joined, training = join_runs(runs, topics=topics), join_runs(runs, topics=others)
        labels = qrels.labels(training.qid, training.doc_ids)
        for who, method in _methods():
            method.fit(training.X, labels, qid=training.qid)
            yield _row(what, who, method, joined, qrels, size)


def _methods() -> Iterator[tuple[str, Fusion]]:
    """Yield every method with every scaling, and its name."""
    for name in fusions.built_in:
        made = fusions.find(name)
        if issubclass(made, Comb):
            yield from ((f"{made.__name__}, {how}", fusions.create(name, normalize=how)) for how in SCALINGS)
        else:
            yield made.__name__, fusions.create(name)
    for how in SCALINGS:
        yield f"WeightedCombSUM (power 4), {how}", WeightedCombSUM(how, power=4.0)
        if how != "none":
            yield f"WeightedCombSUM (SVM-map), {how}", WeightedCombSUM(how, weights=Ranker("map", C=10.0))


def _row(what: str, who: str, method: Fusion, joined: JoinedRuns, qrels: Qrels, size: Size) -> Row:
    method.predict(joined.X[:10], joined.qid[:10])  # compiles
    seconds, scores = clock(lambda: method.predict(joined.X, joined.qid), min(3, size.repeats))
    fused = Run.from_scores("fused", joined.qid, joined.doc_ids, scores)
    _, first, topic = np.unique(fused.qid, return_index=True, return_inverse=True)
    values = {
        "trec_map": _mean_ap(fused, np.arange(len(fused.qid)) - first[topic] < LENGTH, qrels),
        "seconds": float(np.median(seconds)),
        "fastest": min(seconds),
    }
    return Row(what=what, who=who, repeats=len(seconds), values=values)


def _mean_ap(measured: Run, rows: BoolVector, qrels: Qrels) -> float:
    labels = qrels.labels(measured.qid[rows], measured.doc_ids[rows])
    return AP().mean(measured.scores[rows], labels, measured.qid[rows], judged=qrels.judged, ties="input")


def targets(rows: list[Row]) -> Iterator[Target]:
    for what in SETS:
        fused, median = (pick(rows, "trec_map", what=what, who=who) for who in ("CombMNZ, min-max", MEDIAN))
        above = None if fused is None or median is None else fused - median
        yield Target(f"fusion of {what}: MAP of CombMNZ above the median run", 0.0, above, at_least=True)
        yield Target(f"fusion of {what}: Copeland", 1.0, pick(rows, "seconds", what=what, who="Copeland"), unit="s")
