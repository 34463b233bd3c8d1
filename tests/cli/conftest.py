import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from structsvm.cli import main
from structsvm.foundation.signals import ENDING


def write_letor(path: Path, *, queries: int, documents: int, features: int, first_qid: int = 1, seed: int = 0) -> Path:
    """Write random queries whose relevant documents have a larger first feature; in the last one, none is relevant."""
    rng = np.random.default_rng(seed)
    lines = []
    for query in range(queries):
        relevant = np.arange(documents) < (0 if query == queries - 1 else 3)
        X = rng.normal(size=(documents, features)) + np.outer(relevant, np.arange(features) == 0)
        for row, label in zip(X, relevant, strict=True):
            values = " ".join(f"{j}:{value:.4f}" for j, value in enumerate(row, start=1))
            lines.append(f"{int(label)} qid:{first_qid + query} {values}\n")
    path.write_text("".join(lines))
    return path


@pytest.fixture(autouse=True)
def signals_as_before(monkeypatch):
    """Restore the signal handlers and the hook that the command line replaces."""
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    before = {number: signal.getsignal(number) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in, with files train.txt and test.txt."""
    monkeypatch.chdir(tmp_path)
    write_letor(Path("train.txt"), queries=9, documents=12, features=4)
    write_letor(Path("test.txt"), queries=5, documents=12, features=4, first_qid=100, seed=1)
    return tmp_path


@pytest.fixture
def run(here):
    """Run a command in this process and expect the exit status `code`."""

    def invoke(*args, code=0):
        done = CliRunner().invoke(main, [str(arg) for arg in args], prog_name="structsvm")
        assert done.exit_code == code, done.output
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    return invoke


@pytest.fixture
def model(run):
    """A trained model."""
    run("train", "train.txt", "--model", "m.npz", "--quiet")
    return Path("m.npz")


@pytest.fixture
def process(here):
    """Start the command line as a separate process, which ends with the test."""
    started = []

    def start(*args, **streams):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
        environment = {key: value for key, value in os.environ.items() if key not in {"FORCE_COLOR", "TTY_COMPATIBLE"}}
        command = [sys.executable, "-m", "structsvm", *map(str, args)]
        started.append(subprocess.Popen(command, env=environment | {"TERM": "xterm"}, **pipes))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.communicate()
