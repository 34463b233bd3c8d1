import importlib.util
import re
from importlib.metadata import EntryPoint

import pytest

import structsvm.cli.demo
from structsvm.exceptions import NotInstalledError
from structsvm.metrics import measure_names
from structsvm.qp import HiGHS
from structsvm.registry import backends, losses, solvers


def row(output: str, first: str) -> str:
    return next(line for line in output.splitlines() if line.split()[:1] == [first])


def test_every_name_is_listed(run):
    done = run("list")
    for name in [*losses.names(), *solvers.names(), *backends.names(), *measure_names()]:
        assert row(done.stdout, name)
    assert done.stderr == ""


def test_a_backend_that_is_not_installed(run, monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr("structsvm.cli.listing.find_spec", lambda name: None if name == "highspy" else find_spec(name))
    output = run("list").stdout
    assert row(output, "highs").split()[1] == "no"
    assert row(output, "osqp").split()[1] == "yes,"
    assert row(output, "active-set").split()[1] == "yes"


def test_a_plug_in_says_where_it_is_from_and_is_not_imported(run, monkeypatch):
    plugin = EntryPoint("tau", "no_such_module:KendallTau", losses.group)
    monkeypatch.setattr("structsvm.cli.listing.entry_points", lambda group: [plugin] if group == losses.group else [])
    assert row(run("list").stdout, "tau").split() == ["tau", "no_such_module:KendallTau", "no_such_module"]


@pytest.fixture
def small(monkeypatch):
    from structsvm.data import load_digits_queries

    monkeypatch.setattr(
        "structsvm.data.load_digits_queries",
        lambda: load_digits_queries(n_train=6, n_test=5, n_candidates=40),
    )


def test_demo(run, small):
    done = run("demo")
    assert "6 queries of\n40 documents and are tested on 5 others" in done.stdout
    for name in ("map", "roc_area", "zero_one"):
        score, seconds, iterations, gap = row(done.stdout, name).split()[1:]
        assert re.fullmatch(r"0\.\d{4}", score)
        assert float(seconds) > 0.0
        assert int(iterations) > 0
        assert 0.0 <= float(gap) <= structsvm.cli.demo._TOL
    for solver in ("one-slack", "n-slack"):
        rows = [line.split() for line in done.stdout.splitlines() if line.startswith(solver)]
        assert [cells[1] for cells in rows] == ["cvxopt", "osqp", "highs", "active-set"]
    assert done.stderr == ""


def test_demo_without_a_backend(run, small, monkeypatch):
    def missing(self, qp, start=None):
        raise NotInstalledError("the package is missing")

    monkeypatch.setattr(HiGHS, "solve", missing)
    lines = [line.split() for line in run("demo").stdout.splitlines() if "highs" in line]
    assert lines == [["one-slack", "highs", "not", "installed"], ["n-slack", "highs", "not", "installed"]]
