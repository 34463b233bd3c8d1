"""Work in processes: the calling process survives in every backend, and Ctrl-C still ends it."""

import logging
import os
import signal
import subprocess
import sys
import time

import pytest

from structsvm.foundation.compute.processes import spread

# A process that a watch would end is gone long before the second is over.
ROOTS = """
import math, multiprocessing, signal, sys, time
import joblib
from structsvm.foundation.compute.processes import spread

def roots():
    before = signal.getsignal(signal.SIGINT)
    found = sorted(spread(math.sqrt, [(1.0,), (4.0,), (9.0,)], 2))
    time.sleep(0.7)
    return found, signal.getsignal(signal.SIGINT) is before

if __name__ == "__main__":
    {statement}
    assert found == ([1.0, 2.0, 3.0], True), found
    print("lives")
"""


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param(
            "with joblib.parallel_config(backend='sequential'): found = roots()",
            id="sequential",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "with joblib.parallel_config(backend='threading'): found = roots()", id="threading", marks=pytest.mark.slow
        ),
        pytest.param(
            "(found, _) = joblib.Parallel(n_jobs=2)([joblib.delayed(roots)(), joblib.delayed(roots)()])",
            id="in a worker",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "(found, _) = joblib.Parallel(n_jobs=2, backend='threading')([joblib.delayed(roots)()] * 2)",
            id="in a thread",
        ),
        pytest.param(
            "with multiprocessing.get_context('spawn').Pool(1) as pool: found = pool.apply_async(roots).get(60)",
            id="in a pool",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_who_asks_lives_on(statement, tmp_path):
    script = tmp_path / "roots.py"
    script.write_text(ROOTS.format(statement=statement))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "lives\n"), done.stderr


def logged(text):
    logging.getLogger("structsvm.solvers").warning(text)


def test_workers_print_nothing_that_is_logged(capfd):
    assert list(spread(logged, [("crawls",), ("crawls",)], 2)) == [None, None]
    assert "crawls" not in capfd.readouterr().err


def test_it_runs_in_other_processes():
    assert os.getpid() not in set(spread(os.getpid, [(), (), ()], 2))


EARLY = """
import time
from contextlib import closing
from structsvm.foundation.compute.processes import spread

if __name__ == "__main__":
    with closing(spread(time.sleep, [(0.0,), (60.0,), (60.0,)], 2)) as ready:
        next(ready)
"""


@pytest.mark.slow
def test_workers_are_ended_without_other_programs(tmp_path):
    """A signal to the process group would also end the other program, and the workers would continue."""
    script = tmp_path / "script.py"
    script.write_text(EARLY)
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=50, env={**os.environ, "PATH": str(tmp_path)}
    )
    assert (done.returncode, done.stderr) == (0, "")


# One task for three workers: two of them are idle. The task occupies a worker for a minute, like examples in Python.
BUSY = """
import os, signal, sys, time
import joblib, numpy as np
from structsvm.foundation.compute.processes import spread
from structsvm.foundation.compute.workers import run_in_worker

def sleep(seconds):
    print("begun", flush=True)
    time.sleep(seconds)

if __name__ == "__main__":
    {statement}
"""
KINDS = {
    "spread": ("next(spread(sleep, [(60,)], 3))", 1),
    "examples": ("joblib.Parallel(2)([joblib.delayed(run_in_worker)(os.getpid(), sleep, 60)] * 2)", 2),
}


def session(leader):
    """Return the processes of a session without zombies."""
    listing = subprocess.run(["ps", "-o", "pid=,stat=,args=", "-s", str(leader)], capture_output=True, text=True)
    return [line for line in listing.stdout.splitlines() if line.split()[1][0] != "Z"]


def left_of(leader):
    """The processes of a session that do not end: 2 seconds will do, but on a busy machine."""
    deadline = time.monotonic() + 15.0
    while session(leader) and time.monotonic() < deadline:
        time.sleep(0.05)
    return session(leader)


def begun(statement, tasks, tmp_path):
    script = tmp_path / "busy.py"
    script.write_text(BUSY.format(statement=statement))
    started = subprocess.Popen([sys.executable, script], start_new_session=True, stdout=subprocess.PIPE, text=True)
    assert [started.stdout.readline() for _ in range(tasks)] == ["begun\n"] * tasks
    return started


@pytest.mark.skipif(sys.platform == "win32", reason="needs ps")
@pytest.mark.parametrize(("statement", "tasks"), KINDS.values(), ids=list(KINDS))
def test_no_worker_outlives_the_process_that_asked(statement, tasks, tmp_path):
    started = begun(statement, tasks, tmp_path)
    started.kill()
    started.wait()
    assert left_of(started.pid) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of a group of processes")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_workers_leave_signals_to_the_process_that_asked(number, tmp_path):
    ask = f"signal.signal({int(number)}, signal.default_int_handler)"
    statement = f"{ask}\n    try: {KINDS['spread'][0]}\n    except KeyboardInterrupt: print('ended')"
    started = begun(statement, 1, tmp_path)
    os.killpg(started.pid, number)
    output, _ = started.communicate(timeout=60)
    assert (started.returncode, output) == (0, "ended\n")
    assert left_of(started.pid) == []
