import sys
from pathlib import Path

import pytest

from structsvm.cli.shared.paths import EXPERIMENT
from structsvm.protocols import Results


@pytest.fixture
def small(monkeypatch):
    """One trial of two models, on small pools."""
    from structsvm.protocols.experiment import Settings

    monkeypatch.setattr("structsvm.cli.demo._CANDIDATES", 60)
    monkeypatch.setattr(
        "structsvm.protocols.experiment.Settings",
        lambda trials: Settings(trials=1, bins=5, models=("svm-map", "svm-acc2"), variants=("with-best",)),
    )


@pytest.mark.slow
def test_demo(run, small):
    done = run("demo")
    assert "its documents are 60 other images" in done.stdout
    assert "In each of 1 trials, models learn from 10 queries" in done.stdout
    assert done.stdout.rstrip().endswith("demo/report.html")
    results = Results.load("demo/results.json")
    assert f"SVM-map {results.rows('with-best')[0].map:14.4f}".split()[1] in done.stdout
    assert len(results.functions) == 15
    assert len(results.queries) == 50
    assert "<h1>Handwritten digits</h1>" in Path("demo/report.html").read_text()
    files = {path for path in Path("demo").rglob("*") if path.is_file()}
    may_be = {path for path in EXPERIMENT.writes(Path("demo")) if "without-best" not in path.name}
    assert files | {Path("demo/trials.jsonl")} == may_be
    assert not Path("demo/trials.jsonl").exists()


@pytest.mark.slow
def test_the_demo_can_be_run_again(run, small, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # plots take time
    first, second = (run("demo", "--out", "here").stdout for _ in range(2))
    assert first == second


def test_the_results_of_an_experiment_are_kept(run, here):
    Path("mine").mkdir()
    Path("mine/trials.jsonl").touch()
    assert "mine has trials of an experiment" in run("demo", "--out", "mine", code=2).stderr
    assert [path.name for path in Path("mine").iterdir()] == ["trials.jsonl"]
