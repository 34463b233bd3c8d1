"""``structsvm compare``: the table, the files, and errors before the first run."""

import csv
import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from structsvm.data import load_letor
from structsvm.estimators import Ranker
from structsvm.solvers.comparison.combinations import installed_backends
from structsvm.solvers.comparison.isolation import BackendProcesses
from structsvm.solvers.qp import load_programs
from tests.cli.conftest import write_letor
from tests.cli.test_processes import _rest, posix

SMALL = ("--backend", "active-set,highs")


def lines(output, solver):
    return [line.split() for line in output.splitlines() if line.split()[:1] == [solver]]


@pytest.mark.slow
def test_the_table(run):
    done = run("compare", "train.txt", "test.txt", *SMALL, "-C", "1,100", "--tol", 1e-4)
    assert done.stderr == ""
    assert done.stdout.startswith("14 queries, 168 documents, 4 features, dense from 2 files\n\n")
    for C in (1, 100):
        assert f"loss map (12 queries, 2 left out), C = {C}\n" in done.stdout
    tables, summary = done.stdout.split("Each backend over all fits\n")
    for solver in ("one-slack", "n-slack"):
        assert [row[1:4] for row in lines(summary, solver)] == [[name, "2", "2"] for name in ("active-set", "highs")]
        rows = lines(tables, solver)
        assert [row[1] for row in rows] == ["active-set", "highs"] * 2
        for row in rows:
            assert row[2] == "converged"
            assert 0.0 <= float(row[3]) <= 1e-4
            assert float(row[8]) + float(row[9]) <= float(row[10]) + 0.015
    assert [row[1:3] + row[-1:] for row in lines(done.stdout, "frank-wolfe")] == [["–", "converged", "–"]] * 2
    assert "the target is 0.0001." in done.stdout


@pytest.mark.slow
@posix
def test_a_narrow_terminal_cuts_nothing_off(process, here):
    leader, follower = os.openpty()
    one = process(
        "compare", "train.txt", "--solver", "one-slack,frank-wolfe", "--backend", "active-set", stdout=follower
    )
    os.close(follower)
    seen = _rest(leader).decode()
    assert one.wait(timeout=60) == 0
    rows = lines(seen, "one-slack")  # one in each part of the table
    assert len(rows) > 1
    assert {row[1] for row in rows} == {"active-set"}
    assert "iterations" in seen
    assert "…" not in seen


