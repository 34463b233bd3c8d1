"""``structsvm index``."""

import gzip
import json
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from structsvm.cli import index, main
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


def test_quiet(run, docs):
    done = run("index", docs, "--out", "idx", "--quiet")
    assert done.output == ""


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("docs.jsonl", "--out", "full/mine.txt"), "full/mine.txt is not an index and would be replaced"),
        (("docs.jsonl", "--out", "nothing/idx"), "/nothing is not a folder"),
        (
            ("docs.jsonl", "--out", "idx", "--fields", "body"),
            "no document of docs.jsonl has the field 'body'; their fields: text, title",
        ),
        (("full", "--out", "full/idx"), "--out full/idx is in the input folder full"),
        (("empty", "--out", "idx"), "the folder empty has no files"),
        (("twice.jsonl", "--out", "idx"), "twice.jsonl, line 2: document 'a' occurs twice"),
        (("signs.jsonl", "--out", "idx"), "no document of 1 has a term: check the format"),
        (("docs.jsonl", "--out", "idx", "--stop-words", "nothing"), "nothing: the file has no stop words"),
    ],
)
def test_invalid_collections_are_errors(run, docs, words, message):
    for name in ("full", "empty"):
        Path(name).mkdir()
    Path("full/mine.txt").write_text("x")
    Path("nothing").write_text("")
    Path("twice.jsonl").write_text('{"id": "a", "text": "wing"}\n' * 2)
    Path("signs.jsonl").write_text('{"id": "a", "text": "..."}\n')
    before = contents()
    assert message in run("index", *words, code=2).stderr
    assert contents() == before
    assert not Path("idx").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--stemmer", "lovins"), "unknown stemmer 'lovins'; known: none, porter, porter2"),
        (
            ("--stop-words", "glasgo"),
            "'glasgo' is neither a file nor the name of a list; known: none, glasgow, lucene, snowball",
        ),
        (("--stop-words", "."), ". is a directory"),
        (("--out", "."), ". cannot be written: it is a folder"),
    ],
)
def test_usage(run, docs, words, message):
    done = run("index", docs, "--out", "idx", *words, code=2)
    assert message in done.stderr
    assert not Path("idx").exists()


def test_an_interrupted_command_leaves_old_files_unchanged(run, docs, monkeypatch):
    run("index", docs, "--out", "idx")
    before = contents()

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("structsvm.text.counting.Counting.finish", interrupted)
    assert run("index", docs, "--out", "idx", code=1).stderr == "structsvm: error: interrupted\n"
    assert run("index", docs, "--out", "new", code=1).stderr == "structsvm: error: interrupted\n"
    assert contents() == before


def test_progress(docs, monkeypatch):
    texts = []

    @contextmanager
    def keep(*, shown):
        yield lambda what: texts.append(what) if shown else None

    monkeypatch.setattr(index, "progress_line", keep)
    with read_documents(docs) as documents:
        assert len(list(index._shown(documents, shown=True))) == 3
    assert texts == ["reading, 1 documents"]


def test_an_empty_last_record_is_a_note(run):
    Path("med.all").write_text(".I 1\n.W\nwings\n.I\n")
    done = run("index", "med.all", "--out", "idx", "-q")
    assert done.stderr == "structsvm: note: med.all, line 4: skipped the last .I, which has no id and no text\n"
    assert Index.load("idx").doc_ids.tolist() == ["1"]
