"""``structsvm retrieve``."""

import json
import os
import sys
from pathlib import Path

import pytest

from structsvm.cli import retrieve as command
from structsvm.data import load_run, load_runs, read_topics
from structsvm.text import Index, Retriever, retrieve

DOCUMENTS = [
    {"id": "a", "text": "A wing is a wing, and of wings there are two."},
    {"id": "b", "text": "Supersonic flow over a wing"},
    {"id": "c", "text": "Heat"},
]
TOPICS = [{"id": "2", "text": "flow of wings"}, {"id": "10", "text": "nothing at hand"}, {"id": "1", "text": "wing"}]


@pytest.fixture
def indexes(run, here):
    Path("docs.jsonl").write_text("".join(f"{json.dumps(document)}\n" for document in DOCUMENTS))
    Path("topics.jsonl").write_text("".join(f"{json.dumps(document)}\n" for document in TOPICS))
    run("index", "docs.jsonl", "--stemmer", "none", "--stop-words", "none", "--out", "plain", "-q")
    run("index", "docs.jsonl", "--out", "stems", "-q")


def test_runs_equal_those_of_the_library(run, indexes):
    functions = "okapi,lm_dirichlet(mu=10)"
    done = run("retrieve", "plain", "stems", "topics.jsonl", "--function", functions, "--top", "2", "--out", "runs")
    assert sorted(path.name for path in Path("runs").iterdir()) == [
        "plain.lm_dirichlet_mu=10.run",
        "plain.okapi.run",
        "stems.lm_dirichlet_mu=10.run",
        "stems.okapi.run",
    ]
    expected = retrieve(Index.load("stems"), read_topics("topics.jsonl"), "lm_dirichlet(mu=10)", 2)
    read = load_run("runs/stems.lm_dirichlet_mu=10.run")
    assert read.name == "stems.lm_dirichlet(mu=10)"
    assert (read.qid.tolist(), read.doc_ids.tolist()) == (expected.qid.tolist(), expected.doc_ids.tolist())
    assert read.scores.tolist() == expected.scores.tolist()
    assert [stored.name for stored in load_runs("runs")] == [
        "plain.lm_dirichlet(mu=10)",
        "plain.okapi",
        "stems.lm_dirichlet(mu=10)",
        "stems.okapi",
    ]
    assert done.stderr.splitlines() == [
        "structsvm: note: plain has no term of 1 of 3 topics (10): their runs have no documents",
        "structsvm: note: stems has no term of 1 of 3 topics (10): their runs have no documents",
        "structsvm: note: wrote 4 runs of 3 topics to runs",
    ]


def test_the_default_function_is_that_of_python(run, indexes):
    run("retrieve", "stems", "topics.jsonl", "--out", "runs", "-q")
    read, expected = load_run("runs/stems.bm25.run"), retrieve(Index.load("stems"), read_topics("topics.jsonl"))
    assert (read.doc_ids.tolist(), read.scores.tolist()) == (expected.doc_ids.tolist(), expected.scores.tolist())
    assert expected.name == Retriever(Index.load("stems")).name == "bm25"
    assert next(line for line in run("list").stdout.splitlines() if "BM25" in line).split()[0] == "bm25"


def test_other_files_of_the_folder_are_named(run, indexes):
    Path("runs").mkdir()
    Path("runs/other").write_text("mine")
    done = run("retrieve", "plain", "topics.jsonl", "--out", "runs", "-q")
    assert "runs has 1 other file (other)" in done.stderr
    assert Path("runs/other").read_text() == "mine"


def test_one_field_alone(run, here):
    documents = [{"id": "a", "title": "wing", "text": "heat"}, {"id": "b", "title": "flow", "text": "a wing"}]
    Path("docs.jsonl").write_text("".join(f"{json.dumps(document)}\n" for document in documents))
    Path("topics.jsonl").write_text('{"id": "1", "text": "wing"}\n')
    run("index", "docs.jsonl", "--stemmer", "none", "--stop-words", "none", "--out", "plain", "-q")
    for field, ids in {"title": ["a"], "text": ["b"], "whole": ["a", "b"]}.items():
        run("retrieve", "plain", "topics.jsonl", "--field", field, "--out", "runs", "-q")
        written = load_run(f"runs/plain.{field}.bm25.run")
        assert (written.name, sorted(written.doc_ids.tolist())) == (f"plain.{field}.bm25", ids)
    assert len(list(Path("runs").iterdir())) == 3


def test_a_run_does_not_replace_the_topics(run, indexes):
    Path("runs").mkdir()
    topics = Path("topics.jsonl").rename("runs/plain.bm25.run")
    done = run("retrieve", "plain", topics, "--out", "runs", "--format", "jsonl", code=2)
    assert "would replace the input" in done.stderr


def test_an_interrupted_command_leaves_old_files_unchanged(run, indexes, monkeypatch):
    run("retrieve", "plain", "topics.jsonl", "--out", "runs", "-q")
    before = Path("runs/plain.bm25.run").read_bytes()

    def interrupted(self, *_arguments, **_settings):
        if self.index.analyzer.stemmer:
            raise KeyboardInterrupt
        return original(self, *_arguments, **_settings)

    original = Retriever.retrieve
    monkeypatch.setattr(Retriever, "retrieve", interrupted)
    done = run("retrieve", "plain", "stems", "topics.jsonl", "--top", "1", "--out", "runs", "-q", code=1)
    assert done.stderr == "structsvm: error: interrupted after 3 of 6 topics; runs is as it was\n"
    assert [path.read_bytes() for path in Path("runs").iterdir()] == [before]
    assert command.retrieve_command.name == "retrieve"


@pytest.mark.skipif(sys.platform != "linux", reason="file names of other systems are text")
def test_a_run_can_be_read_whatever_the_name_of_its_index(run, indexes):
    Path("plain").rename(os.fsdecode(b"caf\xe9 1"))
    run("retrieve", os.fsdecode(b"caf\xe9 1"), "topics.jsonl", "--out", "runs", "-q")
    (path,) = Path("runs").iterdir()
    assert load_run(path).name == "caf_1.bm25"
