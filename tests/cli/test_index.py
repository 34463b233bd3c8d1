"""``structsvm index``."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from structsvm.cli import main
from structsvm.data import read_documents
from structsvm.text import Analyzer, Index
from structsvm.text.analyzer import read_stop_words
from tests.cli.test_paths import contents
from tests.text.test_index_file import same

DOCUMENTS = [
    {"id": "a", "title": "On wings", "text": "A wing is a wing, and of wings there are two."},
    {"id": "b", "title": "", "text": "Supersonic flow"},
    {"id": "c", "title": "", "text": "--"},
]


@pytest.fixture
def docs(here):
    Path("docs.jsonl").write_text("".join(f"{json.dumps(document)}\n" for document in DOCUMENTS))
    Path("words").write_text("# my own\nwing\nflow\n")
    return Path("docs.jsonl")


def test_the_index_is_that_of_python(run, docs):
    done = run("index", docs, "--stemmer", "porter", "--stop-words", "words", "--out", "idx")
    expected = Index.build(read_documents(docs), Analyzer("porter", read_stop_words("words")))
    assert same(Index.load("idx"), expected)
    lines = [line.split() for line in done.stdout.splitlines() if line.strip("─ ")]
    assert lines == [
        ["field", "documents", "terms", "tokens", "postings"],
        ["text", "2", "9", "10", "9"],
        ["title", "1", "2", "2", "2"],
        ["all", "fields", "2", "10", "12", "10"],
    ]
    assert done.stderr.splitlines() == [
        "structsvm: note: 1 document of 3 has no term: no search finds it",
        f"structsvm: note: wrote 3 documents in {Path('idx').stat().st_size:,} bytes to idx",
    ]


def test_defaults_equal_those_of_the_library(run, docs):
    run("index", docs, "--out", "idx", "--quiet")
    assert Index.load("idx").analyzer == Analyzer() == Analyzer("porter", "snowball")
    assert same(Index.load("idx"), Index.build(read_documents(docs)))


def test_folders_around_it_are_made_unless_it_fails(run, docs):
    run("index", docs, "--fields", "body", "--out", "deep/down/idx", code=2)
    assert not Path("deep").exists()
    run("index", docs, "--out", "deep/down/idx")
    assert Index.load("deep/down/idx").doc_ids.tolist() == ["a", "b", "c"]


def test_some_fields_only(run, docs):
    done = run("index", docs, "--fields", "title", "--out", "idx", "--stop-words", "none", "--stemmer", "none")
    assert list(Index.load("idx").fields) == ["title"]
    assert "all fields" not in done.stdout


def test_a_folder_of_files_and_standard_input(run, docs, here):
    Path("many").mkdir()
    Path("many/1.jsonl").write_text('{"id": "a", "text": "wing"}\n')
    Path("many/2.jsonl.gz").write_bytes(gzip.compress(b'{"id": "b", "text": "caf\xe9"}\n'))
    run("index", "many", "--encoding", "latin-1", "--out", "idx")
    assert Index.load("idx").whole.terms.tolist() == ["café", "wing"]
    run("index", "many", "--encoding", "latin-1", "--out", "idx")  # an index is replaced
    done = CliRunner().invoke(main, ["index", "-", "--out", "idx"], input=docs.read_bytes())
    assert done.exit_code == 0
    assert Index.load("idx").doc_ids.tolist() == ["a", "b", "c"]


def test_an_interrupted_command_leaves_old_files_unchanged(run, docs, monkeypatch):
    run("index", docs, "--out", "idx")
    before = contents()

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("structsvm.text.counting.Counting.finish", interrupted)
    assert run("index", docs, "--out", "idx", code=1).stderr == "structsvm: error: interrupted\n"
    assert run("index", docs, "--out", "new", code=1).stderr == "structsvm: error: interrupted\n"
    assert contents() == before


def test_an_empty_last_record_is_a_note(run):
    Path("med.all").write_text(".I 1\n.W\nwings\n.I\n")
    done = run("index", "med.all", "--out", "idx", "-q")
    assert done.stderr == "structsvm: note: med.all, line 4: skipped the last .I, which has no id and no text\n"
    assert Index.load("idx").doc_ids.tolist() == ["1"]
