"""Small ranking data, and the ways in which a user may have them in partitions."""

from itertools import pairwise

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from dask import delayed

from structsvm.data import RankingData, write_letor
from structsvm.distributed.partitions import Partitions

COLUMNS = ["a", "b", "c", "d", "e"]


def ranking(queries=40, documents=6, features=5, seed=0, dtype=np.float32):
    """Make queries whose rows are together, with ids that ascend."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((queries * documents, features)).astype(dtype)
    y = (X @ rng.standard_normal(features) + rng.standard_normal(len(X)) > 0.8).astype(float)
    y[::documents] = 1.0
    y[1::documents] = 0.0
    return RankingData(X=X, y=y, qid=np.repeat(np.arange(queries), documents) + 10)


def assert_same_optimum(result, expected):
    """Require that two certificates allow the same optimum."""
    assert result.converged
    assert expected.converged
    assert result.dual <= expected.primal
    assert expected.dual <= result.primal


def arrays(data, chunk=60):
    return tuple(da.from_array(column, chunks=(chunk, *column.shape[1:])) for column in (data.X, data.y, data.qid))


def frame(data):
    table = pd.DataFrame(data.X, columns=COLUMNS)
    return table.assign(label=data.y, session=data.qid)


def frames(data, partitions=4):
    dd = pytest.importorskip("dask.dataframe", reason="data frames need dask[dataframe]", exc_type=ImportError)
    return dd.from_pandas(frame(data), npartitions=partitions, sort=False)


def blocks(data, cuts):
    """Split rows at row numbers."""
    edges = [0, *cuts, len(data.y)]
    return [RankingData(X=data.X[a:b], y=data.y[a:b], qid=data.qid[a:b]) for a, b in pairwise(edges)]


def delayed_blocks(data, cuts):
    return [delayed(lambda part=part: (part.X, part.y, part.qid))() for part in blocks(data, cuts)]


def letor_files(data, cuts, folder, suffix=".txt"):
    paths = [folder / f"part{k}{suffix}" for k in range(len(cuts) + 1)]
    for path, part in zip(paths, blocks(data, cuts), strict=True):
        write_letor(path, part.X, part.y, part.qid)
    return list(map(str, paths))


def parquet_files(data, cuts, folder):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    paths = [folder / f"part{k}.parquet" for k in range(len(cuts) + 1)]
    for path, part in zip(paths, blocks(data, cuts), strict=True):
        frame(part).rename(columns={"session": "qid"}).to_parquet(path)
    return list(map(str, paths))


DATA = ranking()
CUTS = [60, 120, 180]


def source(kind, client, folder):
    """Return the arguments of `DaskRanker.fit` for `DATA` in four partitions of one kind."""
    if kind == "arrays":
        return arrays(DATA)
    if kind == "frames":
        return frames(DATA), "label", "session"
    if kind == "series":
        table = frames(DATA)
        return table[COLUMNS], table["label"], table["session"]
    makers = {
        "delayed": lambda: delayed_blocks(DATA, CUTS),
        "futures": lambda: client.compute(delayed_blocks(DATA, CUTS)),
        "letor": lambda: letor_files(DATA, CUTS, folder),
        "gzip": lambda: letor_files(DATA, CUTS, folder, ".txt.gz"),
        "parquet": lambda: parquet_files(DATA, CUTS, folder),
        "partitions": lambda: Partitions.of(*arrays(DATA), client=client),
    }
    return (makers[kind](),)
