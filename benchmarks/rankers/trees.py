"""Trees whose leaf values are learned together, beside linear models, bins, LightGBM and XGBoost."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from itertools import product
from time import process_time
from typing import Any

import numpy as np
from attrs import frozen

from benchmarks.harness.data import letor_folder, robust_folder, robust_pools
from benchmarks.harness.folds import CS, Fold, partition, read_folds
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, without_data
from structsvm import Ranker
from structsvm.data import RankingData
from structsvm.features import Thresholds
from structsvm.foundation.types import Matrix, Vector
from structsvm.metrics import Measure, parse_measure, rank_lists
from structsvm.rankers import LambdaMART, TreeRanker
from structsvm.rankers.tree_ranker import SAMPLED

TITLE = "Trees under the certificate"
ABOUT = """
Test MAP and NDCG@10 of `TreeRanker` and other rankers, over re-partitions of the queries in five folds of three parts
to train, one to validate and one to test. There are four re-partitions of MQ2008, and four of Robust 2003 (the pools of
17 submissions to a depth of 50, their min-max normalized scores as features). Three made sets have one re-partition
each: 300 queries of 40 documents and 20 normal features. Their utility is the product of two features, plus the smaller
of two other features, plus 1 if two more differ in sign, plus a linear term and noise; the best 10 % are relevant. Two
more sets of the shape of MSLR have one re-partition each: 200 queries of 100 documents with 136 features and grades 0
to 4 of the same kind of utility. Queries without a relevant document count as 0.

Validation chooses everything: each measure is for the candidate with the best validation value of this measure. Linear
models, bins and `TreeRanker` learn from `map` unless the row says otherwise, and choose C among nine values, from 0.01
to 100. LightGBM has trees of 4, 8 or 16 leaves, at learning rate 0.1, and the best of its first 1 to 200 trees: 600
models. XGBoost has the same leaves, objectives `rank:ndcg` and, for two grades, `rank:map`, and the best of its first
10, 20, ... 200 trees: 120 models, or 60. LightGBM samples 80 % of the rows and 60 % of the features for each tree, as
`TreeRanker` does, whose other settings are its defaults. "ahead" is the mean of the differences, query by query, from
LightGBM, and its standard error over queries. CPU seconds are per fold, all choices included.
"""

LEAVES, MOST = (4, 8, 16), 200
LIGHTGBM, DEFAULT = "LightGBM, tuned", "TreeRanker"
MEASURES = parse_measure("map"), parse_measure("ndcg@10")

Scores = Iterator[tuple[Vector, Vector]]


@frozen
class System:
    """A way to train, which yields scores of the validation and of the test part for each candidate."""

    name: str
    candidates: Callable[[Fold, int], Scores]
    needs: str = "numpy"


def run(size: Size) -> Iterator[Row]:
    for name, folder in (("MQ2008", letor_folder()), ("robust03", robust_folder())):
        if folder is None:
            yield without_data(name, DEFAULT, name)
    for what, sets in data_sets(size):
        yield from compared(what, sets, SYSTEMS, LIGHTGBM)


def targets(rows: list[Row]) -> Iterator[Target]:
    for what in dict.fromkeys(row.what for row in rows):
        found = {row.who: row.values for row in rows if row.what == what and "map" in row.values}
        if DEFAULT not in found or LIGHTGBM not in found:
            continue
        ours = found[DEFAULT]
        yield Target(f"{what}: MAP ahead of tuned LightGBM", 0.0, ours["ahead"], at_least=True)
        behind = max(each["map"] for each in found.values()) - ours["map"]
        yield Target(f"{what}: MAP behind the best, in standard errors", 1.0, behind / max(ours["error"], 1e-9))
        lost = (found[LIGHTGBM]["ndcg"] - ours["ndcg"]) / max(ours["ndcg_error"], 1e-9)
        yield Target(f"{what}: NDCG@10 behind LightGBM, in standard errors", 1.0, lost)


def data_sets(size: Size) -> Iterator[tuple[str, list[list[list[Fold]]]]]:
    """Yield the name of each kind of data that there is, and the re-partitions of each of its sets."""
    folder = letor_folder()
    if folder is not None:
        data = joined(*read_folds(folder)[0])
        yield "MQ2008", [[partition(data, seed, size) for seed in range(4)]]
    if robust_folder() is not None:
        robust = robust_pools(depth=50)
        yield "Robust 2003", [[partition(robust, seed, size) for seed in range(4)]]
    yield "products", [[partition(made(300, 40, 20, seed), seed, size)] for seed in range(3)]
    yield "shape of MSLR", [[partition(made(200, 100, 136, seed, graded=True), seed, size)] for seed in range(3, 5)]


def made(queries: int, documents: int, features: int, seed: int, *, graded: bool = False) -> RankingData:
    """Make queries whose utility is a product, a minimum and an exclusive or of features, a linear term and noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((queries * documents, features))
    utility = X[:, 0] * X[:, 1] + np.minimum(X[:, 2], X[:, 3]) + ((X[:, 4] > 0.0) ^ (X[:, 5] > 0.0)) + 0.3 * X[:, 6]
    table = (utility + 0.5 * rng.standard_normal(len(X))).reshape(queries, documents)
    ends = np.quantile(table, (0.52, 0.84, 0.97, 0.99) if graded else 0.9)
    y = np.searchsorted(np.atleast_1d(ends), table.ravel()).astype(np.float64)
    return RankingData(X, y, np.repeat(np.arange(queries), documents), None)


def joined(*parts: RankingData) -> RankingData:
    """Return the queries of all parts."""
    X, y, qid = (np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "y", "qid"))
    return RankingData(X, y, qid, None)


