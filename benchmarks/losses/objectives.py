"""Boosted trees and neural networks on the hinges of losses, against linear models on them and other trainers."""

import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from attrs import frozen

from benchmarks.harness.data import letor_folder
from benchmarks.harness.folds import Fold, read_folds
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick, without_data
from structsvm import Ranker
from structsvm.data import RankingData
from structsvm.evaluation.significance import paired_tests
from structsvm.features import Thresholds
from structsvm.foundation.queries import Queries
from structsvm.foundation.types import IntVector, Vector
from structsvm.metrics import Measure, parse_measure
from structsvm.objectives import Hinge, LightGBMHinge, LightGBMMeasure, XGBoostMeasure

TITLE = "Trees and networks on the hinges of losses"
ABOUT = """
MQ2008, five folds, and a made set in which a document is relevant if the product of two of its ten normal features is
large, which a linear function of features cannot learn: 100 queries to train, 50 to validate, 300 to test, of 40
documents. Each system trains several candidates, and the candidate with the best validation MAP is tested. Trees of
LightGBM and XGBoost have 7 and 31 leaves, learning rates 0.03 and 0.1, and stop early after 60 trees without a better
validation MAP, at most 500. Networks of PyTorch have 16 and 64 hidden units in two layers and two random starts; Adam
trains on all queries at once, and the best of 300 steps counts. Linear models have half decades of C. The hinge of
`ndcg@10` is over all ranks, as `Ranker` trains it. `p` are p-values of Fisher's randomization test over all test
queries, against LambdaMART and against SVM-map, not corrected for their number.
"""

LOSSES = ("map", "ndcg@10", "roc_area")
LEAVES, RATES, TREES, PATIENCE = (7, 31), (0.03, 0.1), 500, 60
HIDDEN, SEEDS, STEPS, RATE, DECAY = (16, 64), (0, 1), 300, 3e-3, 1e-2
LAMBDA_MART = "LambdaMART (LightGBM lambdarank)"
BASELINES = {LAMBDA_MART: "lambda_mart", "SVM-map": "svm_map"}
REAL, MADE = "MQ2008", "product of two features"

Candidates = Callable[[RankingData, RankingData, RankingData], Iterator[tuple[Vector, Vector]]]
"""Yields scores of the validation and the test part, once for each candidate."""

MAP, NDCG = parse_measure("map"), parse_measure("ndcg@10")


@frozen
class System:
    """A way to train, and the package that it needs."""

    name: str
    candidates: Candidates
    needs: str = "numpy"


def run(size: Size) -> Iterator[Row]:
    folder = letor_folder()
    if folder is None:
        yield without_data(REAL, "")
    else:
        yield from _table(REAL, read_folds(folder, size))
    yield from _table(MADE, [product_of_two(size.scale)])


def _table(what: str, folds: list[Fold]) -> Iterator[Row]:
    found: dict[str, tuple[Vector, Vector]] = {}
    for system in SYSTEMS:
        if find_spec(system.needs) is None:
            yield Row(what=what, who=system.name, note="not installed")
            continue
        tested = [_picked(system, fold) for fold in folds]
        found[system.name] = (_values(MAP, folds, tested), _values(NDCG, folds, tested))
        values = {"map": float(found[system.name][0].mean()), "ndcg": float(found[system.name][1].mean())}
        for baseline, name in BASELINES.items():
            if baseline in found and baseline != system.name:
                for measure, ours, theirs in zip(("map", "ndcg"), found[system.name], found[baseline], strict=True):
                    values[f"p_{measure}_{name}"] = paired_tests(ours, theirs).p_values["randomization"]
        yield Row(what=what, who=system.name, values=values)


def _picked(system: System, fold: Fold) -> Vector:
    """Return the test scores of the candidate with the best validation MAP."""
    _, valid, _ = fold
    best = max(system.candidates(*fold), key=lambda scores: MAP.mean(scores[0], valid.y, valid.qid))
    return best[1]


def _values(measure: Measure, folds: list[Fold], tested: list[Vector]) -> Vector:
    parts = [
        measure.per_query(scores, test.y, test.qid).values for scores, (_, _, test) in zip(tested, folds, strict=True)
    ]
    return np.concatenate(parts)


