"""Commands show the same importances and features as the library."""

import json
from pathlib import Path

import numpy as np

from structsvm import Ranker, load
from structsvm.data import load_letor
from structsvm.estimators import FeatureEliminationCV
from structsvm.inspection import query_permutation_importance


def test_importance_of_a_model(run):
    run("train", "train.txt", "--model", "m.npz", "--quiet")
    options = ("--measure", "p@3", "--repeats", 2, "--seed", 3, "--json", "i.json", "--plot", "i.svg")
    done = run("importance", "m.npz", "test.txt", "--top", 2, *options)
    shown = json.loads(Path("i.json").read_text())
    test = load_letor("test.txt")
    importance = query_permutation_importance(
        load("m.npz"), test.X, test.y, test.qid, measure="p@3", n_repeats=2, random_state=3
    )
    assert [row["feature"] - 1 for row in shown["rows"]] == importance.order[:2].tolist()
    assert shown["rows"][0]["feature"] == 1
    assert shown["rows"][0]["importance"] == importance.importances.max() > 0.0
    assert (shown["baseline"], shown["queries"]) == (importance.baseline, 5)
    assert "2 further features not shown (--top 2)." in done.stdout
    assert "loss of p@3" in done.stdout
    assert Path("i.svg").stat().st_size > 1000
    run("train", "train.txt", "--ranker", "ranker(measure=ndcg@2)", "--model", "m.npz", "--quiet")
    assert "loss of ndcg@2" in run("importance", "m.npz", "test.txt", "--repeats", 1).stdout


def test_selection_of_features(run):
    options = ("-C", 2, "--folds", 3, "--model", "m.npz", "--json", "s.json", "--plot", "s.svg")
    done = run("select", "train.txt", *options)
    shown = json.loads(Path("s.json").read_text())
    train = load_letor("train.txt")
    search = FeatureEliminationCV(Ranker("map", 2.0), cv=3).fit(train.X, train.y, qid=train.qid)
    assert shown["n_features"] == search.n_features_ == len(shown["features"])
    assert shown["features"] == (np.flatnonzero(search.support_) + 1).tolist()
    assert [row["map"] for row in shown["rows"]] == search.mean_scores_.tolist()
    assert [row["chosen"] for row in shown["rows"]].index(True) == search.n_features_ - 1
    assert shown["rows"][0]["added"] == "1"
    assert load("m.npz").coef.tolist() == search.estimator_.coef_.tolist()
    assert f"{search.n_features_} *" in done.stdout
    assert all(note[0] in '*"' or note[0].isupper() for note in shown["notes"][0].split(". "))
    assert Path("s.svg").stat().st_size > 1000
    assert run("select", "train.txt", "--step", 0.5, "--folds", 2, "--csv", "-").stdout.count("\n") == 4
