"""The benchmarks run, at a size at which they measure nothing, and without the programs that they compare with."""

import importlib.util
import os
import re
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from benchmarks.harness import data, measuring, notes, page, rows, store
from benchmarks.losses import decisions
from benchmarks.losses.sequences import hidden_markov
from benchmarks.peers import chain_bcfw
from benchmarks.peers.vectorized import AveragePrecisionOracle
from benchmarks.rankers import choosing, tol, tree_growth, trees
from benchmarks.solvers import solvers
from structsvm import Problem
from structsvm.foundation.settings import DEFAULT_TOL
from structsvm.losses import ChainHamming
from structsvm.solvers import OneSlack
from tests.slow import slow

TINY = measuring.Size(scale=0.005, repeats=1)
ROOT = store.ROOT


@pytest.fixture
def nobody(monkeypatch):
    """No other program is installed, and no data are there."""
    result = importlib.util.find_spec
    others = {"dlib", "lightgbm"}
    hidden = {"benchmarks.solvers.average_precision", "benchmarks.rankers.mq2008"}
    for name in hidden:
        monkeypatch.setattr(f"{name}.find_spec", lambda name: None if name in others else result(name))
    monkeypatch.setenv("STRUCTSVM_DATA", "nowhere")


@pytest.fixture
def easy(monkeypatch):
    """Problems that are solved at once: a large C costs seconds even at this size."""
    monkeypatch.setattr("benchmarks.solvers.average_precision.CS", (10.0, 100.0))
    monkeypatch.setattr("benchmarks.losses.sequences.C", 0.01)
    monkeypatch.setattr(solvers, "CS", (0.1,))
    monkeypatch.setattr(solvers, "KINDS", {name: solvers.KINDS[name] for name in ("digits", "matchings in Python")})
    scale = {"CS": (10.0,), "PARTITIONS": (1, 4), "GROWTH": ((20, 10.0),), "QP_OF": (10.0,), "WORKERS": (16,)}
    for name, value in scale.items():
        monkeypatch.setattr(f"benchmarks.clusters.scale.{name}", value)
    monkeypatch.setattr("benchmarks.clusters.scale.TRIALS", 2)
    for name, value in {"CS": (0.1, 1.0, 10.0), "SEEDS": (0, 1), "PARTITIONS": (0,)}.items():
        monkeypatch.setattr(choosing, name, value)
    monkeypatch.setattr(tol, "TOLS", (1e-2, DEFAULT_TOL))
    monkeypatch.setattr(tol, "best_of_path", partial(tol.best_of_path, Cs=(0.1, 1.0)))
    monkeypatch.setattr(trees, "CS", (1.0, 10.0))
    for module in (trees, tree_growth):
        monkeypatch.setattr(module, "TREE_CS", (1.0, 10.0))
    monkeypatch.setattr(trees, "LEAVES", (4,))
    monkeypatch.setattr(trees, "MOST", 10)
    monkeypatch.setattr(trees, "TreeRanker", partial(trees.TreeRanker, n_estimators=5))
    made, partition = trees.made, trees.partition
    monkeypatch.setattr(trees, "made", lambda *_, **settings: made(15, 12, 8, 0, **settings))
    monkeypatch.setattr(trees, "partition", lambda *arguments: partition(*arguments)[:1])
    monkeypatch.setattr(tree_growth, "SYSTEMS", tree_growth.SYSTEMS[:3])
    monkeypatch.setattr("benchmarks.losses.decisions.CONTEXT", [(2, 0.5, 20, 10)])
    monkeypatch.setattr("benchmarks.losses.decisions.OTHERS", (2, 0.5, 20, 3))


