"""Which trees are best to refit, and by which loss."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target
from benchmarks.rankers.trees import TREE_CS, Fold, Scores, System, compared, data_sets, made, partition, path
from structsvm.data import RankingData
from structsvm.foundation.types import Vector
from structsvm.objectives import LightGBMHinge
from structsvm.rankers import TreeRanker, refit
from structsvm.rankers.tree_ranker import SAMPLED

TITLE = "Which trees to refit"
ABOUT = """
`TreeRanker` over trees that were grown in other ways than by its defaults: LightGBM's lambdarank, 200 trees of 8
leaves, and 80 % of the rows and 60 % of the features for each tree. The data are from the benchmark `trees`: one
re-partition of MQ2008 and of Robust 2003, two of the made sets of products, and one of the shape of MSLR. "ahead" is
from the defaults; its standard error is over queries. Validation chooses C, and in one row the number of trees, for
each measure by its own values. "column generation" starts with 50 trees by lambdarank; three times, it refits all
leaves at C = 10 for each tree and grows 50 more trees along the gradient of the hinge at the refitted scores
(StructBoost: Shen, Lin and van den Hengel, 2014). It is not an option of `TreeRanker`, because no set gained from it.
"""

DEFAULT = "200 trees of 8 leaves"

Grower = Callable[[RankingData, int], Any]


def run(size: Size) -> Iterator[Row]:
    sets = {what: folds for what, folds in data_sets(size) if what in ("MQ2008", "Robust 2003", "products")}
    if "products" in sets:
        sets["products"] += partition(made(300, 40, 20, 1), 1, size)
    sets["shape of MSLR"] = partition(made(200, 100, 136, 3, graded=True), 3, size)
    for what, folds in sets.items():
        yield from compared(what, folds, SYSTEMS, DEFAULT)


def targets(rows: list[Row]) -> Iterator[Target]:
    for row in rows:
        if row.who != DEFAULT and row.values.get("error"):
            better = row.values["ahead"] / row.values["error"]
            yield Target(f"{row.what}: {row.who}, MAP ahead of the defaults in standard errors", 2.0, better)


def _boosted(trees: int = 200, leaves: int = 8, **params: Any) -> Grower:
    """Return a way to grow trees by LightGBM."""

    def grow(train: RankingData, seed: int) -> Any:
        import lightgbm

        given = {"objective": "lambdarank", "min_child_samples": 20, "num_threads": 1, "verbosity": -1, **SAMPLED}
        sizes = np.unique(train.qid, return_counts=True)[1]
        data = lightgbm.Dataset(train.X, train.y, group=sizes)
        return lightgbm.train({**given, "num_leaves": leaves, "seed": seed, **params}, data, trees)

    return grow


def _column_generation(train: RankingData, seed: int) -> Any:
    """Four times, grow 50 trees by the hinge of `map` and refit all leaves."""
    import lightgbm

    sizes = np.unique(train.qid, return_counts=True)[1]
    # Half of this constant is the mean size of a gradient that does not vanish.
    hinge = LightGBMHinge("map", hessian=4.0 / sizes.mean())

    def objective(scores: Vector, data: Any) -> tuple[Vector, Vector]:
        return hinge(data.get_label(), scores, None, data.get_group())

    settings = {"num_leaves": 8, "min_child_samples": 20, "num_threads": 1, "verbosity": -1, "seed": seed, **SAMPLED}
    booster = _boosted(50)(train, seed)
    for _ in range(3):
        C = 10.0 * booster.num_trees()
        refitted = refit(booster, train.X, train.y, train.qid, loss="map", C=C, tol=1e-3, n_jobs=1)
        data = lightgbm.Dataset(train.X, train.y, group=sizes, free_raw_data=False)
        booster = lightgbm.train({**settings, "objective": objective}, data, 50, init_model=refitted)
    return booster


def _forest(train: RankingData, seed: int) -> Any:
    forest = RandomForestRegressor(
        200, max_leaf_nodes=8, min_samples_leaf=20, max_features=0.6, random_state=seed, n_jobs=1
    )
    return forest.fit(train.X, train.y)


def _refitted(grow: Grower, loss: str = "map") -> Callable[[Fold, int], Scores]:
    """Return the candidates over trees that are grown like this, one for each C."""

    def candidates(fold: Fold, seed: int) -> Scores:
        return path(TreeRanker(loss, trees=grow(fold[0], seed), n_jobs=1), fold, TREE_CS)

    return candidates


def _first(fold: Fold, seed: int) -> Scores:
    """Yield the candidates over the first 25, 50, 100 and 200 trees."""
    for trees in (25, 50, 100, 200):
        yield from _refitted(_boosted(trees))(fold, seed)


SYSTEMS = tuple(
    System(name, candidates, "lightgbm")
    for name, candidates in {
        DEFAULT: _refitted(_boosted()),
        "50 trees of 8": _refitted(_boosted(50)),
        "25 to 200 trees of 8, by validation": _first,
        "50 trees of 32": _refitted(_boosted(50, 32)),
        "400 trees of 4": _refitted(_boosted(400, 4)),
        "not sampled": _refitted(_boosted(bagging_fraction=1.0, feature_fraction=1.0)),
        "column generation by the hinge": _refitted(_column_generation),
        "random forest": _refitted(_forest),
        "loss ndcg": _refitted(_boosted(), "ndcg"),
    }.items()
)
