"""Data sets of the package ir_datasets, with one that is made here: nothing is downloaded."""

import sys
from typing import NamedTuple

import pytest

from structsvm.data import load_qrels, read_documents, read_topics
from structsvm.exceptions import DataFormatError, InputError, NotInstalledError


class Doc(NamedTuple):
    doc_id: str
    title: str
    authors: tuple[str, ...]
    year: int
    text: str


class Query(NamedTuple):
    query_id: str
    title: str
    description: str


class Judgment(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class Prel(NamedTuple):
    query_id: str
    doc_id: str
    rel: float


@pytest.fixture
def register(tmp_path, monkeypatch):
    """Register data sets, and return a function that does."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    ir_datasets = pytest.importorskip("ir_datasets", reason="needs the package ir-datasets")
    formats = pytest.importorskip("ir_datasets.formats")

    def make(name, docs=None, queries=None, qrels=None):
        handlers = []
        if docs is not None:

            class Docs(formats.BaseDocs):
                def docs_iter(self):
                    return iter(docs() if callable(docs) else docs)

                def docs_cls(self):
                    return Doc

            handlers.append(Docs())
        if queries is not None:

            class Queries(formats.BaseQueries):
                def queries_iter(self):
                    return iter(queries)

                def queries_cls(self):
                    return Query

            handlers.append(Queries())
        if qrels is not None:

            class Qrels(formats.BaseQrels):
                def qrels_iter(self):
                    return iter(qrels)

                def qrels_defs(self):
                    return {}

            handlers.append(Qrels())
        ir_datasets.registry.register(name, ir_datasets.Dataset(*handlers))
        return f"ir_datasets:{name}"

    monkeypatch.setattr(ir_datasets.registry, "_registered", {**ir_datasets.registry._registered})
    return make


DOCS = [Doc("a", "A ", ("X", "Y"), 1960, " \n"), Doc("b", "", (), 1961, "")]
QUERIES = [Query("1", "wings", "Wings of birds."), Query("2", "tails", "")]
QRELS = [Judgment("1", "a", 1, "0"), Judgment("2", "b", -1, "0")]


def test_documents_topics_and_judgments(register):
    source = register("of-a-test", DOCS, QUERIES, QRELS)
    stream = read_documents(source)
    assert {document.id: dict(document.fields) for document in stream} == {
        "a": {"title": "A", "authors": "X\nY"},
        "b": {},
    }
    assert (stream.n_read, stream.n_empty) == (2, 1)
    topics = read_topics(source)
    assert [(topic.id, topic.query()) for topic in topics] == [("1", "wings"), ("2", "tails")]
    assert [topic.id for topic in read_topics(source, numbering="position")] == ["1", "2"]
    assert repr(load_qrels(source)) == "Qrels(2 topics, 1 of grade -1, 1 of grade 1)"
    assert repr(load_qrels(source, {1: 3, -1: 0})) == "Qrels(2 topics, 1 of grade 0, 1 of grade 3)"


def test_what_is_refused(register):
    source = register("half-of-a-test", [DOCS[0], DOCS[0]], [Query("1", "", "")], [])
    with pytest.raises(
        DataFormatError,
        match="ir_datasets:half-of-a-test: document number 2: document 'a' occurs twice, first in document n",
    ):
        list(read_documents(source))
    with pytest.raises(DataFormatError, match="ir_datasets:half-of-a-test: topic number 1: topic '1' has no text"):
        read_topics(source)
    with pytest.raises(InputError, match="ir_datasets:half-of-a-test has no judgments"):
        load_qrels(source)
    with pytest.raises(InputError, match="is read by ir_datasets: leave out format, encoding and id_field"):
        read_documents(source, "trec")
    source = register("judged", qrels=QRELS)
    with pytest.raises(InputError, match="ir_datasets:judged: grade -1 is missing in grades"):
        load_qrels(source, {1: 1})
    with pytest.raises(InputError, match="judgments of 'prels' of ir_datasets have no grades: their fields are"):
        load_qrels(register("prels", qrels=[Prel("1", "a", 0.5)]))
    with pytest.raises(InputError, match="the data set 'judged' of ir_datasets has no documents"):
        list(read_documents(source))
    with pytest.raises(InputError, match="ir_datasets has no data set 'nothing-like-it': see 'ir_datasets list'"):
        list(read_documents("ir_datasets:nothing-like-it"))


def test_errors_of_the_package_are_told(register):
    def broken():
        yield DOCS[0]
        raise RuntimeError("no network")

    stream = read_documents(register("broken", broken))
    assert next(stream).id == "a"
    with pytest.raises(InputError, match="ir_datasets cannot read the documents of 'broken': no network"):
        next(stream)


def test_the_package_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    for read in (read_topics, load_qrels, lambda name: list(read_documents(name))):
        with pytest.raises(
            NotInstalledError, match=r"ir_datasets:x needs .* pip install 'structural-svm\[ir-datasets\]'"
        ):
            read("ir_datasets:x")
