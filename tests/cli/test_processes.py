"""The command line as a process: exit codes, streams, signals."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
import tomllib
from functools import partial
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner

from structsvm import Ranker, Status
from structsvm.__main__ import main as entry
from structsvm.cli import main
from structsvm.models import LinearModel
from tests.cli.conftest import write_letor
from tests.slow import slow

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal and POSIX signals")


@pytest.mark.slow
def test_success_and_streams(process, here):
    one = process("train", "train.txt", "--model", "m.npz")
    output, errors = one.communicate(timeout=60)
    assert (one.returncode, errors) == (0, b"")  # no progress line where standard error is not a terminal
    assert output.startswith(b"data ")
    assert Path("m.npz").exists()


def test_failure_is_one_line_and_no_traceback(process, here):
    one = process("evaluate", "missing.npz", "test.txt")
    output, errors = one.communicate(timeout=60)
    assert (one.returncode, output) == (2, b"")
    assert errors == b"structsvm: error: missing.npz does not exist\n"


@pytest.mark.slow
@posix
@pytest.mark.parametrize("number", [signal.SIGINT, *slow(signal.SIGTERM)])
def test_progress_then_a_signal_that_ends_it_writes_the_model(process, here, number):
    write_letor(Path("long.txt"), queries=300, documents=40, features=80)
    leader, follower = os.openpty()
    one = process("train", "long.txt", "-C", "1e6", "--tol", "1e-9", "--model", "m.npz", stderr=follower)
    os.close(follower)
    seen = b""
    while b"iteration 2" not in seen:
        seen += os.read(leader, 1000)
    one.send_signal(number)
    seen += _rest(leader)
    output, _ = one.communicate(timeout=60)
    assert one.returncode == 1
    assert b"primal" in seen
    assert b"* C (tol 1e-09)" in seen
    assert b"structsvm: error: not converged: interrupted: this is the best result so far" in seen
    assert b"Traceback" not in seen
    assert b"optimum  between" in output
    result = Ranker.load("m.npz").result_
    assert result.gap > 1e-9 * 1e6


@pytest.mark.slow
@posix
def test_a_terminal_that_is_closed_ends_it_and_the_model_is_written(process, here):
    write_letor(Path("long.txt"), queries=300, documents=40, features=80)
    leader, follower = os.openpty()
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), follower)
    command = ("train", "long.txt", "-C", "1e6", "--tol", "1e-9", "--model", "m.npz")
    controlled = partial(fcntl.ioctl, 0, termios.TIOCSCTTY, 0)
    one = process(*command, **streams, start_new_session=True, preexec_fn=controlled)
    os.close(follower)
    seen = b""
    while b"iteration 2" not in seen:
        seen += os.read(leader, 1000)
    os.close(leader)
    assert one.wait(timeout=60) == 1
    assert Ranker.load("m.npz").result_.status is Status.INTERRUPTED


def _rest(terminal: int) -> bytes:
    seen = b""
    try:
        while more := os.read(terminal, 10_000):
            seen += more
    except OSError:  # how Linux says that the other end was closed
        pass
    os.close(terminal)
    return seen


@pytest.mark.slow
@posix
def test_a_reader_that_leaves_early(process, model):
    write_letor(Path("long.txt"), queries=300, documents=40, features=4)  # more than a pipe holds
    one = process("predict", model, "long.txt")
    assert one.stdout.readline()
    one.stdout.close()
    assert one.stderr.read() == b""
    assert one.wait(timeout=60) == 1


@pytest.mark.parametrize(
    "command", ["train", "predict", "evaluate", "compare", "fuse", "index", "retrieve", "list", "demo"]
)
def test_help_has_an_example(command):
    done = CliRunner().invoke(main, [command, "--help"])
    assert done.exit_code == 0
    assert f"Example:\n    structsvm {command}" in done.stdout


def test_version():
    assert version("structural-svm") in CliRunner().invoke(main, ["--version"]).stdout


def test_unexpected_exceptions_are_not_hidden(run, model, monkeypatch):
    monkeypatch.setattr(LinearModel, "predict", lambda self, X, qid=None: 1 / 0)
    done = CliRunner().invoke(main, ["predict", str(model), "test.txt"])
    assert isinstance(done.exception, ZeroDivisionError)


def test_ctrl_c_that_a_compiled_module_made_an_import_error_of_is_ctrl_c(run, model, monkeypatch):
    def initialize(self, X, qid=None):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise ImportError("initialization failed") from error

    monkeypatch.setattr(LinearModel, "predict", initialize)
    assert run("predict", model, "test.txt", code=1).stderr == "structsvm: error: interrupted\n"


LOADING = """
import runpy, sys
from importlib.abc import MetaPathFinder

interrupted = sys.argv[1]

class CtrlC(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == interrupted:
            raise KeyboardInterrupt

sys.meta_path.insert(0, CtrlC())
sys.argv = ["structsvm", "train", "train.txt", "--model", "m.npz"]
runpy.run_module("structsvm", run_name="__main__")
"""


@pytest.mark.parametrize("module", ["structsvm.estimators", *slow("click")])
def test_ctrl_c_during_imports_prints_one_line(here, module):
    done = subprocess.run([sys.executable, "-c", LOADING, module], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "structsvm: error: interrupted\n"


def test_the_script_is_the_module():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["scripts"]["structsvm"] == f"{entry.__module__}:{entry.__name__}"
