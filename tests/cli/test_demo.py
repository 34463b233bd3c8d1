import sys
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from structsvm.cli.demo import parts
from structsvm.cli.shared.paths import DEMO
from structsvm.protocols import Results
from structsvm.solvers.comparison import Comparison
from structsvm.solvers.comparison.table import ComparisonRow
from tests.protocols.experiment.report.conftest import made_up


@pytest.fixture
def small(monkeypatch):
    """One trial of two rankers on small pools, one backend, and few numbers for two models."""
    settings = evolve(parts.SETTINGS, trials=1, bins=5, models=("SVM-map", "CombSUM"))
    monkeypatch.setattr(parts, "SETTINGS", settings)
    monkeypatch.setattr("structsvm.cli.demo.page.SETTINGS", settings)
    monkeypatch.setattr(parts, "CANDIDATES", 60)
    monkeypatch.setattr(parts, "BACKENDS", "active-set")
    monkeypatch.setattr(parts, "READERS", {name: parts.READERS[name] for name in ("chain", "logistic regression")})
    load = parts.load_digits_sequences
    monkeypatch.setattr(parts, "load_digits_sequences", lambda noise: load(n_train=40, n_test=20, noise=noise))


@pytest.mark.slow
def test_the_demo_reports_conclusions_first(run, small):
    done = run("demo")
    results = Results.load("demo/experiment/results.json")
    page = Path("demo/report.html").read_text()
    assert f"mean average precision of {results.rows('with-best')[0].map:.3f} (" in " ".join(done.stdout.split())
    assert "2 of 2 ways to train the same model" in page
    assert page.index("at noise 0.35") < page.index("<h2>1. Find images of the same")
    assert page.count("<svg") == 4
    assert "Ranker(" not in page
    assert done.stdout.rstrip().endswith("demo/report.html")
    assert {path for path in Path("demo").rglob("*") if path.is_file()} == {*DEMO.writes(Path("demo"))}


@pytest.mark.slow
def test_the_demo_needs_no_matplotlib_and_can_be_run_again(run, small, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    first, second = (run("demo", "--out", "here") for _ in range(2))
    assert "no pictures" in first.stderr
    assert "<svg" not in Path("here/report.html").read_text()
    ranking, again = (done.stdout.partition("Training SVM-map")[0] for done in (first, second))
    assert ranking == again


def test_the_results_of_an_experiment_are_kept(run, here):
    Path("mine").mkdir()
    Path("mine/trials.jsonl").touch()
    assert "mine has trials of an experiment" in run("demo", "--out", "mine", code=2).stderr
    assert [path.name for path in Path("mine").iterdir()] == ["trials.jsonl"]


def test_models_that_did_not_win_are_named():
    """SVM-roc is 0.25 behind on each of three queries, which no test of three queries can prove."""
    assert parts.ranking_finding(made_up()).endswith(
        "The SVM does not clearly differ from the best base function (alpha_1, 0.500) and the SVM for ROC area (0.375)."
    )


def test_a_difference_between_readers_is_clear_only_after_correction():
    ys = np.tile(np.arange(8), (20, 1))
    wrong = np.where(np.arange(8) < 4, ys + 1, ys)
    level = parts.Sequences(0.5, [], ys, {"chain": ys, "trees": wrong, "SVM": ys})
    assert parts.reading_finding([level]) == (
        "Reading numbers of eight digits, each of which limits the next: at noise 0.5, the chain has 100.0% right, and "
        "the best other model is SVM (100.0%). Not all differences are clear."
    )
    without = evolve(level, readings={"chain": ys, "trees": wrong})
    assert parts.reading_finding([without]).endswith("trees (50.0%). The differences are clear.")


def test_unsolved_combinations_are_named():
    row = ComparisonRow(loss="map", solver="one-slack", backend="osqp", C=1.0, tol=1e-4, status="converged")
    solved = evolve(row, gap=0.01, primal=0.74, dual=0.73)
    finding = parts.solving_finding(Comparison((solved, evolve(row, status="time limit")), 2))
    assert "1 of 2 ways" in finding
    assert finding.endswith("Not solved: one-slack with osqp (time limit).")
