"""Readers of LETOR's text, each in a separate process: ``python -m benchmarks.peers.readers NAME FILE``."""

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness.measuring import peak_megabytes

WARM = "1 1:0.5 2:0.25\n0 1:0.125 2:1\n"
"""Text to read before the clock runs, to load and compile all code; it is repeated for the compiled loops."""


def ours(path: str) -> Any:
    from structsvm.data import load_letor

    return load_letor(path)


def ours_float32(path: str) -> Any:
    from structsvm.data import load_letor

    return load_letor(path, dtype="float32")


def cached(path: str) -> Any:
    from structsvm.data import load_letor

    return load_letor(path, cache=f"{path}.cache")


def lightgbm(path: str) -> Any:
    import lightgbm

    return lightgbm.Dataset(path, params={"verbose": -1}).construct()


def xgboost(path: str) -> Any:
    import xgboost

    return xgboost.DMatrix(f"{path}?format=libsvm")


def sklearn(path: str) -> Any:
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(path)


READERS: dict[str, Callable[[str], Any]] = {
    "load_letor": ours,
    "load_letor, float32": ours_float32,
    "load_letor, cached": cached,
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
    "scikit-learn": sklearn,
}
"""The readers by name; each returns its result, which therefore stays in memory."""

NEEDS = {"LightGBM": "lightgbm", "XGBoost": "xgboost"}
"""The packages that other readers need."""


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main(name: str, path: str) -> None:
    read = READERS[name]
    warm = Path(path).with_name("warm.txt")
    warm.write_text(WARM * 20_000)
    warm.with_name("warm.txt.query").write_text("40000\n")
    del_later = read(str(warm))
    del del_later
    before = peak_megabytes()
    cpu, began = _cpu(), time.perf_counter()
    kept = read(path)
    values = {"cpu": _cpu() - cpu, "seconds": time.perf_counter() - began, "megabytes": peak_megabytes() - before}
    del kept
    print(json.dumps(values))


if __name__ == "__main__":
    main(*sys.argv[1:])
