"""Indexes, against counts made one by one."""

import tracemalloc
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.data import Document, read_documents
from structsvm.exceptions import InputError
from structsvm.text import Analyzer, Index, Retriever, counting
from structsvm.text.postings import Strings
from tests.real_data import CRANFIELD, VASWANI, needs

TEXT = st.lists(st.sampled_from(["a", "B", "b", "wings", "wing", "it's", "of", "é", "流"]), max_size=9).map(" ".join)
FIELDS = st.dictionaries(st.sampled_from(["title", "text", "notes"]), TEXT)
COLLECTIONS = st.lists(FIELDS, min_size=1, max_size=12)


def same(found, rows):
    """Whether postings are the counts of rows, a Counter a document."""
    terms = sorted(set().union(*rows))
    assert list(found.terms) == terms
    assert found.terms.tolist() == terms
    assert found.n_documents == len(rows)
    assert found.lengths.tolist() == [sum(row.values()) for row in rows]
    assert found.n_tokens == sum(found.lengths.tolist())
    assert found.average_length == found.n_tokens / len(rows)
    for number, term in enumerate(terms):
        assert found.find(term) == number
        having = [(document, row[term]) for document, row in enumerate(rows) if term in row]
        there = slice(found.ptr[number], found.ptr[number + 1])
        assert list(zip(found.documents[there].tolist(), found.counts[there].tolist(), strict=True)) == having
        assert found.document_frequency[number] == len(having)
        assert found.collection_frequency[number] == sum(count for _, count in having)
    assert found.ptr[0] == 0
    assert len(found.ptr) == len(terms) + 1
    assert found.n_postings == found.ptr[-1] == len(found.counts) == len(found.documents)
    assert (found.ptr.dtype, found.documents.dtype, found.lengths.dtype) == (np.int64, np.int32, np.int32)
    assert found.find("no such term") is None
    return True


@given(
    COLLECTIONS,
    st.sampled_from(
        [
            Analyzer(None, None),
            Analyzer("porter", None),
            Analyzer("porter2", "lucene"),
            Analyzer(None, stop_words=("b", "é")),
        ]
    ),
    st.integers(1, 30),
)
def test_counts_are_those_made_one_by_one(collection, analyzer, block):
    rows = [{name: Counter(analyzer.terms(text)) for name, text in fields.items()} for fields in collection]
    documents = [(f"d{number}", fields) for number, fields in enumerate(collection)]
    whole = [sum(row.values(), Counter()) for row in rows]
    with patch.object(counting, "BLOCK", block):
        if not any(whole):
            with pytest.raises(InputError, match="has a term"):
                Index.build(documents, analyzer)
            return
        index = Index.build(documents, analyzer)
    names = sorted({name for fields in collection for name in fields})
    assert list(index.fields) == names
    assert index.doc_ids.tolist() == [name for name, _ in documents]
    assert index.analyzer == analyzer
    assert same(index.whole, whole)
    for name in names:
        assert same(index.fields[name], [row.get(name, Counter()) for row in rows])
    assert (len(names) == 1) == (index.whole is index.fields[names[0]])
    assert index.empty_documents == sum(not row for row in whole)


@pytest.mark.parametrize(("times", "dtype"), [(255, "u1"), (256, "u2"), (65_535, "u2"), (65_536, "u4")])
def test_counts_take_the_smallest_type_that_has_room(times, dtype):
    with patch.object(counting, "BLOCK", 100):
        index = Index.build(
            [("a", {"x": "wing"}), ("b", {"x": "wing " * times}), ("c", {"x": "wing"})], Analyzer(None, None)
        )
    assert index.whole.counts.dtype == dtype
    assert index.whole.counts.tolist() == [1, times, 1]
    assert index.whole.collection_frequency.tolist() == [times + 2]


