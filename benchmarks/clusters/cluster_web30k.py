"""Files of MSLR-WEB30K's size, read and learned from by two workers, beside one process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick, quotient

TITLE = "Two workers, and data of the size of MSLR-WEB30K"
ABOUT = """
31,531 queries of 120 documents with 136 features in float32 in 16 Parquet files, made like `m`: read and fitted by
`DaskRanker` on two worker processes of one thread each (`dask.distributed.LocalCluster`), and by one process,
`load_table` and `Ranker(solver="one-slack")` on two threads. C/n is as for `m` at C = 100. "Peak MB" is the peak memory
of a process, Python included; of two workers, the larger. The overhead of a round is measured on tiny data in 16
partitions: the median of the rounds of five fits, all calls of a round included. A round of `DaskRanker` evaluates up
to twelve steps t along its line, six per call. `Ranker` evaluates some seven, one after another. `DaskRanker` therefore
takes fewer rounds, and on one machine, which has no network delay to save, more time.
"""

QUERIES, DOCUMENTS, FEATURES, FILES = 31_531, 120, 136, 16
WHAT = "MAP, 31,531 x 120 x 136, float32, 16 files"
ONE, TWO = "one process, two threads", "two workers"
TINY = "MAP, 80 x 10 x 20, 16 partitions"
MOST_SECONDS_A_ROUND = 0.05


def run(size: Size) -> Iterator[Row]:
    if find_spec("distributed") is None or find_spec("pyarrow") is None:
        yield Row(what=WHAT, who=TWO, note="not installed: structural-svm[dask,parquet]")
        return
    with TemporaryDirectory(prefix="structsvm-web30k-") as folder:
        C = 0.1 * _write(Path(folder), max(32, round(QUERIES * size.scale)))
        for who, how in ((ONE, "one"), (TWO, "two")):
            found = _run(how, folder, C)
            for stage in ("read", "fit"):
                values = {"seconds": found[stage], "megabytes": found["worker"]}
                if stage == "fit":
                    values |= {"passes": found["passes"], "gap": found["gap"]}
                yield Row(what=WHAT, who=f"{who}: {stage}", C=C, repeats=1, values=values)
        values = {"megabytes": found["driver"]}
        yield Row(what=WHAT, who="the driver of two workers", values=values)
        tiny = _run("overhead", folder, 100.0)
        values = {"seconds": tiny["round"], "passes": tiny["passes"]}
        yield Row(what=TINY, who="a round", C=100.0, values=values, note=f"{tiny['rounds']} rounds")


def targets(rows: list[Row]) -> Iterator[Target]:
    two, one = (pick(rows, "megabytes", what=WHAT, who=f"{who}: fit") for who in (TWO, ONE))
    yield Target("two workers: memory of each, relative to one process", 0.75, quotient(two, one))
    overhead = pick(rows, "seconds", what=TINY, who="a round")
    yield Target("two workers: overhead of a round", MOST_SECONDS_A_ROUND, overhead, unit="s")


def _write(folder: Path, queries: int) -> int:
    """Write the files, one after the other, and return the number of queries."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    w = (rng.normal(size=FEATURES) / np.sqrt(FEATURES)).astype(np.float32)
    names = [f"f{k}" for k in range(1, FEATURES + 1)]
    for number, own in enumerate(np.array_split(np.arange(queries), FILES)):
        rows = len(own) * DOCUMENTS
        X = rng.standard_normal((rows, FEATURES), dtype=np.float32)
        utility = X @ w + rng.normal(size=rows) + np.repeat(0.5 * rng.normal(size=len(own)), DOCUMENTS)
        y = (utility > 1.9).astype(np.float32)
        y[np.arange(len(own)) * DOCUMENTS + utility.reshape(len(own), -1).argmax(axis=1)] = 1.0
        columns = [pa.array(y), pa.array(np.repeat(own, DOCUMENTS)), *(pa.array(X[:, k]) for k in range(FEATURES))]
        table = pa.Table.from_arrays(columns, names=["label", "qid", *names])
        pq.write_table(table, folder / f"part{number:02}.parquet", compression="none", use_dictionary=["qid"])
    return queries


def _run(how: str, folder: str, C: float) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.peers.spread", how, folder, str(C)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), "."]))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
