"""``structsvm train --bounds`` and ``--monotonic-cst``: features by name or number, and errors."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from structsvm import Ranker
from structsvm.data import load_letor

TABLE = "label,qid,match,age:days,3\n" + "".join(
    f"{k % 2},{k // 4},{k % 2 + 0.1 * (k % 5)},{-(k % 2) + 0.2 * (k % 7)},{(k * 7) % 5 / 5}\n" for k in range(40)
)


@pytest.fixture
def table() -> Path:
    Path("t.csv").write_text(TABLE)
    return Path("t.csv")


def test_bounds_of_all_weights(run):
    done = run("train", "train.txt", "-C", 10, "--bounds", "0:", "--model", "m.npz")
    ranker, data = Ranker.load("m.npz"), load_letor("train.txt")
    expected = Ranker(C=10.0, tol=1e-3, bounds=(0, None)).fit(data.X, data.y, qid=data.qid)
    np.testing.assert_array_equal(ranker.coef_, expected.coef_)
    at = int((ranker.coef_ == 0.0).sum())
    assert 0 < at < 4
    assert f"bounds   {at} of 4 weights are at a bound" in done.stdout.splitlines()
    assert f"weights at a bound  {at}" in run("show", "m.npz").stdout


def test_bounds_of_one_feature_override_bounds_of_all(run):
    run("train", "train.txt", "-C", 10, "--bounds", "0:,1::0.5", "--bounds", "4:-1:-0.5", "-m", "m.npz", "-q")
    ranker = Ranker.load("m.npz")
    low, high = ranker.bounds
    assert low.tolist() == [-np.inf, 0.0, 0.0, -1.0]
    assert high.tolist() == [0.5, np.inf, np.inf, -0.5]
    assert ranker.coef_[0] == 0.5
    shown = run("show", "m.npz").stdout
    text = "feature 1: at most 0.5, feature 2: at least 0, feature 3: at least 0, feature 4: -1 to -0.5"
    assert f"bounds              {text}\n" in shown
    assert re.search(r"weights at a bound  \d: feature 1", shown)
    (of_one,) = (line.split() for line in shown.splitlines() if line.lstrip().startswith("1 "))
    assert of_one == ["1", "0.5", "high"]
    rows = json.loads(run("show", "m.npz", "--json", "-").stdout)["rows"]
    assert {row["feature"]: row["at_bound"] for row in rows}[1] == "high"
    assert -1.0 <= ranker.coef_[3] <= -0.5


def test_signs_of_features_by_name_and_number(run, table):
    """A feature may have the number of another feature as its name."""
    signs = ("--monotonic-cst", "match:-1,age:days:+1", "--monotonic-cst", "3:0")
    run("train", table, "-C", 10, *signs, "--bounds", "age:days::2", "-m", "m.npz", "-q")
    ranker = Ranker.load("m.npz")
    assert list(ranker.monotonic_cst) == [-1, 1, 0]
    assert ranker.bounds[1].tolist() == [np.inf, 2.0, np.inf]
    shown = run("show", "m.npz").stdout
    assert "age:days: at most 2\n" in shown
    assert re.search(r"monotonic cst +match: -1, age:days: \+1\n", shown)
    assert ranker.coef_[0] <= 0.0 <= ranker.coef_[1]
    run("train", table, "-C", 10, "--monotonic-cst", "1:-1", "-m", "m.npz", "-q")
    assert list(Ranker.load("m.npz").monotonic_cst) == [-1, 0, 0]


def test_a_grid_keeps_to_them(run):
    run("train", "train.txt", "--C-grid", "1:10:2", "--folds", 2, "--bounds", "-0.1:0.1", "-m", "m.npz", "-q")
    assert np.abs(Ranker.load("m.npz").coef_).max() <= 0.1
