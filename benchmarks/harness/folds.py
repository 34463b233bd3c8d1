"""Folds of parts to train, to validate and to test, and the choice of C by validation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.measuring import Size
from structsvm.data import RankingData
from structsvm.data.letor.reading import load_letor_parts
from structsvm.protocols.letor.folds import find_folds

Fold = tuple[RankingData, RankingData, RankingData]
CS = tuple(np.geomspace(0.01, 100.0, 9).tolist())
WHOLE = Size()


def read_folds(folder: Path, size: Size = WHOLE) -> list[Fold]:
    """Read the first folds of LETOR's files, each as the parts to train, to validate and to test."""
    folds = list(find_folds(folder))[: max(1, round(5 * size.scale))]
    parts = [load_letor_parts([fold.train, fold.validation, fold.test]) for fold in folds]
    return [(train, validation, test) for train, validation, test in parts]


def partition(data: RankingData, seed: int, size: Size) -> list[Fold]:
    """Return five folds of the queries in random order."""
    qid = np.unique(data.qid, return_inverse=True)[1]
    ids = np.random.default_rng(seed).permutation(np.unique(qid))
    ids = ids[: max(15, round(len(ids) * size.scale))]

    def part(*numbers: int) -> RankingData:
        rows = np.flatnonzero(np.isin(qid, np.concatenate([ids[number % 5 :: 5] for number in numbers])))
        rows = rows[np.argsort(qid[rows], kind="stable")]
        return RankingData(data.X[rows], data.y[rows], qid[rows], None)

    return [(part(k, k + 1, k + 2), part(k + 3), part(k + 4)) for k in range(5)]


def best_of_path(ranker: Any, fold: Fold, Cs: Sequence[float] = CS) -> Any:
    """Train a ranker at each C, and return the best on the validation part."""
    train, valid, _ = fold
    path = ranker.path(train.X, train.y, qid=train.qid, Cs=Cs)
    return max(path, key=lambda fitted: fitted.score(valid.X, valid.y, qid=valid.qid))
