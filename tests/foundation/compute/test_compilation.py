"""Machine code on disk belongs to the present source."""

import json
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core import caching

from structsvm.foundation.compute.compilation import compiled, compiled_part, inlined_part

CALLED = """
from structsvm.foundation.compute.compilation import compiled

@compiled
def inner(x):
    return x + {number}
"""

CALLING = """
from structsvm.foundation.compute.compilation import compiled
from project.called import inner

@compiled
def outer(x):
    return 10.0 * inner(x)
"""

CONSTANT = "ADDED = {number}"

ADDING = """
from structsvm.foundation.compute.compilation import compiled
from project.constant import ADDED

@compiled
def outer(x):
    return 10.0 * (x + ADDED)
"""

ENUMERATION = """
from enum import IntEnum

class Added(IntEnum):
    BY_ONE = int({number})
"""

COUNTING = """
from structsvm.foundation.compute.compilation import compiled
from project.enumeration import Added

@compiled
def outer(x):
    return 10.0 * (x + Added.BY_ONE.value)
"""

USED = {"called": CALLED, "constant": CONSTANT, "enumeration": ENUMERATION}
USING = {"calling": CALLING, "adding": ADDING, "counting": COUNTING}

PRINT = """
from importlib import import_module
for name in ("calling", "adding", "counting"):
    outer = import_module(f"project.{name}").outer
    print(outer(1.0), sum(outer.stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_a_change_in_what_a_function_uses_is_seen(tmp_path):
    """numba looks at the file of the function itself only, and would run the machine code of the old one."""
    package = tmp_path / "project"
    package.mkdir()
    for name, text in USING.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")

    def printed(**numbers):
        """Return the output of functions that call a function, read a constant, and read an enumeration."""
        for name, number in numbers.items():
            (package / f"{name}.py").write_text(USED[name].format(number=number), encoding="utf-8")
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", PRINT]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    assert printed(called=1.0, constant=1.0, enumeration=1.0) == ["20.0 0", "20.0 0", "20.0 0"]
    assert printed() == ["20.0 1", "20.0 1", "20.0 1"]
    assert printed(constant=2.0) == ["20.0 1", "30.0 0", "20.0 1"]
    assert printed(called=2.0, enumeration=2.0) == ["30.0 0", "30.0 1", "30.0 0"]


def add_one(x):
    return x + 1.0


@pytest.mark.parametrize("content", [None, b"", b"garbage\n", b"\x80\x04K"], ids=["whole", "empty", "garbage", "torn"])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_damaged_files_of_machine_code_are_made_again(tmp_path, monkeypatch, content, kind):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert compiled(add_one)(1.0) == 2.0
    for path in tmp_path.rglob(f"*.{kind}"):
        path.write_bytes(path.read_bytes() if content is None else content)
    for hits in (int(content is None), 1):
        again = compiled(add_one)
        assert again(1.0) == 2.0
        assert sum(again.stats.cache_hits.values()) == hits


def test_two_processes_write_code_of_two_signatures_to_two_files(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    one, other = compiled(add_one), compiled(add_one)
    # Both write as if no code was there, like two processes that compile at the same time.
    monkeypatch.setattr(other._cache._cache_file, "_load_index", dict)
    assert one(1.0) == 2.0
    assert other(np.float32(1.0)) == 2.0
    assert len(list(tmp_path.rglob("*.nbc"))) == 2
    again = compiled(add_one)
    assert again(np.float32(1.0)) == again(1.0) == 2.0


def test_machine_code_that_cannot_be_kept_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    first = compiled(add_one)
    folder = next(tmp_path.iterdir())
    (folder / first._cache._cache_file._index_name).mkdir()  # as unwritable as a file on a full disk
    assert first(1.0) == 2.0


@compiled_part
def part(x, k):
    return x[0] / x[k]


@inlined_part
def inlined(x, k):
    return part(x, k)


@compiled
def whole(x, k):
    return 2.0 * inlined(x, k)


def test_a_part_raises_what_it_would():
    x = np.array([6.0, 3.0, 0.0])
    assert whole(x, 1) == 4.0
    with pytest.raises(ZeroDivisionError):
        whole(x, 2)


def test_machine_code_that_could_be_of_an_old_source_is_not_kept(monkeypatch, tmp_path):
    """As if numba's index could not record the files of called functions."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.delattr(caching.IndexDataCacheFile, "_load_data")
    function = compiled(add_one)
    assert function(1.0) == 2.0
    assert not list(tmp_path.rglob("*.nbi"))


FIT = """
import sys
from llvmlite import ir
from numba.core import cpu
if "usual" in sys.argv:
    del cpu._options_mixin.no_cfunc_wrapper, ir.IRBuilder.store_atomic
import numpy as np
from structsvm import Ranker
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 3))
y = np.where(X @ [1.0, -1.0, 0.5] + rng.standard_normal(200) > 0.5, 1, -1)
ranker = Ranker(loss="zero_one", C=1.0, solver="one-slack", tol=1e-6, n_jobs=2).fit(X, y)
result = ranker.result_
assert result.converged and result.gap >= -1e-12
print([result.primal, result.dual, *ranker.coef_.tolist()])
"""


@pytest.mark.slow
def test_a_fit_is_the_same_however_numba_compiles(tmp_path):
    """With and without the hooks of numba that save time, new and read from disk."""

    def printed(*way, **variables):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
        command = [sys.executable, "-c", FIT, *way]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    new, read = (printed("usual", NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert new == read
    np.testing.assert_allclose(json.loads(printed()), json.loads(new), rtol=1e-9)
