import json
import os
import random
import re
import signal
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from structsvm.cli.benchmark import _baseline
from structsvm.cli.shared.paths import BENCHMARK
from structsvm.data import load_letor
from structsvm.protocols import AsGiven, EstimatorModel, plan
from structsvm.protocols.letor.folds import find_folds, read_fold
from tests.docs.pages import PROGRESS
from tests.protocols.letor.conftest import write_set

SHORT = EstimatorModel(name="short", features=AsGiven(), estimator=LogisticRegression(max_iter=1, tol=1e-12))


@pytest.fixture
def folds(here):
    for number in range(1, 4):
        write_set(here / "tiny" / f"S{number}.txt", first=100 * number, seed=number)
    return here / "tiny"


@pytest.mark.slow
def test_it_prints_tables_and_writes_five_formats(run, folds):
    done = run("benchmark", "tiny", "--models", "svm-map, svm-roc", "--out", "out/tables", "--jobs", 1)
    assert done.stdout.startswith("MAP on the test queries, tiny\nModel ")
    assert "\ntables   tables.txt, tables.md, tables.tex, tables.csv, tables.json in out/tables\n" in done.stdout
    assert "feature 1" not in done.stdout
    files = {path for path in Path("out/tables").rglob("*") if path.is_file()}
    figure = Path("out/tables/figures/means.svg")
    assert files | {figure} == set(BENCHMARK.writes(Path("out/tables")))
    if find_spec("matplotlib"):
        assert f"figure   {figure}" in done.stdout
        assert {"SVM-map", "SVM-roc", "Best feature"} <= set(ElementTree.parse(figure).getroot().itertext())
    tables = {table["title"]: table["rows"] for table in json.loads(Path("out/tables/tables.json").read_text())}
    rows = tables["MAP on the test queries, tiny"]
    assert [row["model"] for row in rows] == ["SVM-map", "SVM-roc", "Best feature"]
    for row in rows:
        assert f"{row['mean']:.4f}" in done.stdout
    for line in PROGRESS.sub("", done.stderr).splitlines():
        assert line.startswith("structsvm: note: SVM-")
        assert line.endswith("; a model with a wider range, given to benchmark(models=...) in Python, may do better")


@pytest.mark.slow
def test_tables_with_named_columns(run, folds):
    """They give the figures of the same data in LETOR's format, in whatever order their columns are."""
    options = ("--models", "svm-map", "--jobs", 1, "-q")
    expected = run("benchmark", "tiny", *options).stdout
    Path("tables").mkdir()
    for path in folds.iterdir():
        data = load_letor(path, n_features=4)
        order = [2, 1, 3, 4, 5, 0] if path.stem == "S2" else [0, 1, 2, 3, 4, 5]
        rows = np.column_stack([data.X[:, 1], data.qid, data.y, data.X[:, [0, 2, 3]]])[:, order]
        names = ",".join(np.array(["two", "qid", "label", "one", "three", "four"])[order])
        np.savetxt(f"tables/{path.stem}.csv", rows, "%.17g", ",", header=names, comments="")
    shown = run("benchmark", "tables", *options).stdout
    for name in ("SVM-map", "Best feature"):
        assert row(shown, name) == row(expected, name)
    assert [read_fold(fold)[1] for fold in find_folds("tables")][:2] == [
        ("two", "one", "three", "four"),
        ("one", "three", "four", "two"),
    ]
    Path("named").mkdir()
    for path in Path("tables").iterdir():
        content = path.read_text().replace("label", "clicks", 1).replace("qid", "session", 1)
        (Path("named") / path.name).write_text(content.replace("four", "rank", 1))
    named = ("--label", "clicks", "--qid", "session", "--out", "out")
    assert row(run("benchmark", "named", *options, *named).stdout, "SVM-map") == row(expected, "SVM-map")
    error = run("benchmark", "named", *options, *named, "--features", "one,two", code=2).stderr
    assert "columns were label, qid, now label, qid, features" in error
    run("benchmark", "named", *options, *named[:-1], "other", "--docid", "rank", "--single-features")
    written = Path("other/folds.jsonl").read_text()
    assert "(three)" in written
    assert "(rank)" not in written
    whole = Path("tables/S3.csv").read_text()
    Path("tables/S3.csv").write_text(whole.replace("label", "clicks", 1))
    error = run("benchmark", "tables", *options, code=2).stderr
    assert (
        "has no column 'label': name the column of labels (label=..., or --label COLUMN on the command line)" in error
    )
    Path("tables/S3.csv").write_text(whole)
    Path("tables/S3.csv").rename("tables/S3.txt")
    assert "tables/S3.txt is not: give files of one format" in run("benchmark", "tables", *options, code=2).stderr
    Path("tables/S3.txt").write_text(Path("tables/S2.csv").read_text())
    Path("tables/S3.txt").rename("tables/S3.csv")
    assert "query 200 is in " in run("benchmark", "tables", *options, code=2).stderr


