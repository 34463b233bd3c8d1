"""MQ2008 with selection of C, against LightGBM's lambdarank."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np

from benchmarks.harness.data import letor_folder
from benchmarks.harness.folds import CS, Fold, best_of_path, read_folds
from benchmarks.harness.measuring import Size, clock
from benchmarks.harness.rows import Row, Target, pick, quotient, without_data
from structsvm import Ranker
from structsvm.data import RankingData
from structsvm.foundation.types import IntVector, Vector
from structsvm.metrics import AP
from structsvm.rankers.tree_ranker import SAMPLED

TITLE = "MQ2008, five folds"
ABOUT = """
LETOR's MQ2008: for each of five folds nine fits, C = 0.01 to 100, each from the result of the
previous fit; the model with the best validation MAP is tested. Files are already read. LightGBM fits
one lambdarank model per fold with 8 leaves, learning rate 0.05 and sampling of rows (0.8) and columns (0.6), and
stops early by validation MAP. Test MAP changes by 0.003 with the grid and `tol`, so smaller differences are noise.
"""

WHAT = "MQ2008, 5 folds"
SETTINGS = {
    "objective": "lambdarank",
    "metric": "map",
    "eval_at": [1000],
    "num_threads": 1,
    "verbosity": -1,
    "num_leaves": 8,
    "learning_rate": 0.05,
    **SAMPLED,
}


def run(size: Size) -> Iterator[Row]:
    folder = letor_folder()
    if folder is None:
        yield without_data(WHAT, "this library")
        return
    folds = read_folds(folder)
    yield _row(f"Ranker, {len(CS)} values of C", folds, _best_of_path, min(3, size.repeats))
    if find_spec("lightgbm") is None:
        yield Row(what=WHAT, who="LightGBM", note="not installed")
        return
    yield _row("LightGBM lambdarank", folds, _lambdarank, min(3, size.repeats))


def _row(who: str, folds: list[Fold], scores: Callable[[Fold], Vector], repeats: int) -> Row:
    scores(folds[0])  # compiles, and loads what is loaded at first use
    seconds, found = clock(lambda: [scores(fold) for fold in folds], repeats)
    maps = [AP().mean(predicted, test.y, test.qid) for predicted, (_, _, test) in zip(found, folds, strict=True)]
    values = {"seconds": float(np.median(seconds)), "fastest": min(seconds), "map": float(np.mean(maps))}
    return Row(what=WHAT, who=who, repeats=len(seconds), values=values)


def _best_of_path(fold: Fold) -> Vector:
    return np.asarray(best_of_path(Ranker("map", measure="map"), fold).predict(fold[2].X))


def _lambdarank(fold: Fold) -> Vector:
    import lightgbm

    train, valid, test = fold
    learning = lightgbm.Dataset(train.X, train.y, group=_sizes(train))
    booster = lightgbm.train(
        SETTINGS,
        learning,
        num_boost_round=1000,
        valid_sets=[lightgbm.Dataset(valid.X, valid.y, group=_sizes(valid), reference=learning)],
        callbacks=[lightgbm.early_stopping(50, verbose=False)],
    )
    return np.asarray(booster.predict(test.X, num_threads=1))


def _sizes(data: RankingData) -> IntVector:
    """Return the number of documents of each query; the files hold their queries one after the other."""
    starts = np.flatnonzero(np.diff(data.qid, prepend=-1))
    return np.diff(starts, append=len(data.qid))


def targets(rows: list[Row]) -> Iterator[Target]:
    ours, theirs = (pick(rows, "seconds", what=WHAT, who=who) for who in ("Ranker", "LightGBM"))
    yield Target("MQ2008, 5 folds x 9 values of C", 2.0, ours, unit="s")
    yield Target("MQ2008: times faster than LightGBM", 10.0, quotient(theirs, ours), at_least=True)
