import json
import re
from pathlib import Path

import pytest

from structsvm import load
from structsvm.data import load_letor

NAMES = "# feature 1 = bm25\n# feature 2 = age\n# feature 3 = clicks\n# feature 4 = length\n"


@pytest.fixture
def named(run):
    """A model that knows names of features, and test data with document ids d0, d1, ..."""
    Path("train.txt").write_text(NAMES + Path("train.txt").read_text())
    run("train", "train.txt", "--model", "m.npz", "--normalize", "standard", "--quiet")
    lines = Path("test.txt").read_text().splitlines()
    Path("test.txt").write_text("".join(f"{line} #docid = d{k}\n" for k, line in enumerate(lines)))


def test_the_ranking_of_a_query(named, run):
    shown = json.loads(run("explain", "m.npz", "test.txt", "--query", 102, "--top", 4, "--json", "-").stdout)
    assert shown["query"] == 102
    rows, data = shown["rows"], load_letor("test.txt", doc_ids=True)
    assert [row["rank"] for row in rows] == list(range(1, 13))
    scores = dict(zip(data.doc_ids.tolist(), load("m.npz").predict(data.X).tolist(), strict=True))
    for row in rows:
        assert row["score"] == pytest.approx(scores[row["document"]], rel=1e-12)
        added = sum(contribution["contribution"] for contribution in row["contributions"])
        assert added == pytest.approx(row["score"] - shown["mean_score"], rel=0, abs=1e-12)
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    done = run("explain", "m.npz", "test.txt", "--top", "1")
    assert done.stdout.startswith("query 100: 12 documents\n")
    assert "bm25 +" in done.stdout


def test_the_difference_of_two_documents(named, run):
    shown = run("explain", "m.npz", "test.txt", "--documents", "d3", "d7", "--json", "both.json").stdout
    content = json.loads(Path("both.json").read_text())
    assert [document["document"] for document in content["documents"]] == ["d3", "d7"]
    first, second = (document["score"] for document in content["documents"])
    assert content["difference"] == first - second
    assert sum(row["contribution"] for row in content["rows"]) == pytest.approx(first - second, rel=0, abs=1e-12)
    assert set(content["rows"][0]) == {"feature", "name", "values", "contribution"}
    word = "above" if first > second else "below"
    assert re.match(rf"query 100: document d3 \(rank \d+, score .*\) {word} document d7 \(rank ", shown)
    assert "features contribute" not in shown
    short = run("explain", "m.npz", "test.txt", "--documents", "d3", "d7", "--top", "1").stdout
    assert "The other 3 features contribute " in short


def test_lines_stand_in_for_missing_ids(model, run):
    done = run("explain", model, "test.txt", "--documents", "1", "2")
    assert "Documents are line numbers within the query: DATA has no document ids." in done.stdout
