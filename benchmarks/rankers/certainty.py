"""Coverage of intervals, and power of planned comparisons, by simulation on real per-query values."""

import warnings
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from benchmarks.harness.data import letor_folder, robust_folder
from benchmarks.harness.folds import Fold, best_of_path, read_folds
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, without_data
from structsvm import Ranker
from structsvm.data import load_qrels, load_runs
from structsvm.evaluation import mean_interval, queries_needed, rank_run
from structsvm.evaluation.significance.intervals import INTERVALS
from structsvm.evaluation.significance.paired import student_p
from structsvm.foundation.types import Matrix, Vector
from structsvm.metrics import AP

TITLE = "How sure a reported mean is"
ABOUT = """
Populations are the AP of test queries: of MQ2008 for a `Ranker` in each of five folds, with C chosen by validation
MAP (losses map and roc_area: two systems), and of Robust 2003 for each of the 17 submissions. Coverage: 95 %
intervals of 2,000 samples with replacement of 50, 200 and 1,000 queries, systems in turn; the share that contains the
population's mean, and the mean width. The same for the differences of pairs of systems in samples of 8, 30 and 100
queries; if all values of a sample are equal, its interval is this value. The bootstrap has 1,000 resamples. Power:
pairs of systems of the population, their differences shifted to a mean of .05, .1 and .2 standard deviations (MQ2008)
or .1, .2 and .4 (Robust 2003), 4,000 samples of as many queries as `queries_needed` gives for a power of 80 % at the
level .05; the share with p < .05. The correlation over queries is between two systems: the least and the median of
all pairs.
"""

DRAWS, POWER_DRAWS, RESAMPLES = 2000, 4000, 1000
SIZES = (50, 200, 1000)
SIZES_OF_DIFFERENCES = (8, 30, 100)
EFFECTS = {"MQ2008": (0.05, 0.1, 0.2), "Robust 2003": (0.1, 0.2, 0.4)}
DEFAULT, GUARANTEED = "t", "betting"
POWER = 0.8


def run(size: Size) -> Iterator[Row]:
    for name, systems in populations().items():
        if systems is None:
            yield without_data(name, "mean_interval", name)
            continue
        draws = max(20, round(DRAWS * size.scale))
        yield from _coverage(name, systems, draws, SIZES, tuple(INTERVALS))
        differences = np.array([one - other for one, other in combinations(systems, 2)])
        yield from _coverage(f"{name}, differences", differences, draws, SIZES_OF_DIFFERENCES, (DEFAULT, "bootstrap"))
        yield from _power(name, systems, max(20, round(POWER_DRAWS * size.scale)))
        found = [np.corrcoef(one, other)[0, 1] for one, other in combinations(systems, 2)]
        values = {"least_correlation": float(np.min(found)), "correlation": float(np.median(found))}
        yield Row(what=f"{name}: two systems", who="values of queries", values=values)


def populations() -> dict[str, Matrix | None]:
    """Return the AP of each system and query by data set, shape (systems, Q); None without its data."""
    letor, robust = letor_folder(), robust_folder()
    found: dict[str, Matrix | None] = {"MQ2008": None, "Robust 2003": None}
    if letor is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            folds = read_folds(letor)
            values = [[_average_precision(loss, fold) for fold in folds] for loss in ("map", "roc_area")]
            found["MQ2008"] = np.array([np.concatenate(parts) for parts in values])
    if robust is not None:
        qrels = load_qrels(robust / "qrels.txt")
        lists = [rank_run(each, qrels) for each in load_runs(robust / "runs")]
        ids = sorted(set.intersection(*(set(each.ids.tolist()) for each in lists)))
        values = [dict(zip(*(part.tolist() for part in AP().of(each)), strict=True)) for each in lists]
        found["Robust 2003"] = np.array([[each[id] for id in ids] for each in values])
    return found


def _average_precision(loss: str, fold: Fold) -> Vector:
    """Return the AP of each test query, for the ranker with the best validation MAP."""
    test = fold[2]
    scores = best_of_path(Ranker(loss, measure="map"), fold).predict(test.X)
    return AP().per_query(scores, test.y, test.qid).values


def _coverage(
    name: str, populations: Matrix, draws: int, sizes: tuple[int, ...], methods: tuple[str, ...]
) -> Iterator[Row]:
    truth = populations.mean(axis=1)
    for queries in sizes:
        for method in methods:
            rng = np.random.default_rng(queries)
            ends = np.empty((draws, 2))
            for k in range(draws):
                sample = rng.choice(populations[k % len(populations)], queries)
                interval = mean_interval(sample, method=method, n_resamples=RESAMPLES, random_state=k)
                ends[k] = (sample[0], sample[0]) if interval is None else interval
            means = truth[np.arange(draws) % len(populations)]
            inside = (ends[:, 0] <= means) & (means <= ends[:, 1])
            values = {"coverage": float(inside.mean()), "width": float(np.diff(ends).mean())}
            yield Row(what=f"{name}: {queries} queries", who=method, repeats=draws, values=values)


def _power(name: str, systems: Matrix, draws: int) -> Iterator[Row]:
    pairs = list(combinations(range(len(systems)), 2))
    for effect in EFFECTS[name]:
        queries = queries_needed(1.0, effect, power=POWER)
        rng = np.random.default_rng(queries)
        shifted = [_scaled(systems[one] - systems[other]) + effect for one, other in pairs]
        samples = (rng.choice(shifted[k % len(pairs)], queries) for k in range(draws))
        found = np.mean([(student_p(sample) or 0.0) < 0.05 for sample in samples])
        values = {"needed": float(queries), "power": float(found)}
        yield Row(what=f"{name}: {effect:g} standard deviations", who="queries_needed", repeats=draws, values=values)


def _scaled(differences: Vector) -> Vector:
    return np.asarray((differences - differences.mean()) / differences.std())


def targets(rows: list[Row]) -> Iterator[Target]:
    for who, name in ((DEFAULT, "the default"), (GUARANTEED, "the guaranteed one")):
        of_means = [
            row for row in rows if row.who == who and "coverage" in row.values and "differences" not in row.what
        ]
        coverages = [100 * row.values["coverage"] for row in of_means]
        least = 93.0 if who == DEFAULT else 95.0
        yield Target(f"least coverage of 95 % intervals, {name}", least, min(coverages, default=None), True, "%")
        if who == DEFAULT:
            yield Target(f"largest coverage, {name}", 97.0, max(coverages, default=None), unit="%")
    off = [100 * abs(row.values["power"] - POWER) for row in rows if "power" in row.values]
    yield Target("power of planned comparisons, off by", 3.0, max(off, default=None), unit="points")
