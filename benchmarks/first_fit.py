"""The first fit of an installation, and that of a later process."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measuring import Size
from benchmarks.rows import Row, Target, pick

TITLE = "The first fit"
ABOUT = """
`Ranker(loss="map", C=10).fit` on the small digits data in a new process: on a fresh install, where
it compiles, and in a later process, which reads the machine code from disk. `import structsvm` is a row of its own.
"""

FIRST, LATER = "first fit on a fresh install", "first fit of a later process"

SCRIPT = """
import json, time
began = time.perf_counter()
from structsvm import Ranker
from structsvm.data import load_digits_queries
imported = time.perf_counter() - began
train, _ = load_digits_queries()
began = time.perf_counter()
Ranker(loss="map", C=10, solver="{solver}").fit(train.X, train.y, qid=train.qid)
print(json.dumps([imported, time.perf_counter() - began]))
"""


def run(size: Size) -> Iterator[Row]:
    imports = []
    for solver in ("auto", "frank-wolfe", "one-slack"):
        with tempfile.TemporaryDirectory() as cache:
            times = [_process(solver, cache) for _ in range(1 + min(3, size.repeats))]
        fits = [fit for _, fit in times]
        imports += [imported for imported, _ in times]
        yield Row(what=FIRST, who=solver, C=10.0, repeats=1, values={"seconds": fits[0]})
        later = {"seconds": float(np.median(fits[1:])), "fastest": min(fits[1:])}
        yield Row(what=LATER, who=solver, C=10.0, repeats=len(fits) - 1, values=later)
    values = {"seconds": float(np.median(imports)), "fastest": min(imports)}
    yield Row(what="import structsvm", who="Python", repeats=len(imports), values=values)


def _process(solver: str, cache: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(solver=solver)],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        cwd=Path(__file__).resolve().parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    times: list[float] = json.loads(done.stdout)
    return times


def targets(rows: list[Row]) -> Iterator[Target]:
    yield Target(FIRST, 15.0, pick(rows, "seconds", what=FIRST, who="auto"), unit="s")
    yield Target(LATER, 1.0, pick(rows, "seconds", what=LATER, who="auto"), unit="s")
