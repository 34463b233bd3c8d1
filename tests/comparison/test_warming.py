"""Nothing is compiled while the clock runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

COMPARE = """
from numba.core import event

from structsvm.comparison import compare
from structsvm.comparison import running
from tests.small_problems import small_problem

solve = running._Run.row
compiled = []


def recorded(self):
    with event.install_recorder("numba:compile") as recorder:
        row = solve(self)
    compiled.extend(str(one.data["dispatcher"]) for _, one in recorder.buffer if one.is_start)
    return row


running._Run.row = recorded
problems = {kind: small_problem(kind) for kind in ("map", "roc_area")}
table = compare(problems, ["one-slack", "n-slack", "frank-wolfe"], "active-set", [1.0, 1e4], tol=1e-6)
print(compiled, len(table))
"""


@pytest.mark.slow
def test_compilation_is_not_timed(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", COMPARE], capture_output=True, text=True, env=environment, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[] 12\n"