def row(shown, name):
    """The means of a model in the table of folds, which is the first."""
    (line,) = [line for line in shown.split("\n\n")[0].splitlines() if line.startswith(f"{name}  ")]
    return line[len(name) :].split()


@pytest.mark.slow
def test_another_measure_and_baseline(run, folds):
    models = ("--models", "svm-map,svm-roc", "--jobs", 1, "-q")
    done = run("benchmark", "tiny", *models, "--measure", "p@3", "--baseline", "svm-roc", "--out", "out")
    assert done.stdout.startswith("P@3 on the test queries, tiny\n")
    text = done.stdout.partition("Difference in P@3 from SVM-roc, query by query, tiny\n")[2]
    assert [line.split()[0] for line in text.splitlines()[2:4]] == ["SVM-map", "Best"]
    assert text[: text.index("Over 24")] in Path("out/tables.txt").read_text()
    assert "unknown model 'svm-rock'" in run("benchmark", "tiny", *models, "--baseline", "svm-rock", code=2).stderr
    assert "measure was p@3, now map" in run("benchmark", "tiny", *models, "--out", "out", code=2).stderr


@pytest.mark.parametrize("name", ["rrf", "reciprocal_rank-fusion", "ReciprocalRankFusion"])
def test_the_baseline_has_all_names_of_a_model(name):
    assert _baseline(name, ["SVM-map", "ReciprocalRankFusion", "Best feature"]) == "ReciprocalRankFusion"


def test_tables_of_another_run_are_replaced_only_with_force(run, folds):
    Path("out").mkdir()
    Path("out/tables.csv").write_text("of another run")
    command = ("benchmark", "tiny", "--models", "borda-count", "--out", "out", "--jobs", 1, "-q")
    assert run(*command, code=2).stderr == (
        "structsvm: error: out has the tables of another run (tables.csv), which this run would replace: choose "
        "another folder, or replace them with --force\n"
    )
    assert [path.read_text() for path in Path("out").iterdir()] == ["of another run"]
    assert "tables.csv" in run(*command, "--force").stdout
    assert Path("out/tables.csv").read_text().startswith("model,")
    assert run("benchmark", "tiny", "--models", "svm-roc", "--out", "out", "-q", code=2).stderr == (
        "structsvm: error: out belongs to another benchmark (models were BordaCount, Best feature, now SVM-roc, "
        "Best feature): choose another output folder, or replace it with --force (replace=True)\n"
    )
    Path("out/folds.jsonl").unlink()
    run(*command, code=2)


