"""Machine code on disk is of the source as it is now."""

import os
import subprocess
import sys

INNER = """
from structsvm.compilation import compiled

@compiled
def inner(x):
    return x + {number}
"""

OUTER = """
from structsvm.compilation import compiled
from project.inner import inner

@compiled
def outer(x):
    return 10.0 * inner(x)
"""

PRINT = "from project.outer import outer; print(outer(1.0), sum(outer.stats.cache_hits.values()))"


def test_a_change_in_what_a_function_calls_is_seen(tmp_path):
    """numba looks at the file of the function itself only, and would run the machine code of the old one."""
    package = tmp_path / "project"
    package.mkdir()
    (package / "outer.py").write_text(OUTER, encoding="utf-8")
    (package / "inner.py").write_text(INNER.format(number=1.0), encoding="utf-8")

    def printed():
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", PRINT]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert printed() == ["20.0", "0"]
    assert printed() == ["20.0", "1"]
    (package / "inner.py").write_text(INNER.format(number=2.5), encoding="utf-8")
    assert printed() == ["35.0", "0"]
