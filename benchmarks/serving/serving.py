"""Time of trained models: loading, the first scores, a query, a million rows."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import structsvm
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick
from benchmarks.harness.store import ONE_THREAD, ROOT
from structsvm import Ranker

TITLE = "Serving"
ABOUT = """
A linear model of 46 features, compared with `X @ w` of NumPy, the estimator from the same file, and 100 trees of 31
leaves by LightGBM. Processor seconds, the least of several runs in turn. The first rows are a new process after the
import of NumPy: import, load the model, and score 10 documents. "structsvm predict" is the whole command on a file of
100 documents, with the start of Python and NumPy. svm_rank's `svm_rank_classify` was not available.
"""

FIRST, COMMAND, QUERY, MANY = (
    "import, load, first scores",
    "the command predict",
    "a query of 100 documents",
    "a million rows",
)
OURS, NUMPY = "structsvm.load", "NumPy's X @ w"
FEATURES = 46

_SCRIPT = """
import sys, time
import numpy as np
X = np.ones((10, {features}))
began = time.process_time()
{work}
print(time.process_time() - began)
"""
_LOADS = {
    OURS: "import structsvm\nstructsvm.load({model!r}).predict(X)",
    "Ranker.load": "from structsvm import Ranker\nRanker.load({model!r}).predict(X)",
    "LightGBM": "import lightgbm\nlightgbm.Booster(model_file={trees!r}).predict(X)",
}


def run(size: Size) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, FEATURES))
    y, qid = (X[:, 0] + X[:, 1] > 1.0) * 1.0, np.repeat(np.arange(30), 20)
    with tempfile.TemporaryDirectory() as folder:
        model, trees, data = (str(Path(folder) / name) for name in ("m.npz", "trees.txt", "query.txt"))
        ranker = Ranker(solver="one-slack").fit(X, y, qid=qid)
        ranker.save(model)
        scorer = structsvm.load(model)
        w = np.asarray(ranker.coef_)
        score: dict[str, Callable[[Any], Any]] = {NUMPY: lambda rows: rows @ w, OURS: scorer.predict}
        score["Ranker.predict"] = ranker.predict
        loads = dict(_LOADS)
        if find_spec("lightgbm") is None:
            del loads["LightGBM"]
        else:
            booster = _trees(X, y, qid)
            booster.save_model(trees)
            score["LightGBM"] = lambda rows: booster.predict(rows, num_threads=1)
        yield from _first(loads, {"model": model, "trees": trees}, size.repeats)
        Path(data).write_text("".join(map(_line, X[:100])), encoding="utf-8")
        repeats = min(size.repeats, 3)
        whole = min(_command(model, data) for _ in range(repeats))
        yield Row(what=COMMAND, who="structsvm predict", repeats=repeats, values={"seconds": whole})
    yield from _queries(score, X[:100].copy(), size.repeats)
    yield from _many(score, rng.standard_normal((max(1000, int(1e6 * size.scale)), FEATURES)), min(3, size.repeats))


def _trees(X: Any, y: Any, qid: Any) -> Any:
    import lightgbm

    data = lightgbm.Dataset(X, y.astype(int), group=np.bincount(qid))
    settings = {"objective": "lambdarank", "num_leaves": 31, "min_data_in_leaf": 2, "num_threads": 1, "verbosity": -1}
    return lightgbm.train(settings, data, 100)


def _line(row: Any) -> str:
    return "0 qid:1 " + " ".join(f"{j}:{value:.6f}" for j, value in enumerate(row, start=1)) + "\n"


def _first(loads: dict[str, str], files: dict[str, str], repeats: int) -> Iterator[Row]:
    found: dict[str, list[float]] = {who: [] for who in loads}
    for _ in range(repeats):
        for who, work in loads.items():
            script = _SCRIPT.format(features=FEATURES, work=work.format(**files))
            found[who].append(json.loads(_output([sys.executable, "-c", script])))
    for who, seconds in found.items():
        yield Row(what=FIRST, who=who, repeats=repeats, values={"seconds": min(seconds)})


def _command(model: str, data: str) -> float:
    before = os.times()
    _output([sys.executable, "-m", "structsvm", "predict", model, data])
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _output(command: list[str]) -> str:
    environment = {**os.environ, **ONE_THREAD}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment)
    return done.stdout


def _queries(score: dict[str, Callable[[Any], Any]], X: Any, repeats: int) -> Iterator[Row]:
    found: dict[str, list[float]] = {who: [] for who in score}
    for _ in range(3 * repeats):
        for who, work in score.items():
            work(X)
            began = time.process_time()
            for _ in range(200):
                work(X)
            found[who].append((time.process_time() - began) / 200)
    for who, seconds in found.items():
        yield Row(what=QUERY, who=who, repeats=600 * repeats, values={"microseconds": 1e6 * min(seconds)})


def _many(score: dict[str, Callable[[Any], Any]], X: Any, repeats: int) -> Iterator[Row]:
    found: dict[str, list[float]] = {who: [] for who in score}
    for _ in range(repeats):
        for who, work in score.items():
            began = time.process_time()
            work(X)
            found[who].append(time.process_time() - began)
    for who, seconds in found.items():
        yield Row(what=MANY, who=who, repeats=repeats, values={"seconds": min(seconds)})


def targets(rows: list[Row]) -> Iterator[Target]:
    yield Target(FIRST, 0.15, pick(rows, "seconds", what=FIRST, who=OURS), unit="s")
    ours, theirs = (pick(rows, "microseconds", what=QUERY, who=who) for who in (OURS, NUMPY))
    over = None if ours is None or theirs is None else ours - theirs
    yield Target(f"{QUERY}: over X @ w", 15.0, over, unit="µs")
    trees = pick(rows, "seconds", what=MANY, who="LightGBM")
    yield Target(f"{MANY}: no slower than LightGBM", trees or 1.0, pick(rows, "seconds", what=MANY, who=OURS), unit="s")
