"""C by cross-validation on MQ2008: warm-started paths against a grid search from cold."""

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold

from benchmarks.harness.data import letor_folder
from benchmarks.harness.folds import CS, read_folds
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick, quotient, without_data
from structsvm import Ranker, RankerCV
from structsvm.data import RankingData

TITLE = "C by cross-validation, and GridSearchCV"
ABOUT = """
The training queries of fold 1 of LETOR's MQ2008, nine values of C from 0.01 to 100, the five folds of `GroupKFold(5)`,
MAP of held-out queries, and a fit to all queries at the chosen C. `RankerCV` fits a path of C on each fold,
`GridSearchCV` each C from cold. They take turns; CPU seconds are medians. With `tol=1e-4`, because the three best means
are within 0.001 of each other, and fits to `tol=1e-3` from different starts differ by up to 0.002.
"""

LOSSES = {"map": "MAP", "ndcg@10": "NDCG"}
TOL = 1e-4


def run(size: Size) -> Iterator[Row]:
    folder = letor_folder()
    if folder is None:
        yield without_data("C by 5 folds", "RankerCV")
        return
    train = read_folds(folder)[0][0]
    for loss, name in LOSSES.items():
        yield from _by_turns(Ranker(loss, measure="map", tol=TOL), f"{name}, C by 5 folds", train, size.repeats)


def _by_turns(ranker: Ranker, what: str, train: RankingData, repeats: int) -> Iterator[Row]:
    X, y, qid = train.X, train.y, train.qid
    searches: dict[str, Callable[[], Any]] = {
        "RankerCV": lambda: RankerCV(ranker, CS, cv=GroupKFold(5)).fit(X, y, qid=qid),
        "GridSearchCV": lambda: GridSearchCV(ranker, {"C": CS}, cv=GroupKFold(5)).fit(X, y, qid=qid, groups=qid),
    }
    seconds: dict[str, list[float]] = {who: [] for who in searches}
    found: dict[str, Any] = {}
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of features of different scales, in each fold
        for turn in range(repeats + 1):  # the first compiles
            for who, search in searches.items():
                began = time.process_time()
                found[who] = search()
                if turn:
                    seconds[who].append(time.process_time() - began)
    chosen = {"RankerCV": found["RankerCV"].C_, "GridSearchCV": found["GridSearchCV"].best_params_["C"]}
    for who in searches:
        values = {"cpu": float(np.median(seconds[who])), "held_out": float(found[who].best_score_)}
        yield Row(what=what, who=who, C=chosen[who], repeats=repeats, values=values)


def targets(rows: list[Row]) -> Iterator[Target]:
    for name in LOSSES.values():
        path, grid = (pick(rows, "cpu", what=f"{name}, C by 5 folds", who=who) for who in ("RankerCV", "GridSearchCV"))
        yield Target(f"CPU seconds of RankerCV over GridSearchCV, {name}", 1.0, quotient(path, grid))
