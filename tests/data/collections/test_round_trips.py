"""Random collections and topics, written in each format and read back, in blocks of any size."""

import gzip
import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from structsvm.data import blocks, read_documents, read_topics
from structsvm.exceptions import InputError

quickly = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])

ids = st.text(st.sampled_from("aZ09-_.#&é語"), min_size=1, max_size=6).filter(lambda name: not name.startswith("#"))
names = st.sampled_from(["title", "text", "headline", "x1"])
characters = st.one_of(st.sampled_from("ab <>&;.#\"'\\-é語😀"), st.characters(blacklist_categories=["Cs", "Cc"]))
words = st.text(characters, max_size=20)
lines = st.lists(words, max_size=3).map("\n".join)
sections = st.sampled_from(["title", "author", "bibliography", "text", "keywords"])


def collections(fields=names, text=words):
    texts = st.dictionaries(fields, text.map(str.strip).filter(bool), max_size=3)
    return st.dictionaries(ids, texts, min_size=1, max_size=5)


def as_trec(collection):
    def escaped(text):
        return text.replace("&", "&amp;").replace("<", "&lt;")

    return "".join(
        f"<DOC>\n<DOCNO> {name} </DOCNO>\n"
        + "".join(f"<{field.upper()}>\n{escaped(text)}\n</{field.upper()}>\n" for field, text in fields.items())
        + "</DOC>\n"
        for name, fields in collection.items()
    )


def as_trec_topics(collection):
    tags = {"title": "title", "description": "desc", "narrative": "narr"}
    return "".join(
        f"<top>\n<num> Number: {name}\n"
        + "".join(f"<{tags[part]}> {text.replace('&', '&amp;').replace('<', '&lt;')}\n" for part, text in parts.items())
        + "</top>\n\n"
        for name, parts in collection.items()
    )


def as_smart(collection):
    letters = {"title": "T", "author": "A", "bibliography": "B", "text": "W", "keywords": "K"}
    return "".join(
        f".I {name}\n" + "".join(f".{letters[field]}\n{text}\n" for field, text in fields.items())
        for name, fields in collection.items()
    )


def as_json(collection):
    return "".join(json.dumps({"docno": name, **fields}) + "\n" for name, fields in collection.items())


def as_table(collection):
    columns = ["title", "text", "headline", "x1"]
    return (
        "id\t"
        + "\t".join(columns)
        + "\n"
        + "".join(
            "\t".join([name, *(fields.get(column, "") for column in columns)]) + "\n"
            for name, fields in collection.items()
        )
    )


WRITERS = {
    "trec": (collections(text=lines), as_trec),
    "smart": (collections(sections, words.filter(lambda text: not text.startswith("."))), as_smart),
    "jsonl": (collections(text=lines), as_json),
    "tsv-header": (collections(), as_table),
}


@pytest.mark.parametrize("form", WRITERS)
@given(data=st.data(), block=st.sampled_from([1, 7, 64, 2**22]), packed=st.booleans())
@quickly
def test_documents_come_back(tmp_path, form, data, block, packed):
    strategy, written = WRITERS[form]
    collection = data.draw(strategy)
    content = written(collection).encode()
    path = tmp_path / "collection"
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        stream = read_documents(path, form)
        assert {document.id: dict(document.fields) for document in stream} == collection
    assert stream.n_read == len(collection)
    assert stream.n_empty == sum(not fields for fields in collection.values())


plain_words = words.filter(lambda text: not re.match(r"\w+:", text.strip()))  # which might be a label
parts = st.dictionaries(
    st.sampled_from(["title", "description", "narrative"]), plain_words.map(str.strip).filter(bool), min_size=1
)


@given(st.dictionaries(ids, parts, min_size=1, max_size=4), st.sampled_from([1, 64, 2**22]))
@quickly
def test_topics_come_back(tmp_path, collection, block):
    path = tmp_path / "topics"
    path.write_text(as_trec_topics(collection), encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        stream = read_topics(path)
    assert {topic.id: dict(topic.fields) for topic in stream} == collection
    numbered = read_topics(path, numbering="position")
    assert [topic.id for topic in numbered] == [str(k + 1) for k in range(len(collection))]
    assert [topic.fields for topic in numbered] == list(collection.values())


@given(st.binary(max_size=100), st.sampled_from(["trec", "smart", "jsonl", "tsv", "tsv-header", "auto"]))
@quickly
def test_any_bytes_are_read_or_refused(tmp_path, content, form):
    path = tmp_path / "any"
    for beginning in (b"", b"<DOC><DOCNO>1</DOCNO>", b"<top><num>1", b".I 1\n.W\n", b'{"id": '):
        path.write_bytes(beginning + content)
        for read in (read_documents, read_topics):
            try:
                list(read(path, form, encoding="latin-1"))
            except InputError as error:
                assert str(error).startswith(str(path))  # noqa: PT017
