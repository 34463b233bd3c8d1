"""Requests beyond the available memory are rejected before the allocation."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from structsvm.cli import main
from structsvm.exceptions import StructSVMError, TooLargeError
from structsvm.foundation import memory

MOST = 500 * 2**20

REFUSED = """
import re
import numpy as np, scipy.sparse as sp
from structsvm import Problem, Ranker, StructuralSVM
from structsvm.data import load_letor
from structsvm.exceptions import InputError, TooLargeError
from structsvm.losses import Multiclass
from structsvm.features.operators import Rows
from structsvm.features.operators.composed import WithShared
from structsvm.solvers.qp import ActiveSet
from structsvm.solvers import FrankWolfe, NSlack, OneSlack
from structsvm.solvers.working_set import WorkingSet

X, y, qid = np.random.default_rng(0).standard_normal((40, 400)), np.tile([0.0, 1.0], 20), np.repeat(np.arange(10), 4)
far = sp.csr_array(([1.0] * 40, (range(40), [10**18 + i for i in range(40)])), shape=(40, 2 * 10**18))
problem = Problem.from_queries(X, y, qid)
tries = {
    "classes": lambda: StructuralSVM(Multiclass(classes=range(10**6))).fit(np.tile(X, 50), y.astype(int)),
    "columns": lambda: Ranker().fit(far, y, qid),
    "dense": lambda: load_letor("far.txt", sparse=False),
    "n_features": lambda: load_letor("far.txt", n_features=2 * 10**9, sparse=False),
    "planes": lambda: FrankWolfe(memory=10**15).solve(Problem.from_queries(wide(), y, qid)),
    "cuts": lambda: WorkingSet(10**7, np.ones(1), 20_000)._reserve(20_000),
}

def wide():
    return sp.csr_array((40, 3 * 10**9))

for name, attempt in tries.items():
    try:
        attempt()
        print(name, "was done")
    except (InputError, TooLargeError, MemoryError) as error:
        print(f"{name} {type(error).__name__}: {error}")
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
def test_the_worst_that_is_refused_takes_little_memory(tmp_path):
    lines = [f"{i % 2} qid:{i // 8} 1:0.{i} {'' if i else '2000000000:1'}\n" for i in range(48)]
    (tmp_path / "far.txt").write_text("".join(lines))
    limited = f"import resource\nresource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))\n{REFUSED}"
    done = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    *said, used = done.stdout.splitlines()
    assert [line.split()[1] for line in said] == ["TooLargeError:"] * len(said), done.stdout
    assert all(re.search(r"\d [KMGTPE]iB", line) for line in said), done.stdout
    assert 1024 * int(used) < MOST


def test_there_is_memory():
    there = memory.available()
    assert there > 2**20
    memory.require_memory(1000.0, "a little", "none")


@pytest.mark.parametrize(("size", "text"), [(0, "0 bytes"), (1536, "1.5 KiB"), (2**47, "128 TiB")])
def test_numbers_of_bytes(size, text):
    assert memory.in_units(size) == text


def test_the_message_says_how_much_and_what_to_do(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 3.0 * 2**30)
    with pytest.raises(
        TooLargeError, match=r"^5 cuts take 4.0 GiB of memory, but 3.0 GiB are available: use fewer$"
    ) as error:
        memory.require_memory(4.0 * 2**30, "5 cuts", "use fewer")
    assert isinstance(error.value, StructSVMError)
    assert isinstance(error.value, MemoryError)


@pytest.mark.parametrize(
    ("limits", "least"),
    [
        ({}, 2**22),
        ({"/sys/fs/cgroup/memory.max": "1000\n", "/sys/fs/cgroup/memory.current": "400\n"}, 600),
        ({"/sys/fs/cgroup/memory.max": "max\n", "/sys/fs/cgroup/memory.current": "400\n"}, 2**22),
    ],
)
def test_the_least_of_all_limits_counts(monkeypatch, limits, least):
    files = {"/proc/meminfo": "MemTotal: 9000 kB\nMemAvailable: 4096 kB\n"} | limits
    monkeypatch.setattr(memory, "_text", lambda path: files.get(path, ""))
    assert memory.available() == least


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "not enough memory. Use fewer"),
        (
            MemoryError("Unable to allocate 47.7 GiB for an array"),
            "Unable to allocate 47.7 GiB for an array. Use fewer",
        ),
        (TooLargeError("5 cuts take 4.0 GiB"), "error: 5 cuts take 4.0 GiB"),
    ],
)
def test_a_command_says_it_in_a_line(monkeypatch, tmp_path, error, said):
    def fail(*arguments, **settings):
        raise error

    monkeypatch.setattr("structsvm.data.load_letor", fail)
    done = CliRunner().invoke(main, ["train", "d.txt", "--model", str(tmp_path / "m.npz")])
    assert done.exit_code == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_far_feature_costs_nothing(tmp_path):
    lines = [f"{i % 2} qid:{i // 8} 1:0.{i} 2:0.{i * 7 % 10}{' 100000000:1' * (i == 5)}\n" for i in range(48)]
    (tmp_path / "far.txt").write_text("".join(lines))
    run, files = CliRunner().invoke, [str(tmp_path / name) for name in ("m.npz", "far.txt", "out.txt")]
    for command in (["train", files[1], "--model", files[0]], ["predict", *files[:2], "-o", files[2]]):
        done = run(main, command)
        assert done.exit_code == 0, done.output
    compared = ["--solver", "one-slack,n-slack,frank-wolfe", "--backend", "active-set"]
    done = run(main, ["compare", files[1], *compared])
    assert done.output.count("converged") >= 3
    assert (tmp_path / "m.npz").stat().st_size < 100_000
