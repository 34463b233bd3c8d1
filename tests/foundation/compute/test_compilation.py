"""Machine code on disk is of the source as it is now."""

import json
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core import caching, codegen, compiler, cpu

import structsvm.foundation.compute
from structsvm.foundation.compute import compilation
from structsvm.foundation.compute.compilation import compiled, compiled_part

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
from structsvm.foundation.compute.compilation import compiled, compiled_part

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


@pytest.fixture
def afresh(monkeypatch):
    """Numba is looked at again: not that of another test."""
    compilation._parts.cache_clear()
    monkeypatch.delitem(sys.modules, "structsvm.foundation.compute.parts", raising=False)
    monkeypatch.delattr(structsvm.foundation.compute, "parts", raising=False)
    yield
    compilation._parts.cache_clear()


GONE = {
    "libraries": (codegen, "JITCodeLibrary"),
    "reading": (compiler.CompileResult, "_rebuild"),
    "wrapper": (cpu._options_mixin, "no_cpython_wrapper"),
    "kinds of libraries": (codegen.CPUCodeLibrary, "_unserialize"),
    "symbols": (codegen.CPUCodeLibrary, "_verify_declare_only_symbols"),
}
CHANGED = {
    "what is kept": (codegen.CPUCodeLibrary, "serialize_using_bitcode", lambda self: (self.name, "text", "")),
    "what is asked": (cpu.CPUContext, "get_executable", lambda _self, library, *_: library.address("f")),
    "steps": (codegen.CPUCodeLibrary, "finalize", lambda self: self._finalize_final_module()),
}


@pytest.mark.usefixtures("afresh")
@pytest.mark.parametrize("gone", GONE.values(), ids=GONE)
def test_without_a_name_of_numba_parts_are_compiled_as_numba_does(gone, monkeypatch):
    monkeypatch.delattr(*gone)
    assert compilation._parts() is None


@pytest.mark.usefixtures("afresh")
@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED)
def test_where_numba_does_otherwise_parts_are_compiled_as_numba_does(changed, monkeypatch, caplog):
    monkeypatch.setattr(*changed)
    with caplog.at_level("INFO", "structsvm"):
        assert compilation._parts() is None
    assert "does not know this numba" in caplog.text


@pytest.mark.usefixtures("afresh")
def test_this_numba_has_what_parts_stand_on():
    assert compilation._parts() is not None


def test_machine_code_of_one_way_of_compiling_is_not_read_by_the_other(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    parts = compilation._parts()
    for way, hits in ((parts, 0), (parts, 1), (None, 0), (None, 1), (parts, 0)):
        monkeypatch.setattr(compilation, "_parts", lambda way=way: way)
        function = compiled(add_one)
        assert function(1.0) == 2.0
        assert sum(function.stats.cache_hits.values()) == hits
    monkeypatch.setattr(compilation, "_parts", lambda: None)
    assert compiled_part(total)._cache.cache_path is None


def test_machine_code_that_could_be_of_an_old_source_is_not_kept(monkeypatch, tmp_path):
    """Where numba's index cannot be told of the files of the functions that are called."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.delattr(caching.IndexDataCacheFile, "_load_data")
    function = compiled(add_one)
    assert function(1.0) == 2.0
    assert not list(tmp_path.rglob("*.nbi"))


FIT = """
import sys
from llvmlite import ir
from numba.core import codegen, cpu
if "usual" in sys.argv:
    del codegen.JITCodeLibrary, cpu._options_mixin.no_cfunc_wrapper, ir.IRBuilder.store_atomic
import numpy as np
from structsvm import Ranker
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 3))
y = np.where(X @ [1.0, -1.0, 0.5] + rng.standard_normal(200) > 0.5, 1, -1)
ranker = Ranker(loss="zero_one", C=1.0, solver="one-slack", tol=1e-6, n_jobs=2).fit(X, y)
result = ranker.result_
assert result.converged and result.dual <= result.primal
print([result.primal, result.dual, *ranker.coef_.tolist()])
"""


@pytest.mark.slow
def test_a_fit_is_the_same_however_numba_compiles(tmp_path):
    """By numba's usual compiler, new and read from disk, and by that of parts."""

    def printed(*way, **variables):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
        command = [sys.executable, "-c", FIT, *way]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    new, read = (printed("usual", NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert new == read
    np.testing.assert_allclose(json.loads(printed()), json.loads(new), rtol=1e-9)
