import gzip
from pathlib import Path

import numpy as np
import pytest

from structsvm.data import Pool, Qrels


def scored_documents(queries, documents, functions, seed=0):
    """Relevance, and scores that go with it; the later the function, the less. Low scores are missing."""
    rng = np.random.default_rng(seed)
    y = (rng.random((queries, documents)) < 0.2).astype(float)
    y[:, 0] = 1.0
    X = rng.normal(size=(queries, documents, functions)) + y[..., None] * np.linspace(1.5, 0.5, functions)
    X[np.median(X, axis=1, keepdims=True) > X] = np.nan
    X[:, :2] = rng.normal(size=(queries, 2, functions))
    return np.round(X, 2).reshape(-1, functions), y.ravel(), np.repeat(np.arange(queries), documents)


def pool_of(X, y, qid, run_names=None, judged=None):
    """Make a pool of arrays whose rows of a query are together, each query with a relevant document."""
    topics, ids = np.asarray(qid).astype(str), np.arange(len(y)).astype(str)
    absent = [
        (str(query), f"not retrieved {n}")
        for query, count in (judged or {}).items()
        for n in range(count - int((y[qid == query] > 0).sum()))
    ]
    qrels = Qrels.from_grades(
        [*topics, *(topic for topic, _ in absent)],
        [*ids, *(name for _, name in absent)],
        [*(y > 0).astype(int), *[1] * len(absent)],
    )
    names = tuple(run_names or (f"f{k + 1}" for k in range(X.shape[1])))
    return Pool(X=X, y=y, qid=topics, doc_ids=ids, run_names=names, qrels=qrels, left_out={})


@pytest.fixture(scope="session")
def pool():
    """Twelve small queries with four base functions."""
    return pool_of(*scored_documents(12, 30, 4), run_names=["alpha", "beta", "gamma", "delta"])


def write_trec(folder: Path, X, y, qid, names=("alpha", "beta", "gamma", "delta")):
    """Write runs and judgments as TREC has them; one document that is judged relevant is in no run."""
    (folder / "runs").mkdir()
    for name, scores in zip(names, X.T, strict=True):
        rows = np.flatnonzero(~np.isnan(scores))
        lines = (f"{qid[row]} Q0 D{row:04} 1 {scores[row]} {name}\n" for row in rows)
        with gzip.open(folder / "runs" / f"{name}.gz", "wt") as file:
            file.writelines(lines)
    lines = [f"{query} 0 D{row:04} {label:.0f}\n" for row, (query, label) in enumerate(zip(qid, y, strict=True))]
    (folder / "qrels.txt").write_text("".join([*lines, f"{qid[0]} 0 LOST 1\n"]))