@pytest.mark.parametrize(
    "name",
    [
        *("backends", "bounds", "folds", "fusion", "mq2008", "multilabel", "letters"),
        *slow(
            *("average_precision", "binned", "hinge", "indexing", "ndcg", "one_pass", "scale", "sequences", "solvers"),
            *("choosing", "decisions", "sparse", "trees", "tol", "tree_growth", "web30k", "weight_search", "zero_one"),
        ),
    ],
)
def test_a_benchmark_yields_rows_and_targets(name, nobody, easy):
    benchmark = store.load(name)
    result = list(benchmark.run(TINY))
    assert result
    assert all(set(row.values) <= set(rows.COLUMNS) for row in result)
    assert all(row.values or row.note for row in result)
    targets = list(benchmark.targets(result))
    assert bool(targets) == (name not in {"zero_one", "decisions"})
    assert {target.met for target in targets} <= (
        {None}
        if name in {"backends", "bounds", "folds", "fusion", "letters", "mq2008", "multilabel", "ndcg"}
        else {True, False, None}
    )


@pytest.mark.parametrize("kind", [decisions.paths(), decisions.knapsack(), decisions.assignment()])
def test_the_history_and_a_set_in_python_count_the_same_calls(kind):
    task, feasible = decisions.Task.of(kind, 20, 2, 0.5, 0), kind.python()
    *_, calls = decisions._ours(feasible, task)
    assert feasible.calls == 20 * calls


def test_rows_say_who_is_not_there(nobody):
    assert [row.note for row in store.load("mq2008").run(TINY)] == [
        "no data: STRUCTSVM_DATA names no folder that holds MQ2008"
    ]


def test_commands_are_timed_as_processes(nobody, monkeypatch):
    commands = store.load("commands")
    monkeypatch.setattr(commands, "COMMANDS", {"--help": "--help"})
    monkeypatch.setattr(commands, "prepare", lambda folder: None)
    without, row = commands.run(TINY)
    assert without.note.startswith("no data")
    assert 0.0 < row.values["cpu"] < 60.0


def test_every_benchmark_has_the_same_parts():
    assert set(page.USED) <= set(store.NAMES)
    for name in store.NAMES:
        benchmark = store.load(name)
        assert benchmark.ABOUT
        assert callable(benchmark.run)
        assert list(benchmark.targets([])) == [] or {target.met for target in benchmark.targets([])} == {None}


