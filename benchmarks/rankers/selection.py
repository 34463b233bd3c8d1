"""Features chosen by elimination, and importances by shuffling, beside scikit-learn's."""

import warnings
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np
import sklearn
from attrs import frozen

from benchmarks.harness.data import letor_folder
from benchmarks.harness.folds import read_folds
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick, quotient, without_data
from structsvm import Ranker
from structsvm.data import RankingData
from structsvm.estimators import FeatureEliminationCV
from structsvm.foundation.types import IntVector, Vector
from structsvm.inspection import query_permutation_importance
from structsvm.metrics import AP

TITLE = "Which features matter"
ABOUT = """
MQ2008, all 46 features, `Ranker("map", C=10)`. Elimination: `FeatureEliminationCV` in steps of one feature, on the
training part of each of the five folds; MAP is over the test queries of all folds, with a 95 % interval over queries.
The differences are from all features, with their standard error over queries. Time: these 276 fits and their
evaluation, in CPU seconds, beside scikit-learn's `RFECV` on the same ranker, splits and measure, with metadata routing
(it drops features by squared weight, whatever their scale). Importance: one model of the first fold, its test queries,
five shuffles; compared with scikit-learn's `permutation_importance`, which shuffles across queries. Rank correlations
are Spearman's: scikit-learn's importances with ours, and ours with another seed.
"""

C = 10.0
SHOWN = (46, 35, 25, 20, 15, 10, 7, 5, 3, 2, 1)
ELIMINATION, IMPORTANCE = "MQ2008: elimination, five folds", "MQ2008: importance, one model"
OURS, THEIRS = "this library", "scikit-learn"


@frozen(eq=False)
class Folds:
    """All queries, and the training and test rows of each fold."""

    data: RankingData
    splits: list[tuple[IntVector, IntVector]]

    @classmethod
    def read(cls, size: Size) -> "Folds | None":
        folder = letor_folder()
        if folder is None:
            return None
        folds = read_folds(folder)
        tests = [fold[2] for fold in folds]
        X, y, qid = (np.concatenate([getattr(test, name) for test in tests]) for name in ("X", "y", "qid"))
        kept = np.isin(qid, np.unique(qid)[:: max(1, round(1.0 / size.scale))])
        X, y, qid = X[kept], y[kept], qid[kept]
        parts = [[np.flatnonzero(np.isin(qid, part.qid)) for part in (fold[0], fold[2])] for fold in folds]
        return cls(RankingData(X, y, qid, None), [(train, test) for train, test in parts])


def run(size: Size) -> Iterator[Row]:
    folds = Folds.read(size)
    if folds is None:
        yield without_data(ELIMINATION, OURS)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from _elimination(folds)
        yield from _importance(folds)


def _elimination(folds: Folds) -> Iterator[Row]:
    X, y, qid = folds.data.X, folds.data.y, folds.data.qid
    ours = FeatureEliminationCV(Ranker("map", C), cv=folds.splits)
    seconds, found = _timed(lambda: ours.fit(X, y, qid))
    by_query, sizes = found.scores_by_query_, found.sizes_.tolist()
    for number in SHOWN:
        k = sizes.index(number)
        ahead = by_query[k] - by_query[-1]
        values = {"map": found.mean_scores_[k], "low": found.intervals_[k, 0], "high": found.intervals_[k, 1]}
        values |= {"ahead": ahead.mean(), "error": ahead.std() / len(ahead) ** 0.5}
        yield Row(what=f"MQ2008: {number} features", who=OURS, C=C, values={key: float(v) for key, v in values.items()})
    yield Row(what=ELIMINATION, who=OURS, C=C, repeats=2, values={"cpu": seconds})
    with sklearn.config_context(enable_metadata_routing=True):
        from sklearn.feature_selection import RFECV
        from sklearn.metrics import make_scorer

        scorer = make_scorer(_average_precision).set_score_request(qid=True)
        theirs = RFECV(Ranker("map", C), cv=folds.splits, scoring=scorer)
        seconds, _ = _timed(lambda: theirs.fit(X, y, qid=qid), once=True)
    yield Row(what=ELIMINATION, who=THEIRS, C=C, repeats=1, values={"cpu": seconds})


def _importance(folds: Folds) -> Iterator[Row]:
    from scipy.stats import spearmanr
    from sklearn.inspection import permutation_importance

    X, y, qid = folds.data.X, folds.data.y, folds.data.qid
    train, test = folds.splits[0]
    ranker = Ranker("map", C).fit(X[train], y[train], qid=qid[train])
    X, y, qid = X[test], y[test], qid[test]

    def ours(seed: int) -> Vector:
        return query_permutation_importance(ranker, X, y, qid, random_state=seed).importances

    def measured(estimator: Any, rows: Any, labels: Any) -> float:
        return float(estimator.score(rows, labels, qid=qid))

    def theirs() -> Vector:
        return np.asarray(permutation_importance(ranker, X, y, scoring=measured, random_state=0).importances_mean)

    seconds, found = _timed(lambda: ours(0))
    values = {"cpu": seconds, "rank": float(spearmanr(found, ours(1))[0])}
    yield Row(what=IMPORTANCE, who=OURS, C=C, repeats=2, values=values)
    seconds, other = _timed(theirs)
    yield Row(
        what=IMPORTANCE, who=THEIRS, C=C, repeats=2, values={"cpu": seconds, "rank": float(spearmanr(found, other)[0])}
    )


def _average_precision(labels: Vector, scores: Vector, qid: IntVector) -> float:
    return AP().mean(scores, labels, qid)


def _timed(work: Callable[[], Any], *, once: bool = False) -> tuple[float, Any]:
    """Return the CPU seconds and the result of a work, of its second time unless ``once``; the first compiles."""
    for _ in range(1 if once else 2):
        began = process_time()
        found = work()
        seconds = process_time() - began
    return seconds, found


def targets(rows: list[Row]) -> Iterator[Target]:
    for what, limit in ((ELIMINATION, 3.0), (IMPORTANCE, 1.0)):
        times = (pick(rows, "cpu", what=what, who=who) for who in (THEIRS, OURS))
        yield Target(f"{what}: times faster than scikit-learn", limit, quotient(*times), at_least=True)
    ten = [row.values["ahead"] / row.values["error"] for row in rows if row.what == "MQ2008: 10 features"]
    yield Target("MQ2008: MAP of 10 features, in standard errors from all", -1.0, min(ten, default=None), at_least=True)
