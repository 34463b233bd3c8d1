"""Rankers without any settings, and with settings chosen by validation, beside LightGBM and XGBoost."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import islice, product
from time import process_time
from typing import Any

import numpy as np
from attrs import frozen

from benchmarks.harness.data import letor_folder, robust_folder, robust_pools
from benchmarks.harness.folds import CS, Fold, partition, read_folds
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, without_data
from structsvm import Ranker
from structsvm.data import RankingData, load_digits_queries
from structsvm.foundation.types import Matrix, Vector
from structsvm.metrics import Measure, parse_measure, rank_lists
from structsvm.rankers import LambdaMART, TreeRanker
from structsvm.rankers.tree_ranker import CS as TREE_CS
from structsvm.rankers.tree_ranker import SAMPLED

TITLE = "Trees under the certificate"
ABOUT = """
Test MAP and NDCG@10 over a partition of the queries in five folds, of three parts to train, one to validate and one to
test: MQ2008; Robust 2003 (the pools of 17 submissions to a depth of 50, their min-max normalized scores as features);
120 queries of digits; and four made sets with interactions. Three of them have 300 queries of 40 documents with 20
normal features. The utility of "products" is the product of two features, plus the smaller of two others, plus 1 if two
more differ in sign, plus a linear term; of "rules" the weights of rules of two or three thresholds; of "distances"
negative distances between two features and from a point. "shape of MSLR" has 150 queries of 60 documents with 136
features and the utility of "products". All have noise. The best 10 % are relevant; "distances" and "shape of MSLR" have
grades 0 to 4. Queries without a relevant document count as 0.

Rankers with parentheses in their names have no other settings, and never see the validation part. `TreeRanker` then
holds out a quarter of the training queries to choose C, and with `measure="ndcg@10"` also the loss. For all others,
validation chooses everything, for each measure by its own values: for `Ranker` among nine values of C, from 0.01 to
100; for `TreeRanker` among eight, from 1 to 3000, and the losses `map` and `ndcg`; for LightGBM among trees of 4, 8 or
16 leaves, at learning rate 0.1, with and without a sample of 80 % of the rows and 60 % of the features for each tree,
and the best of the first 5, 10, ... 300 trees: 360 models. XGBoost has the same leaves, always samples, trains
`rank:ndcg` or, for two grades, `rank:map`, and has the best of the first 10, 20, ... 300 trees. `TreeRanker` always
samples. LightGBM's default is not to sample, and the row "not sampled" is LightGBM tuned without samples. "ahead" is
the mean of the differences, query by query, from tuned LightGBM, and its standard error over queries. CPU seconds are
per fold, all choices included.
"""

LEAVES, MOST = (4, 8, 16), 300
LIGHTGBM, DEFAULT, FOR_NDCG = "LightGBM, tuned", "TreeRanker()", 'TreeRanker(measure="ndcg@10")'
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
    for what, folds in data_sets(size):
        yield from compared(what, folds, SYSTEMS, LIGHTGBM)


def targets(rows: list[Row]) -> Iterator[Target]:
    for what in dict.fromkeys(row.what for row in rows):
        found = {row.who: row.values for row in rows if row.what == what and "map" in row.values}
        for who, measure, ahead, error in (
            (DEFAULT, "MAP", "ahead", "error"),
            (FOR_NDCG, "NDCG", "ndcg_ahead", "ndcg_error"),
        ):
            if who in found and LIGHTGBM in found:
                lead = found[who][ahead] / max(found[who][error], 1e-9)
                yield Target(f"{what}: {measure} of {who} ahead of LightGBM, in errors", -1.0, lead, at_least=True)


def data_sets(size: Size) -> Iterator[tuple[str, list[Fold]]]:
    """Yield the name of each data set that there is, and its folds."""
    folder = letor_folder()
    if folder is not None:
        yield "MQ2008", partition(joined(*read_folds(folder)[0]), 0, size)
    if robust_folder() is not None:
        yield "Robust 2003", partition(robust_pools(depth=50), 0, size)
    yield "digits", partition(joined(*load_digits_queries(n_train=60, n_test=60, n_candidates=100)), 0, size)
    yield "products", partition(made(300, 40, 20, 0), 0, size)
    yield "rules", partition(made(300, 40, 20, 1, utility=rules), 0, size)
    yield "distances", partition(made(300, 40, 20, 2, utility=distances, graded=True), 0, size)
    yield "shape of MSLR", partition(made(150, 60, 136, 3, graded=True), 0, size)


def products(X: Matrix) -> Vector:
    """Return a product, a minimum and an exclusive or of features, and a linear term."""
    return np.asarray(
        X[:, 0] * X[:, 1] + np.minimum(X[:, 2], X[:, 3]) + ((X[:, 4] > 0.0) ^ (X[:, 5] > 0.0)) + 0.3 * X[:, 6]
    )


def rules(X: Matrix) -> Vector:
    """Return the number of rules that hold, each with its weight: two or three features beyond thresholds."""
    both, either = (X[:, 0] > 0.0) & (X[:, 1] > 0.3), (X[:, 2] < -0.5) | (X[:, 3] > 0.8)
    return np.asarray(1.5 * both + either + ((X[:, 4] > 0.0) & (X[:, 5] > 0.0) & (X[:, 6] < 0.5)))


def distances(X: Matrix) -> Vector:
    """Return negative distances, of two features from each other and of one from a point, and a linear term."""
    return np.asarray(-np.abs(X[:, 0] - X[:, 1]) - 0.5 * (X[:, 2] - 0.5) ** 2 + 0.3 * X[:, 3])


def made(
    queries: int,
    documents: int,
    features: int,
    seed: int,
    *,
    utility: Callable[[Matrix], Vector] = products,
    graded: bool = False,
) -> RankingData:
    """Make queries of documents with normal features; grades follow a utility of the features with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((queries * documents, features))
    table = (utility(X) + 0.5 * rng.standard_normal(len(X))).reshape(queries, documents)
    ends = np.quantile(table, (0.52, 0.84, 0.97, 0.99) if graded else 0.9)
    y = np.searchsorted(np.atleast_1d(ends), table.ravel()).astype(np.float64)
    return RankingData(X, y, np.repeat(np.arange(queries), documents), None)