def test_rows_are_stored_at_full_size_only(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    row = rows.Row(what="MAP on m", who="auto (X)", C=10.0, repeats=1, values={"seconds": 0.5, "units": 10.0})
    monkeypatch.setattr(store.load("average_precision"), "run", lambda size: iter([row]))
    assert store.measure("average_precision", 0.5, 1) == [row]
    assert store.read("average_precision") is None
    store.measure("average_precision", 1.0, 1)
    assert store.read("average_precision")[1] == [row]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The folder and the paths that `python -m benchmarks report` writes."""
    folder = tmp_path_factory.mktemp("report")
    for target in filter(None, (getattr(store.load(name), "PAGE", None) for name in store.NAMES)):
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / target, folder / target)
    return folder, notes.write(folder)


def test_pages_equal_the_stored_rows(report):
    folder, paths = report
    assert folder / notes.PAGE in paths
    for path in paths:
        name = path.relative_to(folder)
        if not name.is_relative_to(notes.NOTES):
            assert path.read_text("utf-8") == (ROOT / name).read_text("utf-8"), f"python -m benchmarks report ({name})"


def test_links_of_the_notes_lead_to_files(report):
    folder, paths = report
    for path in paths:
        name = path.relative_to(folder)
        if name.is_relative_to(notes.NOTES):
            for target in re.findall(r"\]\(([^)\s#]+)", path.read_text(encoding="utf-8")):
                present = any(Path(os.path.normpath(root / name.parent / target)).exists() for root in (folder, ROOT))
                assert "://" in target or target.endswith(".svg") or present, f"{name} links to {target}"


def test_a_result_that_contradicts_the_page_stops_the_report(monkeypatch):
    machine, result = store.read("trees")
    worse = [evolve(row, values={**row.values, "ndcg_ahead": -1.0}) for row in result]
    monkeypatch.setattr(page, "read", lambda name: (machine, worse) if name == "trees" else store.read(name))
    with pytest.raises(ValueError, match="no longer show that TreeRanker"):
        page.users_page()
    monkeypatch.setattr(page, "read", lambda name: None)
    with pytest.raises(LookupError, match="Run: python -m benchmarks run average_precision"):
        page.users_page()


def test_tables_are_written_into_pages_of_their_own():
    text = "# A\n\n<!-- rows: one -->\nold\n<!-- end -->\n\nB\n"
    tables = notes.tables_of_rows([rows.Row(what="one", who="x", values={"rounds": 3.0})])
    expected = "# A\n\n<!-- rows: one -->\n\n| by | rounds |\n|---|---:|\n| x | 3 |\n\n<!-- end -->\n\nB\n"
    assert notes.filled(text, tables) == expected
    assert notes.filled(expected, tables) == expected
    assert notes.filled(expected, {**tables, "two": ""}) == expected
    with pytest.raises(ValueError, match="'rows: one' without rows"):
        notes.filled(text, {})


def test_the_vectorized_argmax_is_the_argmax():
    """The argmax passed to dlib finds the same most violated rankings as the library."""
    rng = np.random.default_rng(3)
    ptr = np.array([0, 4, 11, 18, 24])
    X, qid = rng.normal(size=(24, 5)), np.repeat(np.arange(4), np.diff(ptr))
    y = (rng.random(24) < 0.4).astype(float)
    y[ptr[:-1]], y[ptr[:-1] + 1] = 1.0, 0.0
    problem = Problem.from_queries(X, y, qid, loss="map", C=1.0)
    oracle = AveragePrecisionOracle(X, y, problem.ptr)
    for scale in (0.0, 0.1, 1.0, 10.0):
        w = scale * rng.normal(size=5)
        point = problem.at(w)
        expected = problem.violation(problem.planes(point), point)
        psi, losses = oracle.each(w)
        np.testing.assert_allclose(losses + psi @ w, expected, atol=1e-12)
        mean_psi, mean_loss = oracle.mean(w)
        assert mean_loss + mean_psi @ w == pytest.approx(expected.mean())


@pytest.mark.slow
def test_the_peer_of_chains_solves_the_same_problem():
    xs, ys = hidden_markov(20, K=4, d=3, shortest=1, longest=6)
    problem = Problem.from_examples(xs, ys, loss=ChainHamming(range(4)), C=5.0)
    fit = chain_bcfw.fit(xs, ys, 4, problem.C, 1e-3, longest=60.0)
    point = problem.at(np.concatenate((fit.w.T.ravel(), fit.v.ravel())))
    assert fit.primal == pytest.approx(problem.primal(problem.planes(point), point))
    assert 0.0 <= fit.primal - fit.dual <= 1e-3 * problem.C
    assert fit.dual <= OneSlack().solve(problem).primal
    assert chain_bcfw.seconds_of_maxima(xs, ys, 4) > 0.0


def test_data_are_what_they_are_said_to_be():
    ranking = data.dense(50, 20, 6, dtype=np.float32)
    assert ranking.X.dtype == np.float32
    assert 0.08 < ranking.y.mean() < 0.15
    assert (np.bincount(ranking.qid, weights=ranking.y) >= 1).all()
    sparse = data.sparse(20, 10, 100, 5)
    assert sparse.X.indices.dtype == np.int32
    assert sparse.X.has_sorted_indices
    assert (np.diff(sparse.X.indptr) == 5).all()


def test_text_that_is_read_is_what_was_made(tmp_path):
    """Only the benchmark itself runs each reader in a separate process."""
    from benchmarks.serving import reading
    from structsvm.data import load_letor

    reading._write(tmp_path / "data.txt", 30, 4, 5, 3)
    result = load_letor(tmp_path / "data.txt")
    assert result.X.shape == (120, 5)
    assert ((1000 * result.X).round(9) % 1 == 0).all()
    assert set(result.y) <= {0, 1, 2, 3, 4}
    assert np.bincount(result.qid).tolist() == [0, *[4] * 30]
