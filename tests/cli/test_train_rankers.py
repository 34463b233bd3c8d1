"""``structsvm train`` with rankers of every kind, and with C chosen by cross-validation."""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import structsvm
from structsvm import Ranker
from structsvm.data import load_letor
from structsvm.metrics import parse_measure
from structsvm.rankers import RankBoost
from structsvm.registry import rankers
from structsvm.solvers import OneSlack
from structsvm.solvers.state import SolverState
from structsvm.training.choose import group_folds

FEW = {"rank_boost": "(n_estimators=5)", "rank_net": "(max_iter=3,random_state=0)", "weight_search": "(max_iter=2)"}


@pytest.mark.parametrize("name", rankers.built_in)
def test_every_ranker_trains_saves_and_is_read(run, name):
    if name == "lambda_mart" and find_spec("lightgbm") is None:
        pytest.skip("needs the package lightgbm")
    done = run("train", "train.txt", "--ranker", name + FEW.get(name, ""), "--model", "m.npz")
    assert done.stdout.startswith("data     9 queries, 108 documents, 4 features, dense from 1 file\n")
    certified = hasattr(rankers.find(name), "path")
    assert ("has no certificate" in done.stdout) != certified
    assert structsvm.load("m.npz").title == rankers.find(name).__name__
    lines = run("predict", "m.npz", "test.txt").stdout.splitlines()
    np.testing.assert_allclose(
        list(map(float, lines)), rankers.find(name).load("m.npz").predict(load_letor("test.txt").X), rtol=1e-12
    )
    assert run("evaluate", "m.npz", "test.txt").stdout.startswith("5 queries")
    assert rankers.find(name).__name__ in run("show", "m.npz").stdout


def test_steps_are_chosen_on_validation(run):
    options = ("--validation", "test.txt", "--measure", "ndcg@5", "--measure", "map", "--model", "m.npz")
    done = run("train", "train.txt", "--ranker", "rank_boost(n_estimators=30)", *options)
    train, test = load_letor("train.txt"), load_letor("test.txt", n_features=4)
    expected = RankBoost(30, measure="ndcg@5").fit(train.X, train.y, train.qid, validation=(test.X, test.y, test.qid))
    assert RankBoost.load("m.npz").best_iteration_ == expected.best_iteration_
    assert f"steps    {expected.best_iteration_} of 30, the best on --validation\n" in done.stdout
    values = [parse_measure(name).mean(expected.predict(test.X), test.y, test.qid) for name in ("ndcg@5", "map")]
    assert f"held out ndcg@5 {values[0]:.4f}, map {values[1]:.4f}\n" in done.stdout


def test_interrupted_before_there_is_a_model(run, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(RankBoost, "fit", interrupted)
    done = run("train", "train.txt", "--ranker", "rank_boost", "--model", "m.npz", code=1)
    assert done.stderr == ("structsvm: error: interrupted before the end of training: there is no model to write\n")


FOLDS = ("train", "train.txt", "--C-grid", "0.01:10:4", "--folds", 3, "--measure", "map", "--measure", "p@5")


def test_cross_validation_is_by_queries_and_the_same_each_time(run):
    done = run(*FOLDS, "--model", "m.npz")
    rows = [line.split() for line in done.stdout.splitlines()[2:6]]
    assert [row[0] for row in rows] == ["0.01", "0.1", "1", "10"]
    means = [float(row[1]) for row in rows]
    for row in rows:
        assert float(row[1]) == pytest.approx(np.mean([float(value) for value in row[3:6]]), abs=1.1e-4)
    (chosen,) = [row for row in rows if row[-1] == "chosen"]
    assert float(chosen[1]) == max(means)
    words = (
        f"C = {chosen[0]} of 4 values from 0.01 to 10: map {chosen[1]} over 3 folds, seed 0 ({', '.join(chosen[3:6])})"
    )
    assert re.search(rf"^choice +{re.escape(words)}$", run("show", "m.npz").stdout, re.MULTILINE)
    assert json.loads(run("show", "m.npz", "--json", "-").stdout)["choice"] == words
    data = load_letor("train.txt")
    alone = Ranker(C=float(chosen[0])).fit(data.X, data.y, data.qid)
    np.testing.assert_allclose(Ranker.load("m.npz").coef_, alone.coef_, rtol=1e-9)
    assert run(*FOLDS, "--model", "again.npz").stdout.splitlines()[:6] == done.stdout.splitlines()[:6]
    other = run(*FOLDS, "--seed", 1, "--model", "other.npz").stdout.splitlines()[:6]
    assert other != done.stdout.splitlines()[:6]


def test_the_folds_equal_those_of_the_report(run):
    """Each fold is measured by a ranker that learned from the remaining folds."""
    rows = [line.split() for line in run(*FOLDS, "--model", "m.npz").stdout.splitlines()[2:6]]
    data = load_letor("train.txt")
    splits = group_folds(data.qid, len(data.y), 3, np.random.RandomState(0), "queries")
    for fold, (train, held) in enumerate(splits):
        ranker = Ranker(C=1.0, solver=OneSlack(tol=1e-3)).fit(data.X[train], data.y[train], data.qid[train])
        value = ranker.score(data.X[held], data.y[held], data.qid[held])
        assert float(rows[2][3 + fold]) == pytest.approx(value, abs=0.06)


def test_counts_and_geometric_means_of_folds_differ_from_arithmetic_means(run):
    command = ("train", "train.txt", "--C-grid", "0.1:1:2", "--folds", 3, "--model", "m.npz", "--measure")
    data = load_letor("train.txt")
    for row in run(*command, "num_rel_ret").stdout.splitlines()[2:4]:
        assert sum(map(float, row.split()[2:5])) == (data.y > 0).sum()
    geometric, arithmetic = (run(*command, name).stdout.splitlines()[2].split() for name in ("gm_map", "map"))
    assert all(float(one) < float(other) for one, other in zip(geometric[2:5], arithmetic[2:5], strict=True))


def test_folds_go_on_from_their_checkpoints(run, monkeypatch):
    folds_to_tol = (*FOLDS, "--tol", 1e-7)
    options = (*folds_to_tol, "--checkpoint", "c.npz", "--model", "m.npz")
    with monkeypatch.context() as patch:
        record, folds = SolverState.record, []

        def interrupted(self, *numbers):
            if self.problem.C == 0.01 and numbers and not folds:
                folds.append(self.problem.fingerprint if hasattr(self.problem, "fingerprint") else 0)
            if self.problem.C == 1.0 and len(list(Path().glob("c.fold=2*"))) >= 2:
                raise KeyboardInterrupt
            return record(self, *numbers)

        patch.setattr(SolverState, "record", interrupted)
        done = run(*options, code=1)
    assert "interrupted in fold 2 of 3, before C was chosen: there is no model" in done.stderr
    assert re.search(r"C +map +p@5 +fold 1", done.stdout)
    assert not Path("m.npz").exists()
    table = run(*options).stdout.splitlines()[:6]
    assert table == run(*folds_to_tol, "--model", "whole.npz").stdout.splitlines()[:6]
