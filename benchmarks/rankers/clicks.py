"""Learning from clicks whose positions bias them, on MQ2008 with simulated users."""

import warnings
from collections.abc import Iterator

import numpy as np

from benchmarks.harness.data import letor_folder, robust_folder
from benchmarks.harness.folds import Fold, read_folds
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick, without_data
from benchmarks.losses.cutoff import data_sets
from structsvm import Ranker
from structsvm.clicks import ClickLog, ClickModel, PositionBias, PowerBias, simulate, weigh
from structsvm.data import RankingData
from structsvm.exceptions import ZeroWeightsWarning
from structsvm.foundation.queries import Queries
from structsvm.foundation.types import Vector
from structsvm.losses import WeightedRanks
from structsvm.metrics import AP
from structsvm.metrics.ranking import rank_documents

TITLE = "Clicks"
ABOUT = """
Five folds of MQ2008; only the simulated users know the relevant documents. They examine position k of the results with
probability 1/k, and click an examined document with probability 0.9 if it is relevant and 0.1 if not. Each query has 20
sessions with a ranker of random weights, which differ for each of ten seeds. `weighted_ranks` is trained on clicks as
they are, on clicks over the true propensities, on clicks over propensities estimated from five sessions per query in
which the first and another document were swapped, and on all judgments. C is chosen by the validation clicks, weighted
in the same way (for the last by the judgments). "ratio" is the recovered part of the gap in mean test MAP between
clicks as they are and all judgments: the mean over seeds, and the smallest.

Robust 2003: a relevant document of a training topic at rank r of a run is known with probability max(0.02, r^-1/2),
with another run for each of three seeds; all other documents count as unjudged. C = 1, five folds.
"""

WHAT = "MQ2008, simulated clicks"
CS = (0.1, 1.0, 10.0, 100.0)
SEEDS = 10
SESSIONS = 20
SWAPPED = 5

POSITIVES = "Robust 2003, some positives"
POSITIVE_SEEDS = 3

NAIVE, WEIGHTED, ESTIMATED, FULL = "clicks as they are", "over propensities", "over estimated propensities", "judgments"


def run(size: Size) -> Iterator[Row]:
    yield from _clicks(size)
    yield from _positives(size)


def _positives(size: Size) -> Iterator[Row]:
    if robust_folder() is None:
        yield without_data(POSITIVES, FULL, "robust03")
        return
    folds = next(folds for what, folds in data_sets(size) if what == "Robust 2003")
    seeds = range(max(1, round(POSITIVE_SEEDS * size.scale)))
    found = np.array([[_known(fold, seed) for fold in folds] for seed in seeds])
    maps = found.mean(axis=1)
    for k, who in enumerate(("known ones as they are", "over propensities", FULL)):
        values = {"map": float(maps[:, k].mean())}
        values["ratio"] = float(((maps[:, k] - maps[:, 0]) / (maps[:, 2] - maps[:, 0])).mean())
        note = f"MAP of {len(seeds)} seeds from {maps[:, k].min():.4f} to {maps[:, k].max():.4f}"
        yield Row(what=POSITIVES, who=who, C=1.0, repeats=len(seeds), values=values, note=note)


def _known(fold: Fold, seed: int) -> list[float]:
    """Return the test MAP of rankers trained on known positives as they are and weighted, and on all positives."""
    train, _, test = fold
    rng = np.random.default_rng(seed)
    ranking = rank_documents(train.X[:, rng.integers(train.X.shape[1])], train.qid)
    propensity = np.empty(len(train.y))
    propensity[ranking.order] = np.maximum(ranking.rank**-0.5, 0.02)
    known = (rng.random(len(propensity)) < propensity) & (train.y > 0)
    labels = (known.astype(float), known / propensity, (train.y > 0).astype(float))
    rankers = (Ranker("weighted_ranks", C=1.0).fit(train.X, y, qid=train.qid) for y in labels)
    return [AP().mean(ranker.predict(test.X), test.y, test.qid) for ranker in rankers]


def _clicks(size: Size) -> Iterator[Row]:
    folder = letor_folder()
    if folder is None:
        yield without_data(WHAT, FULL)
        return
    folds = read_folds(folder)
    seeds = range(max(1, round(SEEDS * size.scale)))
    found = np.array([[_tested(fold, seed) for fold in folds] for seed in seeds])
    maps = found.mean(axis=1)  # seeds x ways
    gap = maps[:, 3] - maps[:, 0]
    for k, who in enumerate((NAIVE, WEIGHTED, ESTIMATED, FULL)):
        recovered = (maps[:, k] - maps[:, 0]) / gap
        values = {"map": float(maps[:, k].mean()), "ratio": float(recovered.mean())}
        low, high = maps[:, k].min(), maps[:, k].max()
        note = f"smallest ratio of {len(seeds)} seeds {recovered.min():.2f}; MAP from {low:.4f} to {high:.4f}"
        yield Row(what=WHAT, who=who, repeats=len(seeds), values=values, note=note)


def _tested(fold: Fold, seed: int) -> list[float]:
    """Return the test MAP of rankers trained in each of the four ways."""
    train, valid, test = fold
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(train.X.shape[1])
    longest = int(max(np.max(Queries.of(part.qid, len(part.y)).sizes) for part in (train, valid)))
    bias = PowerBias(1.0, longest)
    logs = [_log(part, w, bias, seed) for part in (train, valid)]
    swapped = simulate(
        train.X @ w, _relevance(train), train.qid, bias, sessions=SWAPPED, shown="swapped", random_state=seed
    )
    known = _smoothed(PositionBias.from_interventions(swapped, 5), longest)
    ways: list[ClickModel | None] = [None, bias, known]
    labels = [
        tuple(weigh(log, way, part.qid).y for log, part in zip(logs, (train, valid), strict=True)) for way in ways
    ]
    labels.append(((train.y > 0).astype(float), (valid.y > 0).astype(float)))
    return [AP().mean(_best(train, valid, *each).predict(test.X), test.y, test.qid) for each in labels]


def _log(part: RankingData, w: Vector, bias: ClickModel, seed: int) -> ClickLog:
    return simulate(part.X @ w, _relevance(part), part.qid, bias, sessions=SESSIONS, random_state=seed)


def _relevance(part: RankingData) -> Vector:
    return np.where(part.y > 0, 0.9, 0.1)


def _smoothed(found: ClickModel, positions: int) -> ClickModel:
    """Return the power of the position that the estimate of the first ones is closest to."""
    place = np.log(np.arange(1, len(found.propensity) + 1))
    return PowerBias(max(0.0, -float(place @ np.log(found.propensity) / (place @ place))), positions)


def _best(train: RankingData, valid: RankingData, y: Vector, judged: Vector) -> Ranker:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZeroWeightsWarning)
        path = Ranker("weighted_ranks").path(train.X, y, qid=train.qid, Cs=CS)
    return min(path, key=lambda ranker: _ranks(ranker.predict(valid.X), judged, valid))


def _ranks(scores: Vector, y: Vector, part: RankingData) -> float:
    queries, loss = Queries.of(part.qid, len(y)), WeightedRanks()
    pairs = zip(queries.split(scores), queries.split(y), strict=True)
    return float(sum(loss.loss(truth, loss.argmax(each)) for each, truth in pairs))


def targets(rows: list[Row]) -> Iterator[Target]:
    recovered = pick(rows, "ratio", what=WHAT, who=WEIGHTED)
    yield Target("MQ2008, clicks: part of the gap to all judgments that is recovered", 0.8, recovered, at_least=True)
