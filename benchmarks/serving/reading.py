"""LETOR text: time and memory of reading it, beside other programs, and from text to a model in one command."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick, quotient
from benchmarks.peers.readers import NEEDS, READERS
from structsvm.foundation.types import Vector

TITLE = "Reading"
ABOUT = """
The text has 46 features with 6 decimals, 545 bytes per line, without query ids; the sizes of queries are in a second
file, as for LightGBM. All programs read the same file from the page cache, each in a separate process that has read a
small file before. CPU seconds include all threads, the least of the repeats. Seconds are wall-clock time, with the
default number of threads of each program. Peak MB are additional memory of the process, including the result. LightGBM
also bins the features (its Dataset), XGBoost makes its DMatrix. scikit-learn reads without query ids, because its
reader takes quadratic time with them; scikit-learn and the largest size run once. "cached" is the second start with
`cache=`. The last rows are one command, `structsvm train --float32 -C 10`, on text of the size of MSLR-WEB30K: 31,531
queries of 120 documents, 136 features of 4 decimals, 1.4 KB per line; the whole process with its start. The machine had
other work at the same time, so compare CPU seconds and quotients instead of wall-clock seconds.
"""

SIZES = {"0.27 GB": 500_000, "0.55 GB": 1_000_000, "1.1 GB": 2_000_000, "4.4 GB": 8_000_000}
FEATURES, DECIMALS = 46, 6
LARGEST, LARGE, SMALL = "4.4 GB", "1.1 GB", "0.27 GB"
COMMAND = "the size of MSLR-WEB30K, from text to a model"
QUERIES, DOCUMENTS, WIDTH, FEW_DECIMALS = 31_531, 120, 136, 4
_CHUNK = 24_000


def run(size: Size) -> Iterator[Row]:
    with TemporaryDirectory(prefix="structsvm-reading-") as folder:
        for what, rows in SIZES.items():
            path = Path(folder) / "data.txt"
            count = max(200, round(rows * size.scale))
            _write(path, count // 100, 100, FEATURES, DECIMALS)
            for name in READERS:
                if what == LARGEST and name != "load_letor":
                    continue
                if name == "scikit-learn" and what != SMALL:
                    continue
                once = what != SMALL or name == "scikit-learn"
                yield _read(what, name, path, 1 if once else min(3, size.repeats))
            for left in Path(folder).iterdir():
                left.unlink()
        yield from _command(Path(folder), size)


def _read(what: str, name: str, path: Path, repeats: int) -> Row:
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        return Row(what=what, who=name, note="not installed")
    command = [sys.executable, "-m", "benchmarks.peers.readers", name, str(path)]
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    if "cached" in name:  # the first start makes it
        subprocess.run(command, env=environment, check=True, capture_output=True)
    found = []
    for _ in range(repeats):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            return Row(what=what, who=name, note=f"failed: {(done.stderr.splitlines() or ['?'])[-1]}")
        found.append(json.loads(done.stdout.splitlines()[-1]))
    least = {key: min(each[key] for each in found) for key in found[0]}
    return Row(what=what, who=name, repeats=repeats, values=least)


def _command(folder: Path, size: Size) -> Iterator[Row]:
    path = folder / "train.txt"
    _write(path, max(20, round(QUERIES * size.scale)), DOCUMENTS, WIDTH, FEW_DECIMALS)
    model = folder / "model.npz"
    arguments = [str(path), "--float32", "-C", "10", "--model", str(model)]
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "structsvm", "train", *arguments], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        said = process.stdout.read() if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    values = {
        "seconds": time.perf_counter() - began,
        "cpu": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss / (1e3 if sys.platform == "linux" else 1e6) * 1.024,
    }
    run_line = next((line.partition("run")[2].strip() for line in said.splitlines() if line.startswith("run")), "")
    note = f"{path.stat().st_size / 1e9:.2g} GB of text; {run_line}" if model.exists() else "failed"
    yield Row(what=COMMAND, who="structsvm train", C=10.0, repeats=1, values=values, note=note)


def _write(path: Path, queries: int, documents: int, features: int, decimals: int, seed: int = 0) -> None:
    """Write text of uniform features and labels 0 to 4, a linear function of the features plus noise."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=features)
    rows = queries * documents
    with path.open("wb") as file:
        for first in range(0, rows, _CHUNK):
            count = min(_CHUNK, rows - first)
            numbers = rng.integers(0, 10**decimals, (count, features))
            utility = numbers / 10**decimals @ w + rng.normal(scale=np.linalg.norm(w) / 4, size=count)
            file.write(_lines(_grades(utility), numbers, decimals).tobytes())
    path.with_name(f"{path.name}.query").write_text(f"{documents}\n" * queries)


def _grades(utility: Vector) -> NDArray[np.int64]:
    return np.searchsorted(np.quantile(utility, [0.5, 0.75, 0.9, 0.97]), utility)


def _lines(grades: NDArray[np.int64], numbers: NDArray[np.int64], decimals: int) -> NDArray[np.uint8]:
    """Return lines as characters, shape (rows, length), all of the same length."""
    count, features = numbers.shape
    columns = [(48 + grades).astype(np.uint8)[:, None]]
    for k in range(features):
        start = np.frombuffer(f" {k + 1}:0.".encode(), np.uint8)
        powers = 10 ** np.arange(decimals - 1, -1, -1)
        digits = (48 + numbers[:, k, None] // powers % 10).astype(np.uint8)
        columns += [np.broadcast_to(start, (count, len(start))), digits]
    return np.hstack([*columns, np.full((count, 1), 10, np.uint8)])


def targets(rows: list[Row]) -> Iterator[Target]:
    alike = [row for row in rows if row.who in ("load_letor", "LightGBM")]
    ours = {what: pick(alike, "cpu", what=what, who="load_letor") for what in SIZES}
    for value, words in (("cpu", "CPU seconds"), ("seconds", "seconds")):
        mine, theirs = (pick(alike, value, what=LARGE, who=who) for who in ("load_letor", "LightGBM"))
        yield Target(f"reading {LARGE}: {words} to LightGBM's", 1.0, quotient(mine, theirs))
    yield Target(f"reading: CPU seconds of {LARGE} over {SMALL}", 4.4, quotient(ours[LARGE], ours[SMALL]))
    yield Target(f"reading: CPU seconds of {LARGEST} over {LARGE}", 4.4, quotient(ours[LARGEST], ours[LARGE]))
    cached = pick(rows, "seconds", what=LARGE, who="load_letor, cached")
    yield Target(f"reading {LARGE} a second time, cached", 1.0, cached, unit="s")
