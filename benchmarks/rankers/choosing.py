"""C among near ties: rules that choose by the scores of `RankerCV`."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks.harness.data import dense, letor_folder, robust_folder, robust_pools
from benchmarks.harness.folds import Fold, partition, read_folds
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, without_data
from benchmarks.rankers.trees import joined, made
from structsvm import Ranker, RankerCV
from structsvm.data import RankingData, load_digits_queries
from structsvm.foundation.types import Matrix, Vector
from structsvm.metrics import AP, rank_lists
from structsvm.training.choose import best_of

TITLE = "C among near ties"
ABOUT = """
Test MAP of `Ranker("map")` with C among the eleven default values of `RankerCV`, from 0.01 to 1000. Two re-partitions
of the queries of each set have five test parts each. `RankerCV` chooses C on the rest of the queries by five folds,
with seeds 0 to 4. The sets: MQ2008; the pools of Robust 2003 to a depth of 50; the images of `load_digits_queries`,
standardized; and made queries of 40 documents, 10 % of them relevant: 100 queries with 30 or 200 features and a linear
utility, and 100 with 20 features and the utility of the benchmark `trees`, which no linear model represents.

"first best" is the value with the best mean, as in `RankerCV`. The rule of one standard error chooses the smallest C
whose mean is within one standard error of the best mean: over folds, over held-out queries, or of the differences from
the best, query by query ("paired"). Values of C are tied if the paired rule cannot separate them from the best.
"middle" chooses the median of their range, and two rows are for the mean of their weights, as they are or scaled to
norm 1. "smoothed" averages the means of neighbouring values before it chooses. "one C" has the best fixed value for all
folds and re-partitions of a set, which only the test queries know.