def test_documents_are_read_once_and_as_they_come():
    seen = []

    def documents():
        for number in range(5):
            seen.append(number)
            yield Document(str(number), {"text": "wing"})

    index = Index.build(documents(), Analyzer(None, None))
    assert seen == [0, 1, 2, 3, 4]
    assert repr(index) == "Index(5 documents, 1 terms, 5 postings)"
    assert repr(index.whole) == "Postings(5 documents, 1 terms, 5 postings)"


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], "there are no documents"),
        ([("a", {"x": "wing"}), ("b", {}), ("a", {})], "documents 1 and 3 have the same id, 'a'"),
        ([("a", {"x": "... --"}), ("b", {})], "no document of 2 has a term"),
        ([("a", {"x": "of the"})], "no document of 1 has a term"),
        ([("a", "wing")], "a document must be an id and texts"),
        ([("a", {"x": b"wing"})], "a document must be an id and texts"),
        ([("a", {"x": None})], "a document must be an id and texts"),
        ([(1, {"x": "wing"})], "a document must be an id and texts"),
        ([("a", {1: "wing"})], "a document must be an id and texts"),
        (["a wing"], "a document must be an id and texts"),
        ([("\ud800", {"x": "wing"})], "contains half a character"),
        ([None], "a document must be an id and texts"),
        ("a wing", "documents must be documents"),
        ({"a": "wing"}, "documents must be documents"),
        (None, "documents must be documents"),
    ],
)
def test_malformed_documents_are_errors(documents, message):
    with pytest.raises(InputError, match=message):
        Index.build(documents, Analyzer(None, stop_words="lucene"))


def test_the_analyzer_must_be_one():
    with pytest.raises(InputError, match="analyzer must be an Analyzer, got 'porter'"):
        Index.build([("a", {"x": "wing"})], "porter")


def test_ids_of_all_kinds():
    ids = ["1", "é", "流" * 50, "x" * 900, "caf\udce9", "a"]
    index = Index.build([(name, {"x": "wing"}) for name in ids], Analyzer(None, None))
    assert index.doc_ids.tolist() == ids
    assert [index.doc_ids[number] for number in range(-6, 6)] == ids + ids
    assert index.doc_ids[np.array([2, 0, 2])].tolist() == [ids[2], ids[0], ids[2]]
    assert index.doc_ids[1:3].tolist() == ids[1:3]
    assert index.doc_ids[np.arange(6) > 3].tolist() == ids[4:]
    assert index.doc_ids[[]].tolist() == []
    assert np.asarray(index.doc_ids).tolist() == ids
    assert list(index.doc_ids) == ids
    assert "é" in index.doc_ids
    for number in (6, -7):
        with pytest.raises(IndexError):
            index.doc_ids[number]


def test_memory_is_some_bytes_a_posting():
    """While a collection is read, memory holds blocks of small numbers, not a Python object per posting."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{number}" for number in range(500)], dtype=object)

    def documents():
        for number in range(4_000):
            yield f"d{number}", {"x": " ".join(words[rng.integers(0, 500, 60)])}

    with patch.object(counting, "BLOCK", 50_000):
        Index.build([("a", {"x": "wing"})], Analyzer(None, None))  # what is imported is not counted
        tracemalloc.start()
        index = Index.build(documents(), Analyzer(None, None))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert index.whole.n_postings > 200_000
    assert peak < 17 * index.whole.n_postings


@needs(CRANFIELD, VASWANI)
def test_vaswani():
    """PyTerrier's index has 271,581 tokens: it drops one of 21 characters; without stop words, all are there."""
    index = Index.build(read_documents(VASWANI / "doc-text.trec"), Analyzer("porter", None))
    assert (index.whole.n_documents, index.whole.n_tokens, index.whole.n_terms) == (11_429, 479_163, 7_982)
    assert index.empty_documents == 0
    stopped = Index.build(read_documents(VASWANI / "doc-text.trec"), Analyzer("porter", "glasgow"))
    assert (stopped.whole.n_tokens, stopped.whole.n_terms) == (274_572, 7_800)


@needs(CRANFIELD, VASWANI)
def test_cranfield():
    index = Index.build(read_documents(CRANFIELD / "cran.all.1400"), Analyzer(None, None))
    assert index.whole.n_documents == 1400
    assert list(index.fields) == ["author", "bibliography", "text", "title"]
    assert np.count_nonzero(index.fields["text"].lengths == 0) == 2
    assert sum(field.n_tokens for field in index.fields.values()) == index.whole.n_tokens


def test_numbers_of_documents_by_their_ids():
    ids = ["b", "10", "é", "a", "9", "aa"]
    index = Index.build([(name, {"text": "wing"}) for name in ids])
    wanted = ["aa", "c", "b", "b", "", "é", "zzzz", "9"]
    assert index.numbers_of(wanted).tolist() == [ids.index(name) if name in ids else -1 for name in wanted]
    assert index.numbers_of([10, 11]).tolist() == [1, -1]
    with patch.object(Strings, "__array__", side_effect=AssertionError):  # the ids are read and sorted once
        assert Retriever(index).retrieve({"1": "wing"}).doc_ids.tolist() == sorted(ids, reverse=True)
