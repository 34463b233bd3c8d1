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
    """Ties by document id, R counts what was not retrieved, no judgments is left out, no relevant document is 0."""
    done = run("evaluate", "--qrels", "qrels.txt", "run.txt", "--measure", "map", "--measure", "p@5")
    assert cells(done.stdout, "run")[-2:] == ["map", "p@5"]
    assert cells(done.stdout, "base") == ["base", "run.txt", "2", "4", "2", "1", "0.1250", "0.1000"]
    assert (
        "such as those without relevant documents, are counted as 0, as LETOR's tools and trec_eval do" in done.stdout
    )
    assert "base: 1 topic (5) is not judged, and left out, as by trec_eval." in done.stdout
    assert "base: 2 topics (3, 4) are not in the run, and left out, as by trec_eval without -c." in done.stdout
    assert done.stderr == ""
    done = run("evaluate", "--qrels", "qrels.txt", "run.txt", "--empty", "skip")
    assert cells(done.stdout, "base")[-1] == "0.2500"
    assert "are left out; --empty zero" in done.stdout


def test_several_runs_and_topics(run, files):
    Path("other.txt").write_text("1 Q0 c 1 5 other\n3 Q0 a 1 5 other\n4 Q0 a 1 5 other\n2 Q0 a 1 1 other\n")
    done = run("evaluate", "--qrels", "qrels.txt", "run.txt", "other.txt", "--per-query")
    assert cells(done.stdout, "other") == ["other", "(other.txt)"]
    assert [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("1 ")] == ["0.2500", "0.5000"]
    assert [line.split()[-1] for line in done.stdout.splitlines() if "other.txt " in line] == ["0.6250"]


def test_json(run, files):
    done = run("evaluate", "--qrels", "qrels.txt", "run.txt", "--per-query", "--format", "json", "--measure", "p@5")
    report = json.loads(done.stdout)
    assert report == {
        "qrels": "qrels.txt",
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
                "measures": {"p@5": {"mean": pytest.approx(0.1), "undefined": 1, "empty": "zero"}},
                "per_query": {"p@5": {"1": 0.2, "2": 0.0}},
            }
        ],
    }


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--qrels", "run.txt", "qrels.txt"), "run.txt, line 1: there are 6 columns in '1 Q0 a 1 1 base'"),
        (("--qrels", "none", "run.txt"), "there is no file none"),
        (("--qrels", "qrels.txt", "run.txt", "none"), "there is no file none"),
        (
            ("--qrels", "others.txt", "run.txt"),
            "no topic of run.txt is judged in others.txt: the first topics are '1' and '7'",
        ),
    ],
)
def test_faults_are_one_line(run, files, args, message):
    Path("others.txt").write_text("7 0 a 1\n")
    done = run("evaluate", *args, code=1)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"structsvm: error: {message}")
    assert done.stdout == ""


def test_a_model_is_no_run(run, files, model):
    done = run("evaluate", model, "--qrels", "qrels.txt", code=1)
    assert "this is a zip archive, such as a model or a spreadsheet, not text" in done.stderr
    assert "With --qrels the files are runs, not a model and its data" in done.stderr
    Path("run.txt").write_bytes(b"\xff\xfe")
    assert "not a model" not in run("evaluate", "run.txt", "--qrels", "qrels.txt", code=1).stderr


def test_a_model_without_data_is_bad_usage(run, model):
    assert (
        "give a model and the LETOR files to measure it on, or --qrels and TREC runs"
        in run("evaluate", model, code=2).stderr
    )


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
    found = {
        (topic, doc): score for topic, doc, score in zip(written.qid, written.doc_ids, written.scores, strict=True)
    }
    expected = np.float32(scores).tolist()
    assert found == dict(zip(zip(data.qid.astype(str), data.doc_ids, strict=True), expected, strict=True))
    assert run("predict", model, named, "--format", "trec", "--tag", "svm").stdout == Path("run.txt").read_text()
    rows = zip(data.qid, data.doc_ids, data.y.astype(int), strict=True)
    Path("qrels.txt").write_text("".join(f"{topic} 0 {doc} {label}\n" for topic, doc, label in rows))
    done = run("evaluate", "--qrels", "qrels.txt", "run.txt")
    assert cells(done.stdout, "svm")[-1] == f"{AP().mean(scores, data.y, data.qid):.4f}"


def test_a_run_needs_document_ids(run, model):
    Path("old.txt").write_text("old")
    done = run("predict", model, "test.txt", "--format", "trec", "--output", "old.txt", code=1)
    assert done.stderr == (
        "structsvm: error: test.txt, line 1: there is no comment '#docid = ...', so the document has no id\n"
    )
    assert Path("old.txt").read_text() == "old"
