"""Nothing is compiled while the clock runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from structsvm.problem.planes import DualPlanes
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


def test_the_joint_step_is_warmed(monkeypatch):
    cuts = []
    mix = DualPlanes.mix
    monkeypatch.setattr(DualPlanes, "mix", lambda self, *args: (cuts.append(len(args[1])), mix(self, *args)))
    (task,) = tasks(ranking("map", 0), "frank-wolfe", "active-set", 1e-9, 1e-3)
    warm_up(task)
    assert max(cuts) > 1