def joined(*parts: RankingData) -> RankingData:
    """Return the queries of all parts."""
    X, y, qid = (np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "y", "qid"))
    return RankingData(X, y, qid, None)


def compared(what: str, folds: list[Fold], systems: Sequence[System], reference: str) -> Iterator[Row]:
    """Yield a row for each system, with its differences from the reference."""
    found: dict[str, tuple[Matrix, float]] = {}
    for system in systems:
        if find_spec(system.needs) is None:
            yield Row(what=what, who=system.name, note=f"{system.needs} is not installed")
            continue
        began = process_time()
        values = np.hstack([_tested(system, fold, seed) for seed, fold in enumerate(folds)])
        found[system.name] = values, (process_time() - began) / len(folds)
    base = found.get(reference, next(iter(found.values())))[0]
    for name, (values, seconds) in found.items():
        ahead = values - base
        error = ahead.std(axis=1) / np.sqrt(ahead.shape[1])
        numbers = {"cpu": seconds, "map": values[0].mean(), "ahead": ahead[0].mean(), "error": error[0]}
        numbers |= {"ndcg": values[1].mean(), "ndcg_ahead": ahead[1].mean(), "ndcg_error": error[1]}
        yield Row(what=what, who=name, repeats=1, values={key: float(value) for key, value in numbers.items()})


def _tested(system: System, fold: Fold, seed: int) -> Matrix:
    """Return MAP and NDCG@10 of each test query, each by the candidate with the best validation value."""
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
    return np.nan_to_num(values)


def _fitted(ranker: Any, fold: Fold) -> Scores:
    train, valid, test = fold
    ranker.fit(train.X, train.y, train.qid)
    yield ranker.predict(valid.X), ranker.predict(test.X)


def path(ranker: Any, fold: Fold, Cs: Sequence[float]) -> Scores:
    train, valid, test = fold
    for fitted in ranker.path(train.X, train.y, train.qid, Cs=Cs):
        yield fitted.predict(valid.X), fitted.predict(test.X)


def _trees(fold: Fold, seed: int) -> Scores:
    for loss in ("map", "ndcg"):
        yield from path(TreeRanker(loss, random_state=seed, tol=1e-4, n_jobs=1), fold, TREE_CS)


def _lightgbm(fold: Fold, seed: int, samples: Sequence[Mapping[str, float]] = (SAMPLED, {})) -> Scores:
    train, valid, test = fold
    for leaves, sampled in product(LEAVES, samples):
        ranker = LambdaMART(MOST, num_leaves=leaves, random_state=seed, params={"num_threads": 1, **sampled})
        ranker.fit(train.X, train.y, train.qid)
        staged = zip(ranker.staged_predict(valid.X), ranker.staged_predict(test.X), strict=True)
        yield from islice(staged, 4, None, 5)


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


SYSTEMS = (
    System("Ranker()", lambda fold, seed: _fitted(Ranker(n_jobs=1), fold)),
    System("Ranker, tuned", lambda fold, seed: path(Ranker("map", n_jobs=1), fold, CS)),
    System(LIGHTGBM, _lightgbm, "lightgbm"),
    System("LightGBM, tuned, not sampled", partial(_lightgbm, samples=({},)), "lightgbm"),
    System("XGBoost, tuned", _xgboost, "xgboost"),
    System(DEFAULT, lambda fold, seed: _fitted(TreeRanker(random_state=seed, n_jobs=1), fold), "lightgbm"),
    System(
        FOR_NDCG,
        lambda fold, seed: _fitted(TreeRanker(measure="ndcg@10", random_state=seed, n_jobs=1), fold),
        "lightgbm",
    ),
    System("TreeRanker, tuned", _trees, "lightgbm"),
)
