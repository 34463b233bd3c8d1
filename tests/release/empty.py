"""A wheel in an environment with nothing else: the quickstart and the demo, away from the repository."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).resolve().parents[2]
RESOLUTIONS = ("newest", "oldest")
_OF_UV = {"newest": "highest", "oldest": "lowest-direct"}

_QUICKSTART = """
import sys
from pathlib import Path

import structsvm

assert Path(structsvm.__file__).is_relative_to(sys.prefix), structsvm.__file__
from tests.docs.pages import Page

Path("quickstart").mkdir()
page = Page(Path("docs/quickstart.md").resolve(), Path("quickstart"), data=Path("nowhere"))
page.run()
"""


@frozen
class Trial:
    """An environment to try.

    Parameters
    ----------
    version : of Python, as "3.11".
    python : its interpreter.
    resolution : "newest" versions of what the wheel depends on, or the "oldest" that it allows.
    """

    version: str
    python: str
    resolution: str


@frozen
class Verdict:
    """What came of a trial.

    Parameters
    ----------
    trial : the environment.
    megabytes : of everything that was installed.
    packages : how many were.
    seconds : each step took.
    error : what the failing step printed; empty where all passed.
    """

    trial: Trial
    megabytes: float
    packages: int
    seconds: dict[str, float]
    error: str

    @property
    def passed(self) -> bool:
        return not self.error

    def __str__(self) -> str:
        steps = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.seconds.items())
        head = f"Python {self.trial.version}, {self.trial.resolution} versions: "
        sizes = f"{self.packages} packages, {self.megabytes:.0f} MB; {steps}"
        return f"{head}{sizes}; passed" if self.passed else f"{head}{sizes}; FAILED\n{self.error}"


def found_pythons(versions: Sequence[str]) -> dict[str, str]:
    """Return the interpreters that uv finds here, by version; it downloads none."""
    found = {}
    for version in versions:
        done = subprocess.run(
            [*_uv(), "python", "find", "--no-project", "--no-python-downloads", version], capture_output=True, text=True
        )
        if done.returncode == 0:
            found[version] = done.stdout.strip()
    return found


def try_wheel(wheel: Path, trial: Trial, folder: Path, *, demo: bool) -> Verdict:
    """Install a wheel into an environment of its own and use it as a new user does.

    Parameters
    ----------
    wheel : the file.
    trial : Python, and which versions.
    folder : an empty one, for the environment and what the commands write.
    demo : whether ``structsvm demo`` runs, too.
    """
    environment, work = folder / "environment", folder / "work"
    bin_ = environment / ("Scripts" if os.name == "nt" else "bin")
    python, command = bin_ / "python", bin_ / "structsvm"
    (work / "tests" / "docs").mkdir(parents=True)
    (work / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "quickstart.md", work / "docs")
    shutil.copy(ROOT / "tests" / "docs" / "pages.py", work / "tests" / "docs")
    resolution = ["--resolution", _OF_UV[trial.resolution], "--only-binary", ":all:"]
    steps: dict[str, Callable[[], list[str]]] = {
        "environment": lambda: [*_uv(), "venv", "--quiet", "--no-project", "--python", trial.python, str(environment)],
        "install": lambda: [*_uv(), "pip", "install", "--quiet", "--python", str(python), *resolution, str(wheel)],
        "check": lambda: [*_uv(), "pip", "check", "--python", str(python)],
        "import": lambda: [str(python), "-c", "import structsvm; structsvm.Ranker"],
        "help": lambda: [str(command), "--help"],
        "quickstart": lambda: [str(python), "-c", _QUICKSTART],
    }
    if demo:
        steps["demo"] = lambda: [str(command), "demo", "--out", "demo"]
    seconds: dict[str, float] = {}
    error = ""
    surroundings = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    surroundings |= {"NUMBA_CACHE_DIR": str(folder / "numba"), "OMP_NUM_THREADS": "1"}
    for name, step in steps.items():
        began = time.perf_counter()
        done = subprocess.run(step(), cwd=work, env=surroundings, capture_output=True, text=True, encoding="utf-8")
        seconds[name] = time.perf_counter() - began
        if done.returncode != 0:
            error = f"{name} ended with exit code {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}"
            break
    if not error and demo and not (work / "demo" / "report.html").is_file():
        error = "the demo wrote no report"
    packages = list(environment.rglob("*.dist-info"))
    size = sum(path.stat().st_size for path in environment.rglob("*") if path.is_file() and not path.is_symlink())
    return Verdict(trial, size / 1e6, len(packages), seconds, error)


def _uv() -> list[str]:
    if find_spec("uv") is None:
        raise SystemExit("uv makes the environments: pip install uv")
    return [sys.executable, "-m", "uv"]
