"""``structsvm evaluate --qrels``, and runs written by ``structsvm predict``."""

import json
from pathlib import Path

import numpy as np
import pytest

from structsvm import Ranker
from structsvm.data import load_letor, load_run
from structsvm.metrics import AP

RUN = "1 Q0 a 1 1 base\n1 Q0 b 2 1 base\n2 Q0 a 1 1 base\n2 Q0 b 2 0 base\n5 Q0 a 1 1 base\n"
QRELS = "1 0 a 2\n1 0 c 1\n2 0 a 0\n3 0 a 1\n4 0 a 1\n"


@pytest.fixture
def files(here):
    Path("run.txt").write_text(RUN)
    Path("qrels.txt").write_text(QRELS)


def cells(text: str, first: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.split()[:1] == [first])


def test_the_conventions_of_trec_eval(run, files):
    """Ties by document id, R counts unretrieved documents, topics without relevant documents count 0."""
    done = run("evaluate", "--qrels", "qrels.txt", "run.txt", "--measure", "map", "--measure", "p@5")
    assert cells(done.stdout, "run")[-6:] == ["map", "95%", "interval", "p@5", "95%", "interval"]
    assert cells(done.stdout, "base") == [
        "base",
        "run.txt",
        "2",
        "4",
        "2",
        "1",
        "0.1250",
        "[0.0000,",
        "1.0000]",
        "0.1000",
        "[0.0000,",
        "1.0000]",
    ]
    assert (
        "for example because no document is relevant, are counted as 0, as LETOR's tools and trec_eval" in done.stdout
    )
    assert "base: 1 topic (5) is not judged, and left out, as by trec_eval." in done.stdout
    assert (
        "base: 2 topics (3, 4) are not in the run, and left out, as by trec_eval without -c; --all-topics"
        in done.stdout
    )
    assert done.stderr == ""
    done = run("evaluate", "--qrels", "qrels.txt", "run.txt", "--empty", "skip")
    assert cells(done.stdout, "base")[-2:] == ["0.2500", "-"]
    assert "are left out; --empty zero" in done.stdout


@pytest.mark.parametrize(("ties", "mean"), [("trec", 0.125), ("mean", 0.1875)])
def test_ties_count_by_the_rule_and_a_note_shows_their_range(run, files, ties, mean):
    """Document a of topic 1 is one of two relevant ones, and ties with b: its precision is 1 or 1/2."""
    command = ("evaluate", "--qrels", "qrels.txt", "run.txt", "--ties", ties)
    (figures,) = json.loads(run(*command, "--json", "-").stdout)["runs"]
    assert figures["measures"]["map"]["mean"] == pytest.approx(mean)
    text = run(*command).stdout
    assert "1 of 2 topics have equal scores at different labels: map is between 0.1250 and 0.2500." in text
    assert {"trec": "ordered by id, descending, as by trec_eval", "mean": "means over all orders"}[ties] in text


def test_all_topics_count_topics_that_the_run_lacks(run, files):
    done = run("evaluate", "--qrels", "qrels.txt", "run.txt", "--all-topics", "--json", "-")
    (figures,) = json.loads(done.stdout)["runs"]
    assert (figures["topics"], figures["relevant"], figures["not_in_run"]) == (4, 4, ["3", "4"])
    assert figures["measures"]["map"]["mean"] == pytest.approx(0.25 / 4)


def test_a_model_and_its_run_agree_by_the_same_rule(run, here):
    rows = "1 qid:1 1:1 #docid = {}1\n0 qid:1 1:1 #docid = {}2\n1 qid:1 1:0 #docid = {}3\n0 qid:1 1:0 #docid = {}4\n"
    Path("ties.txt").write_text(rows.replace("{}", "d"))
    Path("ties.qrels").write_text("1 0 d1 1\n1 0 d3 1\n")
    run("train", "ties.txt", "--model", "m.npz")
    Path("ties.run").write_text(run("predict", "m.npz", "ties.txt", "--format", "trec").stdout)
    for ties in ("mean", "trec"):
        of_model = json.loads(run("evaluate", "m.npz", "ties.txt", "--ties", ties, "--json", "-").stdout)
        of_run = json.loads(run("evaluate", "--qrels", "ties.qrels", "ties.run", "--ties", ties, "--json", "-").stdout)
        assert of_model["models"][0]["measures"]["map"] == of_run["runs"][0]["measures"]["map"]


def test_several_runs_and_topics(run, files):
    Path("other.txt").write_text("1 Q0 c 1 5 other\n3 Q0 a 1 5 other\n4 Q0 a 1 5 other\n2 Q0 a 1 1 other\n")
    done = run("evaluate", "--qrels", "qrels.txt", "run.txt", "other.txt", "--per-query")
    assert cells(done.stdout, "other") == ["other", "(other.txt)"]
    assert [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("1 ")] == ["0.2500", "0.5000"]
    assert [line.split()[-3] for line in done.stdout.splitlines() if "other.txt " in line] == ["0.6250"]


