"""A wheel in an environment with nothing else: the quickstart and the demo, away from the repository."""

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from email.parser import Parser
from importlib.util import find_spec
from pathlib import Path

from attrs import frozen
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
RESOLUTIONS = ("newest", "oldest")
_OF_UV = {"newest": "highest", "oldest": "lowest-direct"}

MODULES_OF_PAGES = ("outputs.py", "pages.py")
"""The modules of tests/docs that run a page of the documentation."""

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
    resolution : "newest" or "oldest" versions of the dependencies.
    """

    version: str
    python: str
    resolution: str


@frozen
class Verdict:
    """The result of a trial.

    Parameters
    ----------
    trial : the environment.
    megabytes : of everything that was installed.
    packages : how many were.
    seconds : each step took.
    error : the output of the failing step; empty after success.
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
    result = {}
    for version in versions:
        done = subprocess.run(
            [*_uv(), "python", "find", "--no-project", "--no-python-downloads", version], capture_output=True, text=True
        )
        if done.returncode == 0:
            result[version] = done.stdout.strip()
    return result


def requirements_of(wheel: Path) -> tuple[Requirement, ...]:
    """Return the requirements of a wheel with its extra ``tools``, which most pages use."""
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = Parser().parsestr(archive.read(metadata).decode()).get_all("Requires-Dist", [])
    result = map(Requirement, lines)
    return tuple(each for each in result if each.marker is None or each.marker.evaluate({"extra": "tools"}))


def lower_bound(requirement: Requirement) -> Version:
    """Return the oldest version that ``name>=version`` allows."""
    (bound,) = (Version(each.version) for each in requirement.specifier if each.operator == ">=")
    return bound


def newer_than_asked(requirements: Sequence[Requirement], installed: dict[str, str]) -> list[str]:
    """Return packages of a later series than their lower bound, as ``numpy 2.4.6 instead of 2.0``.

    A bound is a series: ``>=2.0`` is tried with 2.0.0, or with 2.0.1 if 2.0.0 has no wheel.
    """
    result = []
    for each in requirements:
        bound, version = lower_bound(each), Version(installed[canonicalize_name(each.name)])
        if version.release[: len(bound.release)] != bound.release:
            result.append(f"{each.name} {version} instead of {bound}")
    return result


def try_wheel(wheel: Path, trial: Trial, folder: Path, *, demo: bool) -> Verdict:
    """Install a wheel into a new environment and use it as a new user does.

    Parameters
    ----------
    wheel : the file.
    trial : Python, and the versions of dependencies.
    folder : an empty one, for the environment and the outputs of commands.
    demo : whether ``structsvm demo`` runs, too.
    """
    environment, work = folder / "environment", folder / "work"
    bin_ = environment / ("Scripts" if os.name == "nt" else "bin")
    python, command = bin_ / "python", bin_ / "structsvm"
    (work / "tests" / "docs").mkdir(parents=True)
    (work / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "quickstart.md", work / "docs")
    for name in MODULES_OF_PAGES:
        shutil.copy(ROOT / "tests" / "docs" / name, work / "tests" / "docs")
    # uv picks the oldest versions only of direct dependencies, so name the dependencies' dependencies too.
    needed = requirements_of(wheel)
    given = [f"{wheel}[tools]", *(f"{each.name}{each.specifier}" for each in needed)]
    resolution = ["--resolution", _OF_UV[trial.resolution], "--only-binary", ":all:"]
    steps: dict[str, Callable[[], list[str]]] = {
        "environment": lambda: [*_uv(), "venv", "--quiet", "--no-project", "--python", trial.python, str(environment)],
        "install": lambda: [*_uv(), "pip", "install", "--quiet", "--python", str(python), *resolution, *given],
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
        if name == "install" and trial.resolution == "oldest":
            newer = newer_than_asked(needed, _installed(python))
            if newer:
                error = f"these are not the oldest versions: {', '.join(newer)}"
                break
    if not error and demo and not (work / "demo" / "report.html").is_file():
        error = "the demo wrote no report"
    packages = list(environment.rglob("*.dist-info"))
    size = sum(path.stat().st_size for path in environment.rglob("*") if path.is_file() and not path.is_symlink())
    return Verdict(trial, size / 1e6, len(packages), seconds, error)


def _installed(python: Path) -> dict[str, str]:
    """Return the versions of installed packages, by canonical name."""
    listing = [*_uv(), "pip", "list", "--quiet", "--format", "json", "--python", str(python)]
    done = subprocess.run(listing, capture_output=True, text=True, check=True)
    return {canonicalize_name(each["name"]): each["version"] for each in json.loads(done.stdout)}


def _uv() -> list[str]:
    if find_spec("uv") is None:
        raise SystemExit("uv makes the environments: pip install uv")
    return [sys.executable, "-m", "uv"]
