"""A fit to files of WEB30K's shape, in a separate process: ``python -m benchmarks.peers.spread HOW FOLDER C``.

HOW is "one", this process alone, or "two", which starts two workers with a thread each. It prints its measurements.
"""

import json
import logging
import os
import resource
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.harness.measuring import peak_megabytes


def one(paths: list[str], C: float) -> dict[str, Any]:
    """Read all files and fit, on two threads."""
    from structsvm import Ranker
    from structsvm.data import load_table

    began = time.perf_counter()
    data = load_table(paths, dtype="float32")
    read = time.perf_counter()
    ranker = Ranker("map", C=C, solver="one-slack").fit(data.X, data.y, qid=data.qid)
    done = time.perf_counter()
    return {"read": read - began, "fit": done - read, "worker": peak_megabytes(), **_of(ranker)}


def two(paths: list[str], C: float) -> dict[str, Any]:
    """Let two workers read the files and fit."""
    from dask import config
    from distributed import Client, LocalCluster

    from structsvm.distributed import DaskRanker, read_partitions

    with (
        config.set({"distributed.worker.memory.target": False, "distributed.worker.memory.spill": False}),
        LocalCluster(n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.run(_warm)
        began = time.perf_counter()
        data = read_partitions(paths, dtype="float32", client=client)
        read = time.perf_counter()
        before = _processor_seconds(client)
        ranker = DaskRanker("map", C=C, client=client).fit(data)
        done = time.perf_counter()
        spent = _processor_seconds(client) - before
        peaks = client.run(peak_megabytes)
        return {
            "read": read - began,
            "fit": done - read,
            "cpu": spent,
            "worker": max(peaks.values()),
            "driver": peak_megabytes(),
            **_of(ranker),
        }


def overhead(paths: list[str], C: float) -> dict[str, Any]:
    """Fit tiny data in 16 partitions, so that messages take all the time of a round."""
    import numpy as np
    from dask import delayed
    from distributed import Client, LocalCluster

    from structsvm.distributed import DaskRanker
    from structsvm.distributed.partitions import Partitions

    rng = np.random.default_rng(0)
    X = rng.standard_normal((16 * 50, 20))
    y = (X @ rng.standard_normal(20) + rng.standard_normal(len(X)) > 0.5).astype(float)
    qid = np.repeat(np.arange(16 * 5), 10)
    blocks = [(X[k : k + 50], y[k : k + 50], qid[k : k + 50]) for k in range(0, len(X), 50)]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        data = Partitions.of([delayed(lambda block=block: block)() for block in blocks], client=client)
        DaskRanker("map", C=C, client=client).fit(data)
        seconds, rounds = [], []
        for _ in range(5):
            ranker = DaskRanker("map", C=C, client=client)
            times: list[float] = []
            ranker.fit(data, callback=lambda step, times=times: times.append(step.seconds) and None)
            seconds += [after - before for before, after in pairwise(times)]
            rounds.append(len(times))
        return {"round": float(np.median(seconds)), "rounds": rounds[0], **_of(ranker)}


def _of(ranker: Any) -> dict[str, Any]:
    result = ranker.result_
    last = result.history[-1]
    return {"rounds": last.iteration, "passes": last.passes, "primal": result.primal, "gap": result.gap / result.C}


def _warm() -> None:
    """Load all that a fit loads, and compile it."""
    import numpy as np

    from structsvm import Ranker

    X = np.random.default_rng(0).standard_normal((8, 2)).astype(np.float32)
    Ranker("map", solver="one-slack").fit(X, np.arange(8) % 2, qid=np.arange(8) // 4)


def _processor_seconds(client: Any) -> float:
    return float(sum(client.run(_own_processor_seconds).values()))


def _own_processor_seconds() -> float:
    return sum(resource.getrusage(resource.RUSAGE_SELF)[:2])


def main() -> None:
    logging.getLogger("distributed").setLevel(logging.ERROR)
    how, folder, C = sys.argv[1:]
    paths = sorted(map(str, Path(folder).glob("*.parquet")))
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if how == "one":
        _warm()
    print(json.dumps({"one": one, "two": two, "overhead": overhead}[how](paths, float(C))))


if __name__ == "__main__":
    main()