"ahead" is the difference from "first best", query by query, with its standard error over queries. "spread" is the
largest minus the smallest test MAP over the five seeds of the folds, a mean over re-partitions.
"""

CS = tuple(float(f"{C:.6g}") for C in np.geomspace(0.01, 1000.0, 11))
SEEDS, PARTITIONS = range(5), range(2)
FIRST, FIXED = "first best", "one C"

Weights = Callable[[RankerCV, Matrix], Vector]
"""Returns the weights that a rule makes of the scores of a search and of the weights at each C."""


def run(size: Size) -> Iterator[Row]:
    for what, folder in (("MQ2008", letor_folder()), ("Robust 2003", robust_folder())):
        if folder is None:
            yield without_data(what, FIRST, what)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for what, data in data_sets():
            yield from _compared(what, data, size)


def targets(rows: list[Row]) -> Iterator[Target]:
    for row in rows:
        if row.who not in (FIRST, FIXED) and "ahead" in row.values:
            errors = row.values["ahead"] / max(row.values["error"], 1e-9)
            yield Target(f"{row.what}: {row.who} ahead of the first best, in standard errors", 2.0, errors)


def data_sets() -> Iterator[tuple[str, RankingData]]:
    """Yield the name and the queries of each data set that there is."""
    folder = letor_folder()
    if folder is not None:
        yield "MQ2008", joined(*read_folds(folder)[0])
    if robust_folder() is not None:
        yield "Robust 2003", robust_pools(depth=50)
    first, second = load_digits_queries()
    digits = joined(first, RankingData(second.X, second.y, second.qid + first.qid.max() + 1, None))
    yield "digits", RankingData(StandardScaler().fit_transform(digits.X), digits.y, digits.qid, None)
    for what, features in (("made, linear", 30), ("made, wide", 200)):
        queries = dense(100, 40, features)
        yield what, RankingData(queries.X, queries.y, queries.qid, None)
    yield "made, products", made(100, 40, 20, 0)


def _within(means: Vector, error: float) -> int:
    return int(np.argmax(means >= means[best_of(means)] - error))


def _error(values: Matrix) -> Vector:
    return np.asarray(values.std(axis=-1, ddof=1) / np.sqrt(values.shape[-1]))


def _tied(search: RankerCV) -> Vector:
    """Return the positions of values of C whose paired difference from the best is within one standard error."""
    behind = search.scores_by_query_[best_of(search.mean_scores_)] - search.scores_by_query_
    return np.flatnonzero(behind.mean(axis=1) <= _error(behind))


def _smoothed(search: RankerCV) -> int:
    padded = np.pad(search.mean_scores_, 1, mode="edge")
    return best_of(padded[:-2] + 2.0 * padded[1:-1] + padded[2:])


def _mean_of_unit(search: RankerCV, W: Matrix) -> Vector:
    tied = W[_tied(search)]
    return np.asarray((tied / np.maximum(np.linalg.norm(tied, axis=1, keepdims=True), 1e-300)).mean(axis=0))


RULES: dict[str, Weights] = {
    FIRST: lambda search, W: W[best_of(search.mean_scores_)],
    "one standard error over folds": lambda search, W: W[
        _within(search.mean_scores_, _error(search.scores_.T)[best_of(search.mean_scores_)])
    ],
    "one standard error over queries": lambda search, W: W[
        _within(search.mean_scores_, _error(search.scores_by_query_)[best_of(search.mean_scores_)])
    ],
    "one standard error, paired": lambda search, W: W[_tied(search)[0]],
    "middle of the tied": lambda search, W: W[_tied(search)[len(_tied(search)) // 2]],
    "mean of the tied models": lambda search, W: W[_tied(search)].mean(axis=0),
    "mean of the tied, norm 1": _mean_of_unit,
    "smoothed": lambda search, W: W[_smoothed(search)],
}


def _compared(what: str, data: RankingData, size: Size) -> Iterator[Row]:
    """Yield a row for each rule, with its differences from the first best."""
    parts = [partition(data, seed, size) for seed in PARTITIONS]
    values = np.array([_tested(folds) for folds in parts])  # partitions x (rules + C) x seeds x queries
    first, fixed = values[:, 0], values[:, len(RULES) :].mean(axis=(0, 2, 3)).argmax()
    names = {**{name: k for k, name in enumerate(RULES)}, FIXED: len(RULES) + int(fixed)}
    for name, k in names.items():
        # Re-partitions test the same queries, so they count as one sample.
        ahead = (values[:, k] - first).mean(axis=(0, 1))
        numbers = {"map": values[:, k].mean(), "spread": np.ptp(values[:, k].mean(axis=-1), axis=1).mean()}
        numbers |= {"ahead": ahead.mean(), "error": float(_error(ahead))}
        C = CS[int(fixed)] if name == FIXED else None
        yield Row(what=what, who=name, C=C, repeats=1, values={key: float(value) for key, value in numbers.items()})


def _tested(folds: list[Fold]) -> Matrix:
    """Return AP of each test query by each rule and at each C, shape (rules and values of C, seeds, queries)."""
    tested, ids = [], []
    for train, validation, test in folds:
        train = joined(train, validation)
        path = Ranker("map", n_jobs=1).path(train.X, train.y, train.qid, Cs=CS)
        W = np.array([fitted.coef_ for fitted in path])
        searches = [
            RankerCV(Ranker("map", n_jobs=1), CS, refit=False, random_state=seed).fit(train.X, train.y, train.qid)
            for seed in SEEDS
        ]
        chosen = [[rule(search, W) for search in searches] for rule in RULES.values()]
        chosen += [[w] * len(searches) for w in W]
        lists = [[rank_lists(test.X @ w, test.y, test.qid) for w in by_seed] for by_seed in chosen]
        tested.append(np.nan_to_num([[AP().values(one) for one in by_seed] for by_seed in lists]))
        ids.append(np.unique(test.qid))
    return np.asarray(np.concatenate(tested, axis=-1)[..., np.argsort(np.concatenate(ids))])
