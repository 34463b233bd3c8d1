"""The first fit of an installation, and the first fit of a later process."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick
from benchmarks.harness.store import ROOT

TITLE = "The first fit"
ABOUT = """
`Ranker(loss="map", C=10).fit` on the small digits data in a new process: on a fresh install, which
compiles, and in a later process, which reads the machine code from disk; wall-clock and CPU seconds.
With C = 10,000, Frank-Wolfe also moves all planes together, which needs more code.
`import structsvm` and `structsvm --help` are separate rows.
"""

JOINT = 1e4
"""C with which all planes are moved together."""

FIRST, LATER = "first fit on a fresh install", "first fit of a later process"

SCRIPT = """
import json, time
began = time.perf_counter()
from structsvm import Ranker
from structsvm.data import load_digits_queries
imported = time.perf_counter() - began
train, _ = load_digits_queries()
began, used = time.perf_counter(), time.process_time()
Ranker(loss="{loss}", C={C}, solver="{solver}").fit(train.X, train.y, qid=train.qid)
print(json.dumps([imported, time.perf_counter() - began, time.process_time() - used]))
"""


def run(size: Size) -> Iterator[Row]:
    imports = []
    for loss, solver, C in (
        ("map", "auto", 10.0),
        ("map", "auto", JOINT),
        ("roc_area", "auto", 10.0),
        ("map", "one-slack", 10.0),
    ):
        with tempfile.TemporaryDirectory() as cache:
            times = [_process(loss, solver, C, cache) for _ in range(1 + min(3, size.repeats))]
        fits, used = [fit for _, fit, _ in times], [each for _, _, each in times]
        imports += [imported for imported, _, _ in times]
        who = solver if loss == "map" else f"{solver}, {loss}"
        yield Row(what=FIRST, who=who, C=C, repeats=1, values={"seconds": fits[0], "cpu": used[0]})
        later = {
            "seconds": float(np.median(fits[1:])),
            "fastest": min(fits[1:]),
            "cpu": float(np.median(used[1:])),
        }
        yield Row(
            what=LATER,
            who=who,
            C=C,
            repeats=len(fits) - 1,
            values={name: float(value) for name, value in later.items()},
        )
    values = {"seconds": float(np.median(imports)), "fastest": min(imports)}
    yield Row(what="import structsvm", who="Python", repeats=len(imports), values=values)
    helped = [_help() for _ in range(min(3, size.repeats))]
    values = {"seconds": float(np.median(helped)), "fastest": min(helped)}
    yield Row(what="structsvm --help", who="Python", repeats=len(helped), values=values)


def _help() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "structsvm", "--help"], capture_output=True, check=True)
    return time.perf_counter() - began


def _process(loss: str, solver: str, C: float, cache: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(loss=loss, solver=solver, C=C)],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    times: list[float] = json.loads(done.stdout)
    return times


def targets(rows: list[Row]) -> Iterator[Target]:
    yield Target(FIRST, 15.0, pick(rows, "seconds", what=FIRST, who="auto", C=10.0), unit="s")
    yield Target(LATER, 1.0, pick(rows, "seconds", what=LATER, who="auto", C=10.0), unit="s")