def test_json(run, files):
    done = run("evaluate", "--qrels", "qrels.txt", "run.txt", "--per-query", "--json", "-", "--measure", "p@5")
    report = json.loads(done.stdout)
    assert report == {
        "qrels": "qrels.txt",
        "interval": "t",
        "confidence": 0.95,
        "resamples": 10_000,
        "seed": 0,
        "ties": "trec",
        "all_topics": False,
        "runs": [
            {
                "run": "base",
                "file": "run.txt",
                "topics": 2,
                "documents": 4,
                "relevant": 2,
                "relevant_retrieved": 1,
                "not_judged": ["5"],
                "not_in_run": ["3", "4"],
                "measures": {
                    "p@5": {
                        "mean": pytest.approx(0.1),
                        "low": 0.0,
                        "high": 1.0,
                        "cut": True,
                        "summary": "mean",
                        "undefined": 1,
                        "empty": "zero",
                        "note": "",
                        "tied_queries": 0,
                        "lowest": pytest.approx(0.1),
                        "highest": pytest.approx(0.1),
                    }
                },
                "per_query": {"p@5": {"1": 0.2, "2": 0.0}},
            }
        ],
    }


@pytest.fixture
def named(here):
    """The file test.txt, with document ids."""
    lines = Path("test.txt").read_text().splitlines()
    Path("named.txt").write_text("".join(f"{line} #docid = d{number % 12:02}\n" for number, line in enumerate(lines)))
    return Path("named.txt")


def test_predict_writes_a_run(run, model, named):
    run("predict", model, named, "--format", "trec", "--tag", "svm", "--output", "run.txt")
    data, written = load_letor(named, doc_ids=True), load_run("run.txt")
    scores = Ranker.load(model).predict(data.X)
    stored = {
        (topic, doc): score for topic, doc, score in zip(written.qid, written.doc_ids, written.scores, strict=True)
    }
    expected = np.float32(scores).tolist()
    assert stored == dict(zip(zip(data.qid.astype(str), data.doc_ids, strict=True), expected, strict=True))
    assert run("predict", model, named, "--format", "trec", "--tag", "svm").stdout == Path("run.txt").read_text()
    rows = zip(data.qid, data.doc_ids, data.y.astype(int), strict=True)
    Path("qrels.txt").write_text("".join(f"{topic} 0 {doc} {label}\n" for topic, doc, label in rows))
    done = run("evaluate", "--qrels", "qrels.txt", "run.txt")
    assert cells(done.stdout, "svm")[-3] == f"{AP().mean(scores, data.y, data.qid):.4f}"


@pytest.fixture
def compared(here):
    """Runs of twelve topics: old.txt, and new.txt, which is better on some."""
    rng = np.random.default_rng(0)
    for name, better in (("old", 0.0), ("new", 0.8)):
        rows = [
            (topic, document, rng.random() + better * (document < 2)) for topic in range(12) for document in range(8)
        ]
        Path(f"{name}.txt").write_text("".join(f"{t} Q0 d{d} 1 {score:.6f} {name}\n" for t, d, score in rows))
    Path("judged.txt").write_text("".join(f"{t} 0 d{d} {int(d < 2)}\n" for t in range(12) for d in range(7)))
    return ("evaluate", "--qrels", "judged.txt", "new.txt", "--measure", "map", "--measure", "P_2", "--resamples", 200)


def test_a_baseline(run, compared):
    done = run(*compared, "--measure", "num_rel_ret", "--baseline", "old.txt")
    assert "Against old" in done.stdout
    (row,) = [line.split() for line in done.stdout.splitlines() if line.split()[:2] == ["new", "map"]]
    assert row[2] == "12"
    assert "num_rel_ret is a sum over queries, which --baseline does not compare." in done.stdout
    both = run(*compared, "old.txt", "--baseline", "old.txt").stdout
    assert both.count("Against old") == 1
    assert [line.split()[:2] for line in both.splitlines() if line.startswith("new ")][1:] == [
        ["new", "map"],
        ["new", "p@2"],
    ]


def test_csv_without_a_baseline(run, files):
    lines = run("evaluate", "--qrels", "qrels.txt", "run.txt", "--measure", "P_5", "--csv", "-").stdout.splitlines()
    figures = "mean,low,high,cut,summary,undefined,empty,note,tied_queries,lowest,highest"
    assert lines[0] == f"run,file,topics,documents,measure,{figures}"
    *before, low, high, cut, summary, undefined, empty, note, tied, lowest, highest = lines[1].split(",")
    assert before == ["base", "run.txt", "2", "4", "p@5", "0.1"]
    assert (low, high, cut) == ("0.0", "1.0", "True")
    assert (summary, undefined, empty, note, tied, lowest, highest) == ("mean", "1", "zero", "", "0", "0.1", "0.1")
    assert len(lines) == 2
    lines = run("evaluate", "--qrels", "qrels.txt", "run.txt", "--per-query", "--csv", "-").stdout.splitlines()
    assert lines[1:] == ["base,run.txt,2,4,map,1,0.25", "base,run.txt,2,4,map,2,0.0"]


def test_names_of_runs_that_are_the_same(run, compared):
    Path("other.txt").write_text(Path("new.txt").read_text())
    done = run(*compared, "other.txt", "--baseline", "old.txt", "--json", "-")
    assert {row["run"] for row in json.loads(done.stdout)["comparison"]["rows"]} == {
        "new (new.txt)",
        "new (other.txt)",
    }


def test_csv_of_a_model(run, model):
    assert run("evaluate", model, "test.txt", "--csv", "-").stdout.startswith("model,queries,documents,measure,")


def test_a_note_explains_the_gain_of_ndcg(run, files):
    done = run("evaluate", "--qrels", "qrels.txt", "run.txt", "--measure", "ndcg_cut_10", "--measure", "ndcg@10")
    assert "ndcg@10: gains are 2^grade - 1; trec_eval and ir_measures use the grades" in done.stdout
    assert "ndcg@10(gain=linear): gains are the grades." in done.stdout
