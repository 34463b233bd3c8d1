"""``structsvm plan``."""

import json
from pathlib import Path

import numpy as np
import pytest

from structsvm.data import load_qrels, load_run
from structsvm.evaluation import queries_needed, rank_run, smallest_difference, spread_of_differences
from structsvm.metrics import AP


@pytest.fixture
def runs(here):
    """Two runs of twelve topics."""
    rng = np.random.default_rng(0)
    for name in ("old", "new"):
        rows = [(topic, document, rng.random()) for topic in range(12) for document in range(8)]
        Path(f"{name}.run").write_text("".join(f"{t} Q0 d{d} 1 {score:.6f} {name}\n" for t, d, score in rows))
    Path("qrels.txt").write_text("".join(f"{t} 0 d{d} {int(d < 2)}\n" for t in range(12) for d in range(8)))
    lists = [rank_run(load_run(f"{name}.run"), load_qrels("qrels.txt")) for name in ("new", "old")]
    return [AP().of(ranking).values for ranking in lists]


def planned(run, *args):
    return json.loads(run("plan", *args, "--json", "-").stdout)


def test_two_runs(run, runs):
    plan = planned(run, "--qrels", "qrels.txt", "new.run", "old.run", "--difference", 0.1, "--power", 0.9)
    differences = runs[0] - runs[1]
    assert (plan["queries"], plan["correlation"]) == (12, None)
    assert plan["smallest"] == pytest.approx(smallest_difference(differences, 12, power=0.9))
    assert plan["needed"] == queries_needed(differences, 0.1, power=0.9)
    text = run("plan", "--qrels", "qrels.txt", "new.run", "old.run").stdout
    assert "It was estimated on 12 queries" in text
    assert "correlation" not in text


def test_one_run_assumes_a_correlation(run, runs):
    plan = planned(run, "--qrels", "qrels.txt", "new.run", "--queries", 50)
    assert plan["sd"] == pytest.approx(spread_of_differences(runs[0], 0.8))
    assert planned(run, "--qrels", "qrels.txt", "new.run", "--correlation", 0.5)["correlation"] == 0.5
    assert "an assumed correlation of 0.8" in run("plan", "--qrels", "qrels.txt", "new.run").stdout


def test_no_difference_within_the_range_is_detectable_with_few_queries(run, runs):
    arguments = "--qrels", "qrels.txt", "new.run", "old.run", "--queries", 2, "--level", 0.01
    assert planned(run, *arguments)["smallest"] is None
    text = " ".join(run("plan", *arguments).stdout.split())
    assert "2 none smallest difference" in text
    assert "No difference is detectable with 2 queries" in text


def test_a_standard_deviation_and_several_systems(run):
    plan = planned(run, "--sd", 0.2, "--queries", 50, "--systems", 5, "--all-pairs")
    assert plan["comparisons"] == 10
    assert plan["smallest"] == smallest_difference(0.2, 50, systems=5, all_pairs=True)
    assert "0.05 / 4, Bonferroni's correction for 4 comparisons" in " ".join(
        run("plan", "--sd", 0.2, "--difference", 0.05, "--systems", 5).stdout.split()
    )


def test_a_measure_that_is_the_same_for_all_topics_plans_nothing(run, runs):
    done = run("plan", "--qrels", "qrels.txt", "old.run", "--measure", "recall@8", code=2)
    assert "the run has the same value of recall@8" in done.stderr