@pytest.mark.slow
def test_the_files(run):
    run(
        *("compare", "train.txt", "--loss", "map,roc_area", "--loss", "zero_one", *SMALL, "-C", "1", "-C", "10,100"),
        *("--solver", "one_slack,frank-wolfe", "--csv", "rows.csv", "--json", "rows.json", "--plot", "gaps.svg"),
        *("--profile", "profile.svg"),
    )
    with Path("rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 3 * 3
    assert {row["loss"] for row in rows} == {"map", "roc_area", "zero_one"}
    assert {row["C"] for row in rows} == {"1.0", "10.0", "100.0"}
    assert {row["status"] for row in rows} == {"converged"}
    assert [row["primal"] for row in rows] == [str(row["primal"]) for row in json.loads(Path("rows.json").read_text())]
    assert "<svg" in Path("gaps.svg").read_text()
    assert sorted(path.name for path in Path().iterdir()) == [
        "gaps.svg",
        "profile.svg",
        "rows.csv",
        "rows.json",
        "test.txt",
        "train.txt",
    ]


@pytest.mark.slow
def test_a_time_limit(run):
    done = run("compare", "train.txt", *SMALL, "-C", 1000, "--tol", 1e-9, "--time-limit", 1e-6, "--csv", "rows.csv")
    assert "time limit: the time limit of 1e-06 s has passed: the row has the bounds reached by then\n" in done.stdout
    with Path("rows.csv").open() as file:
        assert [row["status"] for row in csv.DictReader(file)] == ["time limit"] * 5


def test_a_backend_that_is_not_installed(run, monkeypatch):
    def row(_, run):
        if run.task.combination.backend == "active-set":
            return run.row()
        return run.without_result("not installed", "the package is missing: get it")

    monkeypatch.setattr(BackendProcesses, "row", row)
    done = run("compare", "train.txt", *SMALL, "--solver", "one-slack")
    assert [row[2] for row in lines(done.stdout, "one-slack")] == ["converged", "not"]
    assert "\nnot installed: the package is missing: get it\n" in done.stdout
    done = run("compare", "train.txt", "--backend", "highs", "--solver", "one-slack", code=1)
    assert done.stderr == "structsvm: error: no combination has a result: the package is missing: get it\n"
    done = run("compare", "train.txt", "--backend", "highs", "--solver", "one-slack", "--plot", "a.svg", code=1)
    assert done.stderr == (
        "structsvm: error: a.svg was not written: the comparison is empty: no combination has a result to draw\n"
    )
    assert "\nnot installed: the package is missing: get it\n" in done.stdout
    assert not Path("a.svg").exists()


@pytest.mark.slow
def test_all_backends_are_those_installed(run):
    done = run("compare", "train.txt", "--backend", "all", "--solver", "one-slack", "--profile", "profile.svg")
    assert [row[1] for row in lines(done.stdout, "one-slack")] == installed_backends()
    assert "fraction of fits" in Path("profile.svg").read_text()


@pytest.mark.slow
def test_ctrl_c_prints_and_writes_the_finished_rows(run, monkeypatch):
    monkeypatch.setattr(BackendProcesses, "row", interrupted)
    done = run("compare", "train.txt", "--solver", "one-slack,frank-wolfe", *SMALL, "--csv", "rows.csv", code=1)
    assert [row[2] for row in lines(done.stdout, "one-slack")] == ["converged"] * 2
    assert len(Path("rows.csv").read_text().splitlines()) == 3
    assert done.stderr == (
        "structsvm: error: interrupted: the table has 2 of 3 combinations; run the same command to resume from "
        "rows.csv.part\n"
    )


@pytest.mark.slow
def test_it_resumes_from_stored_rows(run, monkeypatch):
    command = ("compare", "train.txt", "--solver", "one-slack,frank-wolfe", *SMALL, "--json", "rows.json")
    with monkeypatch.context() as patch:
        patch.setattr(BackendProcesses, "row", interrupted)
        run(*command, code=1)
    stored = Path("rows.json.part").read_text()
    before = json.loads(Path("rows.json").read_text())
    Path("rows.json.part").write_text(stored + '{"loss":"ma')  # as a kill leaves it
    for other, difference in {
        ("-C", 10): "C was 1.0, now 10.0",
        ("--tol", 0.1): "tol was 0.001, now 0.1",
    }.items():
        assert run(*command, *other, code=2).stderr == (
            f"structsvm: error: rows.json.part belongs to another comparison ({difference}): choose another output "
            "file, or remove it\n"
        )
    refused = run("compare", "test.txt", *command[2:], code=2).stderr
    assert "rows.json.part belongs to another comparison (the data differ)" in refused
    assert Path("rows.json.part").read_text() == stored + '{"loss":"ma'
    done = run(*command, "--plot", "gaps.svg")
    assert done.stderr == (
        "structsvm: note: 2 combinations of the table read from an earlier run: rows.json.part\n"
        "structsvm: note: wrote the plot to gaps.svg\n"
    )
    rows = json.loads(Path("rows.json").read_text())
    assert rows[:2] == before  # the seconds too
    assert [row["status"] for row in rows] == ["converged"] * 3
    assert not Path("rows.json.part").exists()
    assert run(*command).stderr == ""


def interrupted(_, run):
    if run.task.combination.solver == "frank-wolfe":
        raise KeyboardInterrupt
    return run.row()


@pytest.mark.slow
@posix
def test_ctrl_c_from_the_keyboard(process, here):
    write_letor(Path("long.txt"), queries=150, documents=20, features=40)
    leader, follower = os.openpty()
    one = process(
        *("compare", "long.txt", "--solver", "frank-wolfe,n-slack", "--backend", "osqp,highs", "-C", "1000"),
        *("--time-limit", 60),
        stderr=follower,
    )
    os.close(follower)
    seen = b""
    while b"n-slack, osqp, C = 1000: iteration 0" not in seen:
        seen += os.read(leader, 1000)
    one.send_signal(signal.SIGINT)
    seen += _rest(leader)
    output, _ = one.communicate(timeout=60)
    assert one.returncode == 1
    assert b"structsvm: error: interrupted: the table has 2 of 3 combinations" in seen
    assert b"Traceback" not in seen
    (first,), (second,) = lines(output.decode(), "frank-wolfe"), lines(output.decode(), "n-slack")
    assert (first[2], second[2]) == ("converged", "interrupted")


def test_weights_within_bounds(run):
    bounds = ("--bounds", ":2,1:0.01:0.2", "--monotonic-cst", "4:+1")
    done = run(
        *("compare", "train.txt", "-C", 10, "--tol", 1e-6, *bounds),
        *("--backend", "active-set", "--json", "rows.json"),
    )
    rows = json.loads(Path("rows.json").read_text())
    assert [(row["solver"], row["status"]) for row in rows] == [("one-slack", "converged"), ("n-slack", "converged")]
    assert not lines(done.stdout, "frank-wolfe")
    data = load_letor("train.txt")
    low, high = [0.01, -np.inf, -np.inf, 0.0], [0.2, 2.0, 2.0, 2.0]
    expected = Ranker(C=10.0, tol=1e-6, bounds=(low, high)).fit(data.X, data.y, qid=data.qid).result_
    free = Ranker(C=10.0, tol=1e-6).fit(data.X, data.y, qid=data.qid).result_
    assert expected.dual > free.primal  # so that the bounds bind
    for row in rows:
        assert row["primal"] == pytest.approx(expected.primal, abs=2e-5)
        assert row["dual"] == pytest.approx(expected.dual, abs=2e-5)


def test_a_solver_without_bounds_is_an_error_if_requested(run):
    done = run("compare", "train.txt", "--solver", "one-slack,frank-wolfe", *SMALL[:1], "active-set", "--bounds", "0:")
    assert lines(done.stdout, "frank-wolfe")[0][2] == "failed"
    why = (
        "frank-wolfe supports neither bounds on weights nor weights without regularizer: use one-slack, n-slack or auto"
    )
    assert f"\nfailed: {why}\n" in done.stdout
    done = run("compare", "train.txt", "--solver", "frank-wolfe", "--bounds", "0:", "-C", "1,2", code=1)
    assert lines(done.stdout, "frank-wolfe")[0][2] == "failed"
    assert done.stderr == f"structsvm: error: no combination has a result: {why}\n"
    assert why not in done.stdout


def test_programs_are_stored_in_a_new_folder(run):
    options = ("--solver", "one-slack,n-slack,frank-wolfe", "--backend", "active-set", "-C", "1,10")
    done = run("compare", "train.txt", *options, "--save-programs", "programs")
    count = sum(len(load_programs(path)) for path in Path("programs").glob("*/*.npz"))
    assert done.stderr == f"structsvm: note: wrote {count} QPs of 4 fits to programs\n"
    names = [f"map-{solver}-C{C}" for solver in ("n-slack", "one-slack") for C in (1, 10)]
    assert sorted(path.name for path in Path("programs").iterdir()) == names
    assert all(load_programs(Path("programs", name, "0000.npz")) for name in names)
    refused = run("compare", "train.txt", *options, "--save-programs", "programs", code=2).stderr
    assert "programs is not empty: choose another folder" in refused
    refused = run("compare", "train.txt", "--solver", "frank-wolfe", "--save-programs", "more", code=2).stderr
    assert "--save-programs has no effect without a solver that solves QPs" in refused
    limited = run("compare", "train.txt", *options, "--time-limit", 1e-9, "--save-programs", "none", code=1).stderr
    assert "a fit reached the time limit before its first QP: none is incomplete" in limited
