import json
import re
from pathlib import Path
from typing import Any

import pytest

from structsvm import Ranker
from structsvm.data import load_letor
from structsvm.evaluation import mean_interval
from structsvm.evaluation.significance import paired_tests
from structsvm.metrics import AP, parse_measure

MEASURES = ["--measure", "map", "--measure", "NDCG@10", "--measure", "p@5"]


def cells(text: str) -> dict[str, list[str]]:
    """Return the cells of all lines by the first of them; cells are two blanks apart."""
    return {row[0]: row[1:] for line in text.splitlines() if (row := re.split("  +", line))}


@pytest.mark.parametrize("empty", ["zero", "skip"])
def test_means_equal_those_of_the_library(run, model, empty):
    done = run("evaluate", model, "test.txt", *MEASURES, "--empty", empty)
    data = load_letor("test.txt")
    scores = Ranker.load(model).predict(data.X)
    table = cells(done.stdout)
    for name in ("map", "ndcg@10", "p@5"):
        measure = parse_measure(f"{name}(empty={empty})")
        values = measure.per_query(scores, data.y, data.qid).values
        low, high = mean_interval(values, value_range=(0.0, 1.0))
        assert table[name] == [f"{values.mean():.4f}", f"[{low:.4f}, {high:.4f}]", "5", "1"]
    assert "5 queries, 60 documents" in done.stdout
    assert "Intervals are cut at the ends of the measure's range." in done.stdout
    assert {"zero": "are counted as 0, as LETOR's", "skip": "are left out; --empty zero"}[empty] in done.stdout
    assert done.stderr == ""


def measured(run, model, *options) -> dict[str, Any]:
    """Return the figures of a model from JSON."""
    return json.loads(run("evaluate", model, "test.txt", *options, "--json", "-").stdout)["models"][0]


def test_json(run, model):
    done = run("evaluate", model, "train.txt", "test.txt", *MEASURES, "--per-query", "--json", "-")
    report = json.loads(done.stdout)
    assert report["data"] == ["train.txt", "test.txt"]
    (figures,) = report["models"]
    assert (figures["model"], figures["queries"], figures["documents"]) == ("m.npz", 14, 168)
    assert list(figures["measures"]) == list(figures["per_query"]) == ["map", "ndcg@10", "p@5"]
    for name, of in figures["measures"].items():
        values = figures["per_query"][name]
        assert len(values) == 14
        assert of["low"] < of["mean"] < of["high"]
        assert of["mean"] == pytest.approx(sum(values.values()) / 14)
        assert (of["undefined"], of["empty"]) == (2, "zero")


def test_per_query_values_need_the_option(run, model):
    assert "per_query" not in measured(run, model)


def test_a_table_of_queries(run, model):
    done = run("evaluate", model, "test.txt", "--per-query", "--measure", "map", "--measure", "map(empty=skip)")
    table = cells(done.stdout)
    assert table["104"] == ["0.0000", "-"]
    assert all(table[str(query)][0] == table[str(query)][1] for query in range(100, 104))
    assert "are counted as 0" in done.stdout
    assert "are left out" in done.stdout


def test_map_is_the_default(run, model):
    assert list(measured(run, model)["measures"]) == ["map"]


def test_no_query_has_a_value(run, model):
    Path("empty.txt").write_text("0 qid:1 4:1\n0 qid:1 4:2\n")
    assert cells(run("evaluate", model, "empty.txt").stdout)["map"] == ["0.0000", "-", "1", "1"]


def test_intervals_by_other_methods(run, model):
    widths = {}
    for method in ("t", "bootstrap", "betting"):
        seed = () if method == "t" else ("--seed", 3)
        of = measured(run, model, "--interval", method, "--confidence", "0.9", *seed)["measures"]["map"]
        widths[method] = of["high"] - of["low"]
    assert widths["bootstrap"] < min(widths["t"], widths["betting"])
    assert "90% interval" in run("evaluate", model, "test.txt", "--confidence", "0.9").stdout


def test_sums_and_geometric_means_have_no_interval(run, model):
    table = cells(run("evaluate", model, "test.txt", "--measure", "gm_map,num_q", "--interval", "betting").stdout)
    assert table["gm_map"][1:] == ["-", "5", "1"]
    assert table["num_q"] == ["5", "-", "5", "0"]


@pytest.fixture
def models(run, model):
    """Two more models of the same data."""
    run("train", "train.txt", "-C", "0.001", "--model", "old.npz", "--quiet")
    run("train", "train.txt", "--loss", "roc_area", "--model", "third.npz", "--quiet")
    return model


def test_models_are_compared_on_the_same_file(run, models):
    """As the two runs that the models make: one path for both."""
    done = run("evaluate", models, "third.npz", "test.txt", "--baseline", "old.npz", "--json", "-")
    report = json.loads(done.stdout)
    assert [record["model"] for record in report["models"]] == ["old.npz", "m.npz", "third.npz"]
    rows = report["comparison"]["rows"]
    assert [row["run"] for row in rows] == ["m.npz", "third.npz"]
    data = load_letor("test.txt")
    first, second = (Ranker.load(name).predict(data.X) for name in ("m.npz", "old.npz"))
    expected = paired_tests(*(AP().per_query(scores, data.y, data.qid).values for scores in (first, second)))
    assert rows[0]["p_t"] == expected.p_values["t"]
    assert (rows[0]["low"], rows[0]["high"]) == expected.interval
    text = run("evaluate", models, "test.txt", "--baseline", "old.npz").stdout
    assert "Against old.npz" in text
    assert "Differences are model minus baseline, over the queries of both." in text
    assert "topic" not in text
