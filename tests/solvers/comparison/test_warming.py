"""Nothing is compiled while the clock runs."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from structsvm.problem.planes import Capacity, DualPlanes
from structsvm.solvers import FrankWolfe, OneSlack
from structsvm.solvers.comparison.combinations import tasks
from structsvm.solvers.comparison.running import warm_up
from tests.small_problems import ranking

ROOT = Path(__file__).resolve().parents[2]

COMPARE = """
from numba.core import event

from structsvm.solvers.comparison import compare
from structsvm.solvers.comparison import running
from tests.small_problems import ranking, small_problem

solve = running.CombinationRun.row
compiled = []


def recorded(self):
    with event.install_recorder("numba:compile") as recorder:
        row = solve(self)
    compiled.extend(str(one.data["dispatcher"]) for _, one in recorder.buffer if one.is_start)
    return row


running.CombinationRun.row = recorded
{compared}
print(compiled, len(table))
"""

FEW = """
problems = {kind: small_problem(kind) for kind in ("map", "roc_area")}
table = compare(problems, ["one-slack", "n-slack", "frank-wolfe"], "active-set", [1.0, 1e4], tol=1e-6)
"""

ENOUGH_FOR_FRANK_WOLFE = """
problem = ranking("map", 0, queries=60, documents=20, d=6)
table = compare(problem, ["auto", "one-slack"], "active-set", [1.0, 1e3, 1e7], tol=1e-6)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("compared", "rows"), [(FEW, 12), (ENOUGH_FOR_FRANK_WOLFE, 6)])
def test_compilation_is_not_timed(compared, rows, tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    source = COMPARE.replace("{compared}", compared)
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, env=environment, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"[] {rows}\n"


@pytest.mark.parametrize("queries", [5, 60])
def test_the_choices_of_auto_are_compiled_first(queries, monkeypatch):
    """It chooses by the whole problem, of which a few examples are solved."""
    seen = []
    for kind in (FrankWolfe, OneSlack):
        monkeypatch.setattr(kind, "solve", lambda self, problem, **_: seen.append((type(self), problem.n)))
    problem = ranking("map", 0, queries=queries, documents=20)
    (task,) = tasks(problem, "auto", "active-set", 1.0, 1e-3)
    warm_up(task)
    assert seen == [(FrankWolfe, 2), (OneSlack, 2)] if queries == 60 else [(OneSlack, 2)]


@pytest.mark.parametrize(("memory", "digits"), [(2**28, np.float64), (2**16, np.float64), (2**15, np.float32)])
def test_planes_have_as_many_digits_as_in_the_run(memory, digits, monkeypatch):
    seen = []
    solve = FrankWolfe.solve

    def spy(self, problem, **settings):
        seen.append((Capacity.within(problem.n, problem.d, self.memory).dtype, problem.n))
        return solve(self, problem, **settings)

    monkeypatch.setattr(FrankWolfe, "solve", spy)
    problem = ranking("map", 0, queries=60, documents=20)
    (task,) = tasks(problem, f"frank-wolfe(memory={memory})", "active-set", 1.0, 1e-3)
    warm_up(task)
    assert seen == [(Capacity.within(60, problem.d, memory).dtype, 2)]
    assert seen[0][0] is digits


def test_the_joint_step_is_warmed(monkeypatch):
    cuts = []
    mix = DualPlanes.mix
    monkeypatch.setattr(DualPlanes, "mix", lambda self, *args: (cuts.append(len(args[1])), mix(self, *args)))
    (task,) = tasks(ranking("map", 0), "frank-wolfe", "active-set", 1e-9, 1e-3)
    warm_up(task)
    assert max(cuts) > 1
