"""Rankers of every kind, saved and read again, and asked for scores of frames whose columns are in another order."""

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

import structsvm
from structsvm import Ranker, StructuralSVM
from structsvm.estimators import RampRanker
from structsvm.exceptions import StructSVMError
from structsvm.foundation.types import Vector
from structsvm.rankers import LambdaMART, MaximumEntropy, RankBoost, RankNet, RankSVM, WeightSearch

_NORMALIZED = (None, "standard", "query-min-max")


def _rankers(rng: np.random.Generator) -> list[Any]:
    normalize = _NORMALIZED[rng.integers(3)]
    return [
        Ranker(
            "map", C=float(10.0 ** rng.uniform(-2.0, 3.0)), normalize=normalize, fit_intercept=bool(rng.integers(2))
        ),
        Ranker("ndcg@3", normalize=normalize, bounds=(-1.0, 1.0)),
        Ranker("zero_one", fit_intercept=True),
        RampRanker("map"),
        RankSVM(),
        RankBoost(n_estimators=5),
        RankNet(max_iter=3, hidden_layer_sizes=int(rng.integers(4))),
        MaximumEntropy(),
        WeightSearch(max_iter=2),
        LambdaMART(n_estimators=3, min_child_samples=1, params={"min_data_in_bin": 1, "verbosity": -1}),
    ]


def fault_of(number: int) -> str:
    """Return the fault of a saved ranker, or of the score of unseen labels; "" without a fault."""
    rng = np.random.default_rng([number, 7])
    with warnings.catch_warnings(), TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        return _unseen(rng) if number % 10 == 0 else _reordered(rng, Path(folder) / "model.npz")


def _reordered(rng: np.random.Generator, path: Path) -> str:
    made = _rankers(rng)[rng.integers(10)]
    d, sizes = int(rng.integers(2, 7)), rng.integers(2, 8, rng.integers(2, 9))
    y = np.concatenate([rng.permutation([0, 2, *rng.integers(0, 3, size - 2)]) for size in sizes])
    qid = np.repeat(np.arange(len(sizes)), sizes)
    X = pd.DataFrame(rng.standard_normal((len(y), d)) * 10.0 ** rng.uniform(-3.0, 3.0, d), columns=list("fedcba"[:d]))
    if rng.random() < 0.3:
        X = X.astype(np.float32)
    X[X.columns[rng.integers(d)]] += 0.3 * y
    made.fit(X, (y > 0) * 2 - 1 if getattr(made, "loss", "") == "zero_one" else y, qid)
    made.save(path)
    read = {"load": structsvm.load(path), "class": type(made).load(path)}
    order = rng.permutation(d)
    for what, frame in {
        "as fitted": X,
        "reordered": X.iloc[:, order],
        "reordered, one row": X.iloc[:1, order],
        "more columns": X.iloc[:, order].assign(zzz=0.0),
        "renamed": X.rename(columns={"e": "x"}),
        "array": X.to_numpy(),
    }.items():
        wanted = _scores(made, frame, qid)
        for name, other in read.items():
            found = _scores(other, frame, qid)
            if type(found) is not type(wanted) or not np.array_equal(found, wanted):
                apart = "refused by one" if isinstance(wanted, str | type(found)) else np.abs(found - wanted).max()
                return f"{made!r}, {what}, fitted and read by {name}: {apart}"
    return ""


def _scores(ranker: Any, X: Any, qid: Vector) -> Vector | str:
    """Return scores, or the word "refused"."""
    try:
        by_query = getattr(ranker, "normalize", None) == "query-min-max" or getattr(ranker, "by_query", False)
        scores: Vector = ranker.predict(X, qid=qid[: len(X)]) if by_query else ranker.predict(X)
    except StructSVMError:
        return "refused"
    return scores


def _unseen(rng: np.random.Generator) -> str:
    """Return the fault in the score of a structural SVM on labels that it has not learned."""
    chain = bool(rng.integers(2))
    X = rng.standard_normal((12, 2))
    labels: list[Any] = [["a", "b", "c"], [0, 1, 2]][rng.integers(2)]
    y = [labels[k % 2] for k in range(12)]
    other = [labels[k % 3] for k in range(12)]
    xs: Any = [X[:6], X[6:]] if chain else X
    ys, others = (([each[:6], each[6:]] if chain else each) for each in (y, other))
    svm = StructuralSVM("chain_hamming" if chain else "multiclass").fit(xs, ys)
    try:
        score = svm.score(xs, others)
    except StructSVMError:
        return ""
    predicted = svm.predict(xs)
    right = np.concatenate(predicted).tolist() if chain else list(predicted)
    wanted = float(np.mean([a == b for a, b in zip(right, other, strict=True)]))
    return "" if abs(score - wanted) < 1e-12 else f"{svm!r} scores {score} on labels it never saw, not {wanted}"
