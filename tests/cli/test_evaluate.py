import json
from pathlib import Path

import pytest

from structsvm import Ranker
from structsvm.data import load_letor
from structsvm.metrics import parse_measure

MEASURES = ["--measure", "map", "--measure", "NDCG@10", "--measure", "p@5"]


def cells(text: str) -> dict[str, list[str]]:
    """Return the cells of all lines by the first of them."""
    return {row[0]: row[1:] for line in text.splitlines() if (row := line.split())}


@pytest.mark.parametrize("empty", ["zero", "skip"])
def test_means_are_those_of_the_library(run, model, empty):
    done = run("evaluate", model, "test.txt", *MEASURES, "--empty", empty)
    data = load_letor("test.txt")
    scores = Ranker.load(model).predict(data.X)
    table = cells(done.stdout)
    for name in ("map", "ndcg@10", "p@5"):
        measure = parse_measure(f"{name}(empty={empty})")
        assert table[name] == [f"{measure.mean(scores, data.y, data.qid):.4f}", "5", "1"]
    assert "5 queries, 60 documents" in done.stdout
    assert {"zero": "are counted as 0, as LETOR's", "skip": "are left out; --empty zero"}[empty] in done.stdout
    assert done.stderr == ""


def test_json(run, model):
    done = run("evaluate", model, "train.txt", "test.txt", *MEASURES, "--per-query", "--json", "-")
    report = json.loads(done.stdout)
    assert (report["model"], report["data"]) == ("m.npz", ["train.txt", "test.txt"])
    assert (report["queries"], report["documents"]) == (14, 168)
    assert list(report["measures"]) == list(report["per_query"]) == ["map", "ndcg@10", "p@5"]
    for name, of in report["measures"].items():
        values = report["per_query"][name]
        assert len(values) == 14
        assert of["mean"] == pytest.approx(sum(values.values()) / 14)
        assert (of["undefined"], of["empty"]) == (2, "zero")


def test_without_per_query_there_is_none(run, model):
    assert "per_query" not in json.loads(run("evaluate", model, "test.txt", "--json", "-").stdout)


def test_a_table_of_queries(run, model):
    done = run("evaluate", model, "test.txt", "--per-query", "--measure", "map", "--measure", "map(empty=skip)")
    table = cells(done.stdout)
    assert table["104"] == ["0.0000", "-"]
    assert all(table[str(query)][0] == table[str(query)][1] for query in range(100, 104))
    assert "are counted as 0" in done.stdout
    assert "are left out" in done.stdout


def test_map_is_the_default(run, model):
    assert list(json.loads(run("evaluate", model, "test.txt", "--json", "-").stdout)["measures"]) == ["map"]


def test_no_query_has_a_value(run, model):
    Path("empty.txt").write_text("0 qid:1 4:1\n0 qid:1 4:2\n")
    assert cells(run("evaluate", model, "empty.txt").stdout)["map"] == ["0.0000", "1", "1"]
    done = run("evaluate", model, "empty.txt", "--empty", "skip", code=2)
    assert done.stderr == "structsvm: error: map(empty=skip) has no mean: it is undefined for every query\n"


@pytest.mark.parametrize(
    ("measure", "message"),
    [("mapp", "Did you mean 'map'?"), ("p", "p needs a cut-off"), ("bpref@3", "bpref takes no cut-off")],
)
def test_an_unknown_measure_is_bad_usage(run, model, measure, message):
    done = run("evaluate", model, "test.txt", "--measure", measure, code=2)
    assert message in done.stderr
