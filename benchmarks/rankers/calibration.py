"""Reliability of probabilities of relevance, before and after calibration, on held-out queries."""

import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.isotonic import IsotonicRegression

from benchmarks.harness.data import letor_folder, robust_folder, robust_pools
from benchmarks.harness.folds import Fold, partition, read_folds
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, without_data
from structsvm import Ranker
from structsvm.data import RankingData
from structsvm.foundation.queries import Queries
from structsvm.foundation.types import Matrix, Vector
from structsvm.models.calibration import METHODS, Calibration, row_shares
from structsvm.rankers import LambdaMART

TITLE = "Calibrated probabilities"
ABOUT = """
Probabilities of relevance (label above 0) of the documents of test queries, in the five folds of MQ2008 and in five
folds of Robust 2003. A fold has three parts to train, one to calibrate and one to test. The documents of Robust 2003
are pools of 17 submissions to a depth of 50, and figures are means of four re-partitions. Rankers are
`Ranker("map", C=10)` and `LambdaMART(100)`, neither tuned. Without calibration there are two baselines: the logistic
function of the score as it is, and the share of relevant documents in the calibration queries for every document. All
queries have equal weight. Brier score and log loss reward both calibration and resolution. The calibration error is the
expected one in 10 bins of equal weight, which a small test set keeps above 0 (the constant's is the difference
between folds). MCB is the miscalibration part of the Brier score (Dimitriadis, Gneiting and Jordan, "Stable
reliability diagrams for probabilistic classifiers", 2021): the gain of an isotonic recalibration on the test queries.
It has no bins, and is also above 0 by chance.
"""

BINS = 10
REPARTITIONS = 4

Predictions = dict[str, list[Vector]]


def run(size: Size) -> Iterator[Row]:
    for what, sets in _data(size):
        if not sets:
            yield without_data(what, "Calibration", what)
            continue
        yield from _rows(f"{what}, Ranker", sets, _linear)
        if find_spec("lightgbm") is None:
            yield Row(what=f"{what}, LambdaMART", who="LightGBM", note="not installed")
        else:
            yield from _rows(f"{what}, LambdaMART", sets, _boosted)


def _linear() -> Ranker:
    return Ranker("map", C=10.0)


def _boosted() -> LambdaMART:
    return LambdaMART(100, params={"num_threads": 1, "deterministic": True}, random_state=0)


def _data(size: Size) -> Iterator[tuple[str, list[list[Fold]]]]:
    letor = letor_folder()
    yield "MQ2008", [] if letor is None else [read_folds(letor)]
    known = robust_folder() is not None
    pools = robust_pools(depth=50) if known else None
    yield "Robust 2003", [] if pools is None else [partition(pools, seed, size) for seed in range(REPARTITIONS)]


def _rows(what: str, sets: list[list[Fold]], create: Callable[[], Any]) -> Iterator[Row]:
    found = [_measured(folds, create) for folds in sets]
    for who in found[0]:
        values = {name: float(np.mean([each[who][name] for each in found])) for name in found[0][who]}
        yield Row(what=what, who=who, values=values)


def _measured(folds: list[Fold], create: Callable[[], Any]) -> dict[str, dict[str, float]]:
    """Return the measures of each kind of probabilities, over the test queries of all folds."""
    parts: Predictions = {}
    for fold in folds:
        for who, probabilities in _probabilities(fold, create):
            parts.setdefault(who, []).append(probabilities)
    tests = [test for _, _, test in folds]
    relevant = np.concatenate([test.y > 0 for test in tests])
    weights = np.concatenate([_weights(test) for test in tests])
    queries = Queries.of(np.concatenate([test.qid for test in tests]), len(relevant))
    return {who: _measures(np.concatenate(each), relevant, weights, queries) for who, each in parts.items()}


def _probabilities(fold: Fold, create: Callable[[], Any]) -> Iterator[tuple[str, Vector]]:
    train, other, test = fold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = create().fit(train.X, train.y, qid=train.qid)
    scores, known, learned = (ranker.predict(part.X) for part in (test, other, train))
    yield "the same for all", np.full(len(scores), np.average(other.y > 0, weights=_weights(other)))
    yield "logistic of the score", 1.0 / (1.0 + np.exp(-scores))
    for method in METHODS:
        yield method, Calibration.of(known, other.y, other.qid, method=method).probabilities(scores)
    for method in METHODS:
        fitted = Calibration.of(learned, train.y, train.qid, method=method)
        yield f"{method}, on training queries", fitted.probabilities(scores)


def _weights(data: RankingData) -> Vector:
    queries = Queries.of(data.qid, len(data.y))
    return row_shares(queries, np.ones(len(queries)))


def _measures(found: Vector, relevant: Any, weights: Vector, queries: Queries) -> dict[str, float]:
    squares = (found - relevant) ** 2
    # The mean of a query's documents, shape (Q,).
    per_query = np.bincount(queries.number, squares * weights)
    brier = float(per_query.mean())
    best = IsotonicRegression().fit(found, relevant, weights).predict(found)
    return {
        "brier": brier,
        "error": float(per_query.std(ddof=1) / len(per_query) ** 0.5),
        "log_loss": float(np.average(-np.log(np.where(relevant, found, 1.0 - found)), weights=weights)),
        "calibration_error": _expected_error(np.array([found, relevant, weights])),
        "miscalibration": brier - float(np.average((best - relevant) ** 2, weights=weights)),
    }


def _expected_error(rows: Matrix) -> float:
    """Return the mean absolute difference of probability and share over bins of equal weight."""
    found, relevant, weights = rows[:, np.argsort(rows[0], kind="stable")]
    share = np.cumsum(weights) / weights.sum()
    bins = np.minimum((share * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, weights * (found - relevant))).sum() / weights.sum())


def targets(rows: list[Row]) -> Iterator[Target]:
    yield from ()