def product_of_two(scale: float = 1.0, documents: int = 40, seed: int = 0) -> Fold:
    """Make queries whose relevant documents have a large product of two of ten normal features."""
    rng = np.random.default_rng(seed)
    parts = []
    for queries in (100, 50, 300):
        n = max(10, round(queries * scale)) * documents
        X = rng.standard_normal((n, 10))
        y = (X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n) > 1.0).astype(np.float64)
        parts.append(RankingData(X, y, np.arange(n) // documents, None))
    return parts[0], parts[1], parts[2]


def _linear(data: Fold, Cs: tuple[float, ...], tol: float) -> Iterator[tuple[Vector, Vector]]:
    train, valid, test = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scales and of w = 0, which C from small to large has at its beginning
        for ranker in Ranker(loss="map", tol=tol).path(train.X, train.y, qid=train.qid, Cs=Cs):
            yield ranker.predict(valid.X), ranker.predict(test.X)


def _half_decades(low: int, high: int) -> tuple[float, ...]:
    return tuple(10.0 ** (k / 2) for k in range(2 * low, 2 * high + 1))


def svm_map(train: RankingData, valid: RankingData, test: RankingData) -> Iterator[tuple[Vector, Vector]]:
    yield from _linear((train, valid, test), _half_decades(-2, 3), 1e-4)


def svm_map_bins(train: RankingData, valid: RankingData, test: RankingData) -> Iterator[tuple[Vector, Vector]]:
    thresholds = Thresholds(10).fit(train.X)
    binned = [RankingData(thresholds.transform(part.X), part.y, part.qid, None) for part in (train, valid, test)]
    yield from _linear((binned[0], binned[1], binned[2]), _half_decades(-4, 2), 1e-4)


def _sizes(data: RankingData) -> IntVector:
    return Queries.of(data.qid, len(data.y)).sizes


def lightgbm_with(objective: Any) -> Candidates:
    def candidates(train: RankingData, valid: RankingData, test: RankingData) -> Iterator[tuple[Vector, Vector]]:
        import lightgbm

        for leaves in LEAVES:
            for rate in RATES:
                ranker = lightgbm.LGBMRanker(
                    objective=objective,
                    metric="None",
                    n_estimators=TREES,
                    num_leaves=leaves,
                    learning_rate=rate,
                    num_threads=1,
                    verbosity=-1,
                )
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of the names of arguments, which change with the version
                    ranker.fit(
                        train.X,
                        train.y,
                        group=_sizes(train),
                        eval_set=[(valid.X, valid.y)],
                        eval_group=[_sizes(valid)],
                        eval_metric=LightGBMMeasure("map"),
                        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
                    )
                    yield ranker.predict(valid.X), ranker.predict(test.X)

    return candidates


def xgboost_with(objective: str) -> Candidates:
    def candidates(train: RankingData, valid: RankingData, test: RankingData) -> Iterator[tuple[Vector, Vector]]:
        import xgboost

        def read(data: RankingData) -> Any:
            binary = objective == "rank:map"  # which takes no grades
            numbers = Queries.of(data.qid, len(data.y)).number
            return xgboost.DMatrix(data.X, (data.y > 0).astype(float) if binary else data.y, qid=numbers)

        parts = [read(part) for part in (train, valid, test)]
        for leaves in LEAVES:
            for rate in RATES:
                settings = {
                    "objective": objective,
                    "max_leaves": leaves,
                    "max_depth": 0,
                    "grow_policy": "lossguide",
                    "eta": rate,
                    "nthread": 1,
                    "disable_default_eval_metric": 1,
                }
                booster = xgboost.train(
                    settings,
                    parts[0],
                    num_boost_round=TREES,
                    evals=[(parts[1], "validation")],
                    custom_metric=XGBoostMeasure("map"),
                    maximize=True,
                    early_stopping_rounds=PATIENCE,
                    verbose_eval=False,
                )
                kept = (0, booster.best_iteration + 1)
                yield booster.predict(parts[1], iteration_range=kept), booster.predict(parts[2], iteration_range=kept)

    return candidates


def network_on(loss: str) -> Candidates:
    def candidates(train: RankingData, valid: RankingData, test: RankingData) -> Iterator[tuple[Vector, Vector]]:
        import torch

        from structsvm.objectives.for_torch import hinge_values

        torch.set_num_threads(1)
        mean, scale = train.X.mean(axis=0), train.X.std(axis=0)
        rows = [
            torch.from_numpy(((part.X - mean) / np.where(scale > 0.0, scale, 1.0)).astype(np.float32))
            for part in (train, valid, test)
        ]
        hinge = Hinge(loss, train.y, train.qid)
        for hidden in HIDDEN:
            for seed in SEEDS:
                torch.manual_seed(seed)
                network = torch.nn.Sequential(
                    torch.nn.Linear(rows[0].shape[1], hidden),
                    torch.nn.ReLU(),
                    torch.nn.Linear(hidden, hidden),
                    torch.nn.ReLU(),
                    torch.nn.Linear(hidden, 1),
                )
                optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
                best = -1.0, np.zeros(0), np.zeros(0)
                for _ in range(STEPS):
                    optimizer.zero_grad()
                    hinge_values(network(rows[0])[:, 0], hinge).mean().backward()
                    optimizer.step()
                    with torch.no_grad():
                        scores = network(rows[1])[:, 0].numpy()
                    value = MAP.mean(scores, valid.y, valid.qid)
                    if value > best[0]:
                        with torch.no_grad():
                            best = value, scores, network(rows[2])[:, 0].numpy()
                yield best[1], best[2]

    return candidates


SYSTEMS = (
    System(LAMBDA_MART, lightgbm_with("lambdarank"), "lightgbm"),
    System("SVM-map", svm_map),
    System("SVM-map-bins", svm_map_bins),
    System("XGBoost rank:map", xgboost_with("rank:map"), "xgboost"),
    System("XGBoost rank:ndcg", xgboost_with("rank:ndcg"), "xgboost"),
    *(System(f"LightGBM, hinge of {loss}", lightgbm_with(LightGBMHinge(loss)), "lightgbm") for loss in LOSSES),
    *(System(f"network, hinge of {loss}", network_on(loss), "torch") for loss in LOSSES),
)


def targets(rows: list[Row]) -> Iterator[Target]:
    for who in ("LightGBM, hinge of map", "network, hinge of map"):
        found = pick(rows, "map", what=MADE, who=who)
        linear = pick(rows, "map", what=MADE, who="SVM-map")
        gain = None if found is None or linear is None else found - linear
        yield Target(f"{MADE}: test MAP of {who} above SVM-map", 0.3, gain, at_least=True)
