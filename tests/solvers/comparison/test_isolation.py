"""Backends that crash, hang, fail or lie are rows, and the comparison continues."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.solvers.comparison import compare, isolation
from structsvm.solvers.qp import Attempt, GeneralBackend, QPBackend, QPSolution
from tests.cli.test_processes import posix
from tests.small_problems import solved

ROOT = Path(__file__).resolve().parents[3]


@frozen
class Segfault(GeneralBackend):
    name = "segfault"

    def attempts(self, qp, start):
        os.kill(os.getpid(), signal.SIGSEGV)
        yield


@frozen
class Hang(GeneralBackend):
    name = "hang"
    cuts: int = 0
    cap: float = 0.0

    def attempts(self, qp, start):
        if len(qp.b) >= self.cuts and qp.cap[0] >= self.cap:
            time.sleep(1e6)
        yield from ()


@frozen
class Raise(GeneralBackend):
    name = "raise"

    def attempts(self, qp, start):
        raise ZeroDivisionError("no step")
        yield


@frozen
class NotANumber(GeneralBackend):
    name = "nan"

    def attempts(self, qp, start):
        print("not a number")
        yield Attempt(np.full(qp.size, np.nan))


@frozen
class Liar(QPBackend):
    """Reports a gap of 0 at the point 0."""

    name = "liar"

    def solve(self, qp, start=None):
        return QPSolution(np.zeros(qp.size), 0.0)


def limited(monkeypatch, seconds):
    monkeypatch.setattr(isolation, "GRACE", seconds)


@pytest.mark.slow
@posix
def test_a_crash_is_a_row(problem):
    one, two, other = compare(problem, "one-slack", [Segfault(), "highs"], [1.0, 10.0]).rows[:3]
    assert (one.status, one.note, one.gap) == ("crashed", "the process ended with SIGSEGV", None)
    assert (two.backend, two.status) == ("highs", "converged")
    assert (other.backend, other.status) == ("segfault", "crashed")


@pytest.mark.slow
def test_a_backend_that_does_not_return_is_killed(problem, monkeypatch):
    limited(monkeypatch, 0.5)
    began = time.monotonic()
    one, two = compare(problem, "one-slack", [Hang(), "active-set"], time_limit=0.5)
    assert (one.status, one.gap) == ("time limit", None)
    assert "the backend did not return: its process was killed" in one.note
    assert two.status == "converged"
    assert time.monotonic() - began < 60.0


@pytest.mark.slow
def test_a_killed_run_has_the_bounds_of_its_last_step(problem, monkeypatch):
    limited(monkeypatch, 0.5)
    (row,) = compare(problem, "one-slack", Hang(cuts=5, cap=100.0), 100.0, time_limit=0.5)
    (reference,) = compare(problem, "one-slack", "active-set", 100.0, tol=1e-6)
    assert row.status == "time limit"
    assert row.iterations >= 2
    assert row.dual <= reference.primal
    assert row.primal >= reference.dual
    assert row.gap == (row.primal - row.dual) / 100.0
    assert row.seconds >= 1.0
    assert [step.iteration for step in row.history] == list(range(row.iterations + 1))


@pytest.mark.slow
def test_errors_and_nan_are_rows(problem, capfd):
    one, two = compare(problem, "one-slack", [Raise(), NotANumber()], 10.0)
    assert one.status == "failed"
    assert one.note.startswith("ZeroDivisionError: no step (")
    assert (two.status, two.handovers > 0) == ("converged", True)
    assert capfd.readouterr().out == ""


def test_bounds_of_a_lying_backend_are_valid():
    problem, _, optimum = solved("map", 0, 10.0)
    for row in compare(problem, ["one-slack", "n-slack"], Liar(), 10.0):
        assert row.dual - 1e-9 <= optimum <= row.primal + 1e-9


@pytest.mark.slow
def test_a_daemonic_process_compares_only_the_built_in_backend(problem, monkeypatch):
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    with pytest.raises(InputError, match="this process is daemonic"):
        compare(problem, "one-slack", "highs")


def test_progress_and_memory_of_an_isolated_run(problem):
    steps = []
    rows = compare(
        problem,
        ["one-slack", "frank-wolfe"],
        ["active-set", "highs"],
        10.0,
        callback=lambda progress: steps.append(progress.step),
    )
    assert steps == [step for row in rows for step in (None, *row.history)]
    for row in rows:
        assert (row.peak_memory is not None) == sys.platform.startswith("linux")
        assert row.peak_memory is None or 20.0 < row.peak_memory < 5000.0


def test_the_built_in_backend_alone_needs_no_process(problem, monkeypatch):
    monkeypatch.setattr(isolation, "_Worker", None)
    rows = compare(problem, ["one-slack", "frank-wolfe"], "active-set")
    assert [(row.status, row.peak_memory) for row in rows] == [("converged", None)] * 2


SCRIPT = """
from attrs import frozen
from structsvm.solvers.comparison import compare
from structsvm.solvers.qp import GeneralBackend
from tests.small_problems import small_problem

@frozen
class Helpless(GeneralBackend):
    name = "helpless"
    def attempts(self, qp, start):
        yield from ()

print([row.status for row in compare(small_problem("map"), "one-slack", ["highs", Helpless()])])
"""


@pytest.mark.slow
def test_a_script_needs_no_main_guard(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == "['converged', 'converged']\n", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("during", [False, True])
def test_no_process_survives_ctrl_c(problem, monkeypatch, during):
    workers = []
    start = isolation._Worker.__init__

    def recorded(self):
        start(self)
        workers.append(self)

    monkeypatch.setattr(isolation._Worker, "__init__", recorded)

    def interrupt(progress):
        if progress.number == 2 and (progress.step is not None) == during:
            raise KeyboardInterrupt

    table = compare(problem, "one-slack", ["highs", "osqp"], 100.0, callback=interrupt)
    assert table.interrupted
    assert [row.status for row in table] == ["converged", *(["interrupted"] if during else [])]
    assert workers
    assert not any(worker.process.is_alive() for worker in workers)
