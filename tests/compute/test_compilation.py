"""Machine code on disk is of the source as it is now."""

import os
import shutil
import subprocess
import sys
import time
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from structsvm.compute import kept_code
from structsvm.compute.compilation import compiled, compiled_part

CALLED = """
from structsvm.compute.compilation import compiled

@compiled
def inner(x):
    return x + {number}
"""

CALLING = """
from structsvm.compute.compilation import compiled
from project.called import inner

@compiled
def outer(x):
    return 10.0 * inner(x)
"""

CONSTANT = "ADDED = {number}"

ADDING = """
from structsvm.compute.compilation import compiled
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
from structsvm.compute.compilation import compiled
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


def test_a_change_in_what_a_function_uses_is_seen(tmp_path):
    """numba looks at the file of the function itself only, and would run the machine code of the old one."""
    package = tmp_path / "project"
    package.mkdir()
    for name, text in USING.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")

    def printed(**numbers):
        """What is printed by a function that calls another, one with a constant, and one with an enumeration."""
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


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder for machine code."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    kept_code._root.cache_clear()
    yield tmp_path
    kept_code._root.cache_clear()


def test_code_is_kept_and_read_again(folder):
    for hits in (0, 1):
        function = compiled(add_one)
        assert function(1.0) == 2.0
        assert sum(function.stats.cache_hits.values()) == hits
    assert str(folder) == numba.config.CACHE_DIR


def test_nothing_is_kept_on_a_full_disk(folder, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    assert compiled(add_one)(1.0) == 2.0
    assert not list(folder.rglob("*.nbi"))


def test_a_function_without_a_source_file_is_compiled_and_not_kept(folder):
    space = {}
    exec("def doubled(x):\n    return 2.0 * x", space)
    assert compiled(space["doubled"])(1.0) == 2.0
    assert not list(folder.rglob("*.nbi"))


def test_code_of_old_versions_is_removed_after_a_week(folder):
    old, recent = (folder / f"{__name__}-{name}" for name in ("old", "recent"))
    for each, days in ((old, 8), (recent, 6)):
        each.mkdir()
        then = time.time() - days * 24 * 3600
        os.utime(each, (then, then))
    compiled(add_one)(1.0)
    assert (old.exists(), recent.exists()) == (False, True)


@compiled_part
def part(x, k):
    return x[0] / x[k]


@compiled
def whole(x, k):
    return 2.0 * part(x, k)


def test_a_part_runs_alone_and_within_its_callers_and_raises():
    x = np.array([6.0, 3.0, 0.0])
    assert (whole(x, 1), part(x, 1)) == (4.0, 2.0)
    for function in (whole, part):
        with pytest.raises(ZeroDivisionError):
            function(x, 2)
