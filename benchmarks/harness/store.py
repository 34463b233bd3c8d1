"""Run a benchmark, and store its rows."""

import json
import os
import platform
from datetime import date
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.harness.rows import Row

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parent
FOLDER = HERE / "results"

MODULES = {
    path.stem: f"benchmarks.{path.parent.name}.{path.stem}"
    for path in HERE.glob("*/*.py")
    if "\nTITLE = " in path.read_text(encoding="utf-8")
}
"""The benchmarks by name: the modules with a title."""

NAMES = tuple(sorted(MODULES))

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""Environment that limits BLAS to one thread. BLAS reads it when NumPy is imported."""

PACKAGES = (
    "structural-svm",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "dlib",
    "lightgbm",
    "xgboost-cpu",
    "xgboost",
    "torch",
    "allRank",
    "bm25s",
    "dask",
)


def measure(name: str, scale: float, repeats: int) -> list[Row]:
    """Run a benchmark in this process, print its rows, and store them if the scale is 1."""
    from benchmarks.harness.measuring import Size, threads

    rows = []
    with threads(1):
        for row in load(name).run(Size(scale, repeats)):
            print(f"   {row}", flush=True)
            rows.append(row)
    if scale == 1.0:
        FOLDER.mkdir(exist_ok=True)
        lines = ",\n".join(json.dumps(row.as_json()) for row in rows)
        text = f'{{"machine": {json.dumps(machine())},\n"rows": [\n{lines}\n]}}\n'
        (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")
    return rows


def load(name: str) -> Any:
    """Import a benchmark."""
    return import_module(MODULES[name])


def read(name: str) -> tuple[dict[str, Any], list[Row]] | None:
    """Return the machine and the rows of a benchmark, or None if it was never run at full size."""
    path = FOLDER / f"{name}.json"
    if not path.exists():
        return None
    kept = json.loads(path.read_text(encoding="utf-8"))
    return kept["machine"], [Row(**row) for row in kept["rows"]]


def machine() -> dict[str, Any]:
    """Describe the machine and the installed packages."""
    return {
        "date": date.today().isoformat(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
