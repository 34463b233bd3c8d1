"""Weight search against SVM-map: MAP on training and on test queries, and time."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from benchmarks.harness.data import letor_folder, robust_folder
from benchmarks.harness.folds import CS, best_of_path, read_folds
from benchmarks.harness.measuring import Size, clock
from benchmarks.harness.rows import Row, Target, pick, without_data
from structsvm import Ranker
from structsvm.data import load_qrels, load_runs, pool_runs
from structsvm.estimators.ranking import RankingEstimator
from structsvm.features import FillMissing, QueryMinMax
from structsvm.protocols.experiment.splits import balanced_splits
from structsvm.rankers import WeightSearch

TITLE = "Weight search and SVM-map"
ABOUT = f"""
`WeightSearch` maximizes training MAP itself, by exhaustive search of one direction after another. SVM-map minimizes a
convex bound on its loss, for {len(CS)} values of C, 0.01 to 100, of which validation queries choose the best. Weight
search does not use the validation queries. Seconds include all fits of a row, and MAP is their mean. MQ2008: five
folds. Robust03: 17 runs, their scores normalized by query (min-max), 0 if a run lacks a document; three trials for the
old and for the new topics, each with 10 topics to train, 5 to validate and 35 to test. One query: normal features, 5 %
of the documents relevant.
"""

WHAT = "MQ2008, 5 folds"
ROBUST = {"robust03, old topics, 3 trials": range(1, 601), "robust03, new topics, 3 trials": range(601, 651)}
ONE = "one query of 1000 documents, 20 terms"
TRIALS, TRAIN, VALIDATION = 3, 10, 5

SEARCHES = {
    "WeightSearch": WeightSearch(),
    "WeightSearch from equal weights": WeightSearch(start="equal"),
}
MORE = {
    "WeightSearch, random directions from equal weights": WeightSearch("random", "equal", random_state=0),
    "WeightSearch, incremental, first weight fixed": WeightSearch(fix_first=True, incremental=True),
}
"""Searches that are skipped on robust03, because a fit takes long."""


@frozen(eq=False)
class Part:
    X: Any
    y: Any
    qid: Any


Trial = tuple[Any, Any, Any]
Fit = Callable[[Trial], RankingEstimator]


def run(size: Size) -> Iterator[Row]:
    documents = max(40, round(1000 * size.scale))
    for who, ranker in (SEARCHES | MORE).items():
        yield _one_query(who, ranker, documents, size)
    folder = letor_folder()
    if folder is None:
        yield without_data(WHAT, "this library")
    else:
        yield from _compared(WHAT, read_folds(folder), SEARCHES | MORE)
    folder = robust_folder()
    for what, topics in ROBUST.items():
        if folder is None:
            yield without_data(what, "this library", "robust03")
        else:
            yield from _compared(what, _trials(folder, topics), SEARCHES)


def _compared(what: str, trials: list[Trial], searches: dict[str, WeightSearch]) -> Iterator[Row]:
    for who, ranker in searches.items():
        yield _row(what, who, trials, lambda trial, ranker=ranker: ranker.fit(*_training(trial[0])))
    yield _row(what, "Ranker (SVM-map), C by validation", trials, lambda trial: best_of_path(Ranker("map"), trial))


def _row(what: str, who: str, trials: list[Trial], fit: Fit) -> Row:
    fit(trials[0])  # compiles, and loads what is loaded at first use
    means = []

    def all_fits() -> None:
        for trial in trials:
            ranker = fit(trial)
            means.append([ranker.score(part.X, part.y, qid=part.qid) for part in (trial[0], trial[2])])

    seconds, _ = clock(all_fits, 1)
    training, test = np.mean(means, axis=0).tolist()
    return Row(what=what, who=who, repeats=1, values={"seconds": seconds[0], "training_map": training, "map": test})


def _training(part: Part) -> tuple[Any, Any, Any]:
    return part.X, part.y, part.qid


def _trials(folder: Path, topics: range) -> list[Trial]:
    """Normalize the scores of the runs, and split the topics."""
    pool = pool_runs(load_runs(folder / "runs"), load_qrels(folder / "qrels.txt"), topics=topics)
    X = FillMissing(0.0).fit_transform(QueryMinMax().fit_transform(pool.X, qid=pool.qid))
    names = np.array(pool.topics)

    def part(queries: tuple[int, ...]) -> Part:
        rows = np.isin(pool.qid, names[list(queries)])
        return Part(X[rows], pool.y[rows], pool.qid[rows])

    splits = balanced_splits(len(names), trials=TRIALS, train=TRAIN, validation=VALIDATION, random_state=0)
    return [tuple(map(part, split)) for split in splits]


def _one_query(who: str, ranker: WeightSearch, documents: int, size: Size) -> Row:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((documents, 20))
    utility = X @ rng.standard_normal(20) + 3.0 * rng.standard_normal(documents)
    y = utility > np.quantile(utility, 0.95)
    ranker.fit(X, y)
    seconds, fitted = clock(lambda: ranker.fit(X, y), size.repeats)
    values = {"seconds": float(np.median(seconds)), "fastest": min(seconds), "training_map": fitted.map_}
    return Row(what=ONE, who=who, repeats=len(seconds), values=values)


def targets(rows: list[Row]) -> Iterator[Target]:
    yield Target("weight search, 20 terms and 1000 documents", 10.0, pick(rows, "seconds", what=ONE), unit="s")
    for what in (WHAT, *ROBUST):
        ours, theirs = (pick(rows, "training_map", what=what, who=who) for who in ("WeightSearch", "Ranker"))
        lead = None if ours is None or theirs is None else ours - theirs
        yield Target(f"{what}: training MAP of weight search above SVM-map", 0.0, lead, at_least=True)
