"""Size of an installation, and time of an import and of the first help, compared with other packages."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from attrs import frozen

from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick
from benchmarks.harness.store import ROOT

TITLE = "Size of an installation"
ABOUT = """
Each package is installed from the package index in a separate empty environment.
"""
PAGE = "docs/install.md"

INSTALLED, PART, STARTED = "an installation", "a package of it", "a start"
OURS = "structural-svm"
SHOWN = 2.0
"""Megabytes from which a package of the installation is a separate row."""


@frozen
class Peer:
    """A package to compare with.

    Parameters
    ----------
    packages : packages to install.
    statement : the first import of a user.
    """

    packages: tuple[str, ...]
    statement: str


PEERS = {
    "scikit-learn": Peer(("scikit-learn",), "from sklearn.svm import LinearSVC"),
    "lightgbm": Peer(("lightgbm", "scikit-learn"), "from lightgbm import LGBMRanker"),
    "xgboost-cpu": Peer(("xgboost-cpu", "scikit-learn"), "from xgboost import XGBRanker"),
    "ranx": Peer(("ranx",), "from ranx import Qrels, Run, evaluate"),
    "ir-measures": Peer(("ir-measures",), "import ir_measures"),
    "pytrec-eval-terrier": Peer(("pytrec-eval-terrier",), "import pytrec_eval"),
    "pystruct": Peer(("pystruct",), "from pystruct.learners import OneSlackSSVM"),
}


def run(size: Size) -> Iterator[Row]:
    if find_spec("uv") is None:
        yield Row(what=INSTALLED, who="uv", note="uv is not installed: pip install uv")
        return
    repeats = min(5, size.repeats)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = Peer((str(ROOT),), "from structsvm import Ranker")
        for who, peer in {OURS: ours, **PEERS}.items():
            environment = folder / who
            if problem := _install(peer, environment):
                yield Row(what=INSTALLED, who=who, note=f"cannot be installed here: {problem}")
                continue
            parts = _parts(environment)
            yield Row(what=INSTALLED, who=who, values={"disk": sum(parts.values()), "packages": float(len(parts))})
            if who == OURS:
                for part, megabytes in sorted(parts.items(), key=lambda item: -item[1]):
                    if megabytes >= SHOWN:
                        yield Row(what=PART, who=part, values={"disk": megabytes})
                for statement in ("import structsvm", "import structsvm.data"):
                    yield _started(environment, who, [statement], repeats)
                yield _started(environment, f"{OURS}: structsvm --help", None, repeats)
            yield _started(environment, who, [peer.statement], repeats)


def targets(rows: list[Row]) -> Iterator[Target]:
    help_ = f"{OURS}: structsvm --help"
    yield Target("processor time of structsvm --help", 0.5, pick(rows, "cpu", what=STARTED, who=help_), unit="s")


def _install(peer: Peer, environment: Path) -> str:
    """Make an environment with the packages; return the last message of the installer if it failed."""
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "--quiet", "--no-project", "--python", sys.executable, environment], check=True)
    how = ["--quiet", "--compile-bytecode", "--link-mode", "copy"]
    command = [*uv, "pip", "install", *how, "--python", environment / "bin" / "python"]
    done = subprocess.run([*command, *peer.packages], capture_output=True, text=True, check=False)
    lines = [line.strip(" ×╰─▶") for line in done.stderr.splitlines() if line.strip(" ×╰─▶")]
    return lines[0] if done.returncode != 0 and lines else ""


def _parts(environment: Path) -> dict[str, float]:
    """Return the megabytes of each installed package by its record of files, without bytecode."""
    parts = {}
    for about in environment.glob("lib/python*/site-packages/*.dist-info"):
        files = [line.rpartition(",")[0].rpartition(",")[0] for line in (about / "RECORD").read_text().splitlines()]
        found = [about.parent / file.strip('"') for file in files if not file.endswith(".pyc")]
        parts[about.name.partition("-")[0]] = sum(path.stat().st_size for path in found if path.is_file()) / 1e6
    return parts


def _started(environment: Path, who: str, statements: list[str] | None, repeats: int) -> Row:
    """Measure the processor time of a process that imports something, or of ``structsvm --help``, after a first one."""
    command = [environment / "bin" / "structsvm", "--help"]
    if statements is not None:
        command = [environment / "bin" / "python", "-c", "; ".join(statements)]
        who = f"{who}: {'; '.join(statements)}"
    seconds = [_processor_seconds([str(word) for word in command]) for _ in range(1 + repeats)][1:]
    values = {"cpu": float(np.median(seconds)), "fastest": min(seconds)}
    return Row(what=STARTED, who=who, repeats=repeats, values=values)


def _processor_seconds(command: list[str]) -> float:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=tempfile.gettempdir())
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with exit code {process.returncode}")
    return used.ru_utime + used.ru_stime
