"""The command ``python -m benchmarks.clusters.local_cluster DATA SCALE FITS``, which `outcomes` runs."""

import json
import os
import signal
import sys
import threading
import time
from importlib import import_module
from typing import Any

import numpy as np
from attrs import asdict, frozen

from benchmarks.clusters.local_cluster import Fit, Outcome
from benchmarks.harness.data import graded, letor_folder
from benchmarks.harness.folds import read_folds
from structsvm.data import RankingData
from structsvm.metrics import parse_measure

WORKERS = 2
PARTITIONS = 8


@frozen(eq=False)
class Arrays:
    """Training data as Dask arrays in the memory of the workers, in partitions of whole queries.

    Parameters
    ----------
    X, y, qid : features, labels and queries of the rows.
    group : number of rows of each query.
    """

    X: Any
    y: Any
    qid: Any
    group: Any


def main() -> None:
    from distributed import Client, LocalCluster

    name, scale, fits = sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3])
    train, test = _data(name, scale)
    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(WORKERS)
        parts = _spread(client, train)
        seconds = 0.0
        for one in fits:
            client.wait_for_workers(WORKERS)
            outcome = _outcome(Fit(**one), seconds, cluster, client, parts, test)
            print(json.dumps(asdict(outcome)), flush=True)
            seconds = seconds if one["kill_at"] else outcome.seconds


def _data(name: str, scale: float) -> tuple[RankingData, RankingData]:
    if name == "mq2008":
        folder = letor_folder()
        if folder is None:
            raise ValueError("STRUCTSVM_DATA names no folder that holds MQ2008")
        train, _, test = read_folds(folder)[0]
    else:
        sizes = [max(20, round(queries * scale)) for queries in (1000, 500)]
        train, _, test = graded((sizes[0], 0, sizes[1]), 120, 136)
        train = RankingData(train.X.astype(np.float32), train.y, train.qid, None)
    return train, test


def _spread(client: Any, data: RankingData) -> Arrays:
    """Send partitions of whole queries to the workers."""
    import dask.array as da
    from distributed import wait

    starts = np.flatnonzero(np.diff(data.qid, prepend=-1))
    sizes = np.diff(starts, append=len(data.qid))
    queries = tuple(len(part) for part in np.array_split(sizes, PARTITIONS))
    rows = tuple(int(part.sum()) for part in np.array_split(sizes, PARTITIONS))
    made = [
        da.from_array(data.X, chunks=(rows, data.X.shape[1])),
        da.from_array(data.y, chunks=(rows,)),
        da.from_array(data.qid, chunks=(rows,)),
        da.from_array(sizes, chunks=(queries,)),
    ]
    kept = client.persist(made)
    wait(kept)
    return Arrays(*kept)


def _outcome(fit: Fit, before: float, cluster: Any, client: Any, parts: Arrays, test: RankingData) -> Outcome:
    """Fit and test; ``fit`` may request to kill a worker, at a share of the seconds ``before``."""
    fitted = import_module(f"benchmarks.clusters.local_cluster.{fit.who.lower()}").fitted
    if fit.kill_at is not None:
        process = next(iter(cluster.workers.values())).process
        threading.Timer(fit.kill_at * before, os.kill, (process.pid, signal.SIGKILL)).start()
    began = time.perf_counter()
    try:
        model = fitted(client, parts, **fit.settings)
    except Exception as error:
        # Other packages may raise anything, and the table shows it.
        return Outcome(time.perf_counter() - began, None, f"{type(error).__name__}: {error}")
    seconds = time.perf_counter() - began
    ndcg = parse_measure("ndcg@10").mean(model.predict(test.X), test.y, test.qid)
    return Outcome(seconds, float(ndcg), gap=model.gap)


if __name__ == "__main__":
    main()