@pytest.mark.slow
def test_it_resumes_and_writes_the_same_tables(run, folds, monkeypatch):
    command = ("benchmark", "tiny", "--models", "svm-roc,borda-count", "--out", "out", "--jobs", 1, "-q")
    undisturbed = run(*command)
    tables = {path: path.read_bytes() for path in Path("out").glob("tables.*")}
    stored = Path("out/folds.jsonl").read_text()
    Path("out/tables.md").unlink()
    header, first, *_ = stored.splitlines(keepends=True)
    Path("out/folds.jsonl").write_text(header + first + '{"name":"Fo')  # as a kill leaves it
    fold, tried = plan.run_trial, []

    def interrupted(*task):
        tried.append(task[1])
        if len(tried) > 1:
            raise KeyboardInterrupt
        return fold(*task)

    monkeypatch.setattr(plan, "run_trial", interrupted)
    assert run(*command, code=1).stderr == (
        "structsvm: error: interrupted: 2 of 3 folds are in out; run the same command to resume\n"
    )
    assert tried == ["Fold2", "Fold3"]
    monkeypatch.setattr(plan, "run_trial", fold)
    again = run(*command)
    assert without_seconds(again.stdout) == without_seconds(undisturbed.stdout)
    assert again.stderr == undisturbed.stderr
    assert {path: without_seconds(path.read_text()) for path in Path("out").glob("tables.md")} == {
        path: without_seconds(content.decode()) for path, content in tables.items() if path.suffix == ".md"
    }
    monkeypatch.setattr(plan, "run_trial", lambda *task: pytest.fail("a finished benchmark was run again"))
    assert run(*command).stdout == again.stdout


def without_seconds(text):
    return re.sub(r" *\d+\.\d\d\b(?!\d)", "", text)


@pytest.mark.slow
def test_folds_of_other_data_are_refused_and_kept(run, folds):
    command = ("benchmark", "tiny", "--models", "borda-count", "--out", "out", "--jobs", 1, "-q")
    run(*command)
    stored = Path("out/folds.jsonl").read_bytes()
    write_set(folds / "S1.txt", first=100, seed=9)
    assert "out belongs to another benchmark (the files of the folds differ)" in run(*command, code=2).stderr
    assert Path("out/folds.jsonl").read_bytes() == stored
    run(*command, "--force")
    assert Path("out/folds.jsonl").read_bytes() != stored


@pytest.mark.slow
def test_training_that_did_not_converge_is_reported(run, folds, monkeypatch):
    monkeypatch.setattr("structsvm.protocols.catalogue.benchmark_model", lambda name: SHORT)
    done = run("benchmark", "tiny", "--models", "rank-svm", "--jobs", 1, "-q")
    assert done.stderr == (
        "structsvm: note: short: training did not converge in Fold1, Fold2, Fold3; their figures are for the last "
        "iterate\n"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ("tiny", "--models", "svm-mpa"),
            2,
            "unknown benchmark model 'svm-mpa'. Did you mean 'SVM-map'?",
        ),
        (("tiny", "--models", "svm-map,SVM-MAP"), 2, "SVM-map is given twice"),
        (("nowhere",), 2, "nowhere does not exist"),
        (("empty",), 2, "empty has no folds"),
        (("tiny", "--out", "train.txt"), 2, "is a file"),
        (("broken",), 2, "S2.txt, line 1"),
        ((), 2, "Missing argument 'DATA_FOLDS'"),
    ],
)
def test_mistakes_are_explained_in_a_line(run, folds, arguments, code, message):
    Path("empty").mkdir()
    for number in range(1, 4):
        write_set(Path("broken") / f"S{number}.txt", first=100 * number, seed=number)
    Path("broken/S2.txt").write_text("nonsense\n")
    printed = run("benchmark", *arguments, "--jobs", 1, code=code).stderr
    assert message in printed
    assert "Traceback" not in printed


def workers_of(pid):
    done = subprocess.run(["ps", "-o", "args=", "--ppid", str(pid)], capture_output=True, text=True)
    return sum("loky" in line and "tracker" not in line for line in done.stdout.splitlines())


@pytest.mark.slow
def test_ctrl_c_ends_it_in_a_line_and_writes_no_tables(process, folds):
    for number in range(1, 4):
        write_set(folds / f"S{number}.txt", first=10000 * number, queries=300, documents=(20, 40), seed=number)
    started = process("benchmark", "tiny", "--out", "out", "--jobs", 2, start_new_session=True)
    deadline = time.monotonic() + 60
    while workers_of(started.pid) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.2 + random.random())
    assert started.poll() is None
    os.killpg(started.pid, signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 1
    stored = len(Path("out/folds.jsonl").read_bytes().splitlines()) - 1
    assert err.decode() == (
        f"structsvm: error: interrupted: {stored} of 3 folds are in out; run the same command to resume\n"
    )
    assert out == b""
    assert [path.name for path in Path("out").iterdir()] == ["folds.jsonl"]