def compared(what: str, sets: list[list[list[Fold]]], systems: Sequence[System], reference: str) -> Iterator[Row]:
    """Yield a row for each system, with its differences from the reference."""
    found: dict[str, tuple[Matrix, float]] = {}
    for system in systems:
        if find_spec(system.needs) is None:
            yield Row(what=what, who=system.name, note=f"{system.needs} is not installed")
            continue
        began = process_time()
        values = np.hstack([_by_query(system, partitions) for partitions in sets])
        folds_in_all = sum(len(folds) for partitions in sets for folds in partitions)
        found[system.name] = values, (process_time() - began) / folds_in_all
    base = found.get(reference, next(iter(found.values())))[0]
    for name, (values, seconds) in found.items():
        ahead = values - base
        error = ahead.std(axis=1) / np.sqrt(ahead.shape[1])
        numbers = {"cpu": seconds, "map": values[0].mean(), "ahead": ahead[0].mean(), "error": error[0]}
        numbers |= {"ndcg": values[1].mean(), "ndcg_ahead": ahead[1].mean(), "ndcg_error": error[1]}
        yield Row(what=what, who=name, repeats=1, values={key: float(value) for key, value in numbers.items()})


def _by_query(system: System, partitions: list[list[Fold]]) -> Matrix:
    """Return MAP and NDCG@10 of each query of one data set, means over its re-partitions."""
    values = []
    for seed, folds in enumerate(partitions):
        tested = np.hstack([_tested(system, fold, seed) for fold in folds])
        values.append(tested[1:, np.argsort(tested[0])])
    # Re-partitions test the same queries, so they count as one sample.
    return np.asarray(np.mean(values, axis=0))


def _tested(system: System, fold: Fold, seed: int) -> Matrix:
    """Return the id, MAP and NDCG@10 of each test query, each by the candidate with the best validation value."""
    _, valid, test = fold
    best: dict[Measure, tuple[float, Vector]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for held, scores in system.candidates(fold, seed):
            for measure in MEASURES:
                value = measure.mean(held, valid.y, valid.qid)
                if measure not in best or value > best[measure][0]:
                    best[measure] = value, scores
    values = [measure.values(rank_lists(best[measure][1], test.y, test.qid)) for measure in MEASURES]
    return np.array([np.unique(test.qid), *np.nan_to_num(values)])


def path(ranker: Any, fold: Fold) -> Scores:
    train, valid, test = fold
    for fitted in ranker.path(train.X, train.y, train.qid, Cs=CS):
        yield fitted.predict(valid.X), fitted.predict(test.X)


def _linear(fold: Fold, seed: int) -> Scores:
    return path(Ranker("map", n_jobs=1), fold)


def _bins(fold: Fold, seed: int) -> Scores:
    thresholds = Thresholds(bins=30, spacing="quantile").fit(fold[0].X)
    parts = [RankingData(thresholds.transform(part.X), part.y, part.qid, None) for part in fold]
    return path(Ranker("map", n_jobs=1), (parts[0], parts[1], parts[2]))


def _lightgbm(fold: Fold, seed: int) -> Scores:
    train, valid, test = fold
    for leaves in LEAVES:
        ranker = LambdaMART(MOST, num_leaves=leaves, random_state=seed, params={"num_threads": 1, **SAMPLED})
        ranker.fit(train.X, train.y, train.qid)
        yield from zip(ranker.staged_predict(valid.X), ranker.staged_predict(test.X), strict=True)


def _xgboost(fold: Fold, seed: int) -> Scores:
    import xgboost

    train, valid, test = (xgboost.DMatrix(part.X, qid=np.unique(part.qid, return_inverse=True)[1]) for part in fold)
    train.set_label(fold[0].y)
    for leaves, objective in product(LEAVES, ("rank:map", "rank:ndcg")):
        if objective == "rank:map" and fold[0].y.max() > 1:
            continue
        shape = {"max_leaves": leaves, "max_depth": 0, "grow_policy": "lossguide", "tree_method": "hist", "eta": 0.1}
        sampled = {"subsample": 0.8, "colsample_bytree": 0.6, "seed": seed, "nthread": 1}
        booster = xgboost.train({"objective": objective, **shape, **sampled}, train, MOST)
        for trees in range(10, MOST + 1, 10):
            first = {"iteration_range": (0, trees), "output_margin": True}
            yield booster.predict(valid, **first), booster.predict(test, **first)


def _leaves(fold: Fold, seed: int) -> Scores:
    return path(TreeRanker("map", features=False, trees="lightgbm", random_state=seed, n_jobs=1), fold)


def _trees(fold: Fold, seed: int) -> Scores:
    return path(TreeRanker("map", trees="lightgbm", random_state=seed, n_jobs=1), fold)


def _trees_for_ndcg(fold: Fold, seed: int) -> Scores:
    return path(TreeRanker("ndcg", trees="lightgbm", random_state=seed, n_jobs=1), fold)


def _plain(fold: Fold, seed: int) -> Scores:
    return path(TreeRanker("map", trees="scikit-learn", random_state=seed, n_jobs=1), fold)


SYSTEMS = (
    System("linear", _linear),
    System("bins of single features", _bins),
    System(LIGHTGBM, _lightgbm, "lightgbm"),
    System("XGBoost, tuned", _xgboost, "xgboost"),
    System("leaves alone, refitted", _leaves, "lightgbm"),
    System(DEFAULT, _trees, "lightgbm"),
    System("TreeRanker, loss ndcg", _trees_for_ndcg, "lightgbm"),
    System("TreeRanker, trees of scikit-learn", _plain),
)
