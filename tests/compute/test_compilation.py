"""Machine code on disk is of the source as it is now."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

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


def test_machine_code_that_cannot_be_kept_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    first = compiled(add_one)
    folder = next(tmp_path.iterdir())
    (folder / first._cache._cache_file._index_name).mkdir()  # as unwritable as a file on a full disk
    assert first(1.0) == 2.0


@compiled_part
def part(x, k):
    return x[0] / x[k]


@compiled
def whole(x, k):
    return 2.0 * part(x, k)


def test_a_part_is_no_machine_code_and_raises_what_it_would():
    x = np.array([6.0, 3.0, 0.0])
    assert whole(x, 1) == 4.0
    (made,) = part.overloads.values()
    assert made.library.get_pointer_to_function(made.fndesc.llvm_func_name) == 0
    assert part(x, 1) == 2.0  # compiled once more
    for function in (whole, part):
        with pytest.raises(ZeroDivisionError):
            function(x, 2)


LINKED = """
from structsvm.compute.compilation import compiled, compiled_part

@compiled_part
def part(x):
    return x + 1.0

@compiled
def one(x):
    return 10.0 * part(x)

@compiled
def other(x):
    return 100.0 * part(x)
"""


def test_a_part_that_was_kept_is_linked_into_others(tmp_path):
    (tmp_path / "linked.py").write_text(LINKED, encoding="utf-8")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    for name, printed in (("one", "20.0 0"), ("other", "200.0 1")):
        command = f"import linked; print(linked.{name}(1.0), sum(linked.part.stats.cache_hits.values()))"
        done = subprocess.run(
            [sys.executable, "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == printed


def total(values):
    result = 0.0
    for value in values:
        result += value
    return result


def test_a_part_that_is_read_is_linked_as_the_new_one_was(tmp_path, monkeypatch):
    """Else who is compiled with it rounds otherwise, and fits of two processes differ."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    signature = (numba.float64[::1],)
    new, kept = compiled_part(total), compiled_part(total)
    new.compile(signature)
    read = kept._cache.load_overload(signature, kept.targetctx)
    linked = [str(each.library._get_module_for_linking()) for each in (new.overloads[signature], read)]
    assert len({text[text.index("source_filename") :] for text in linked}) == 1
