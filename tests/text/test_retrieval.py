"""Retrieval on large collections, and on real ones."""

import os
from collections import Counter

import numpy as np
import pytest
from attrs import frozen

from structsvm.data import Run, Topic, load_qrels, read_documents, read_topics
from structsvm.exceptions import InputError
from structsvm.text import Analyzer, Index, Postings, RetrievalFunction, Retriever, retrieve
from structsvm.text.postings import Strings
from structsvm.text.retrieval import texts_of
from tests.real_data import CRANFIELD, VASWANI, needs

TERRIER = os.environ.get("STRUCTSVM_TERRIER_STOP_WORDS", "")


@pytest.fixture(scope="module")
def large():
    """40,000 documents of few different lengths and counts, so that many scores are equal, with ids in no order."""
    random = np.random.default_rng(0)
    n = 40_000
    documents = [np.flatnonzero(random.random(n) < share).astype(np.int32) for share in (0.7, 0.1, 1e-3, 1e-4)]
    counts = [random.integers(1, 3, len(each)).astype(np.uint8) for each in documents]
    lengths = np.bincount(np.concatenate(documents), np.concatenate(counts), n).astype(np.int32)
    lengths += random.integers(0, 2, n).astype(np.int32)
    ptr = np.cumsum([0, *map(len, documents)])
    postings = Postings(["a", "b", "c", "d"], ptr, np.concatenate(documents), np.concatenate(counts), lengths)
    ids = Strings.of(f"d{number}" for number in random.permutation(n))
    return Index(Analyzer(None, None), ids, {"text": postings}, postings)


def with_a_term(postings, terms):
    """Return which documents have a term."""
    result = np.zeros(postings.n_documents, bool)
    for term in map(postings.find, terms):
        if term is not None:
            result[postings.documents[postings.ptr[term] : postings.ptr[term + 1]]] = True
    return result


@pytest.mark.parametrize("top", [1, 7, 1000, 50_000])
@pytest.mark.parametrize("name", ["okapi", "lm_dirichlet", "cosine", "bm25"])
def test_retrieval_equals_the_scores_of_all_documents(large, name, top):
    retriever = Retriever(large, name)
    texts = {"3": "d", "1": "a a b c d", "2": "c b", "4": "zz"}
    run = retriever.retrieve(texts, top)
    for topic, text in texts.items():
        query = Counter(text.split())
        kept = with_a_term(large.whole, query)
        ids, scores = np.asarray(large.doc_ids)[kept], retriever.scorer.scores(query)[kept]
        rows = run.qid == topic
        if not kept.any():
            assert not rows.any()
            continue
        every = Run.from_scores(name, np.repeat(topic, kept.sum()), ids, scores)
        assert run.doc_ids[rows].tolist() == every.doc_ids[:top].tolist()
        assert run.scores[rows].tolist() == every.scores[:top].tolist()


@frozen
class Uneven(RetrievalFunction):
    """Weights of few values, of some terms far larger ones; signed: of either sign, and with a part of the document."""

    signed: bool
    steps: int = 40

    def weights(self, found):
        weights = (found.tf * 7919.0 + found.length * 104729.0 + found.df) % self.steps
        return (weights - self.signed * self.steps // 3) * np.log1p(found.collection.n_documents / found.df)

    def document_scores(self, documents):
        return documents.lengths * 3.0 % 11.0 if self.signed else None


@pytest.mark.parametrize("signed", [False, True])
def test_retrieval_of_signed_weights_equals_the_scores_of_all_documents(signed):
    random = np.random.default_rng(2)
    n, shares = 50_000, (0.95, 0.6, 0.4, 0.1, 0.03, 0.01, 3e-3, 2e-4)
    documents = [np.flatnonzero(random.random(n) < share).astype(np.int32) for share in shares]
    ptr = np.cumsum([0, *map(len, documents)])
    counts = random.integers(1, 9, ptr[-1]).astype(np.uint8)
    lengths = np.bincount(np.concatenate(documents), counts, n).astype(np.int32)
    postings = Postings(list("abcdefgh"), ptr, np.concatenate(documents), counts, lengths)
    ids = Strings.of(f"d{number}" for number in random.permutation(n))
    retriever = Retriever(Index(Analyzer(None, None), ids, {"text": postings}, postings), Uneven(signed))
    texts = {str(k): " ".join(random.choice(list("abcdefgh"), random.integers(1, 7))) for k in range(20)}
    runs = {top: retriever.retrieve(texts, top) for top in (1, 10, 100, 2000)}
    for topic, text in texts.items():
        kept = with_a_term(postings, text.split())
        scores = retriever.scorer.scores(Counter(text.split()))[kept]
        every = Run.from_scores("every", np.repeat(topic, kept.sum()), np.asarray(ids)[kept], scores)
        for top, run in runs.items():
            assert run.doc_ids[run.qid == topic].tolist() == every.doc_ids[:top].tolist()
            assert run.scores[run.qid == topic].tolist() == every.scores[:top].tolist()


def test_topics_as_objects_and_parts():
    index = Index.build([("x", {"t": "wing"}), ("y", {"t": "flow"})], Analyzer(None, None))
    topic = Topic("1", {"title": "wing", "narrative": "flow"})
    assert retrieve(index, [topic], "tfidf", query="narrative", name="mine").doc_ids.tolist() == ["y"]
    assert retrieve(index, [topic], "tfidf", query="all").qid.tolist() == ["1", "1"]
    assert retrieve(index, [topic], "tfidf").doc_ids.tolist() == ["x"]


@pytest.mark.parametrize("name", ["okapi", "lm_dirichlet", "cosine"])
def test_a_field_is_a_collection_of_its_own(name):
    documents = [{"id": str(k), "title": "wing " * (k % 3), "text": "wing flow " + "heat " * k} for k in range(9)]
    index = Index.build([(each.pop("id"), each) for each in documents], Analyzer(None, None))
    alone = Index.build([(str(k), {"text": each["text"]}) for k, each in enumerate(documents)], Analyzer(None, None))
    topics = {"1": "wing heat", "2": "flow"}
    run, expected = retrieve(index, topics, name, field="text"), retrieve(alone, topics, name)
    assert (run.doc_ids.tolist(), run.scores.tolist()) == (expected.doc_ids.tolist(), expected.scores.tolist())
    assert (run.name, expected.name) == (f"text.{name}", name)
    assert len(retrieve(index, topics, name, field="title").qid) == 6
    whole, every = retrieve(index, topics, name, field="whole"), retrieve(index, topics, name)
    assert whole.scores.tolist() == every.scores.tolist() != expected.scores.tolist()
    assert repr(Retriever(index, name, "text")).endswith(", field='text')")


@pytest.mark.parametrize(
    ("topics", "settings", "message"),
    [
        ([Topic("1", {"t": "a"}), Topic("1", {"t": "b"})], {}, "two topics have the id '1'"),
        ([], {}, "there are no topics"),
        (["wing"], {}, "each of topics must be a Topic"),
        (None, {}, "topics must be topics"),
        ({"1": "wing"}, {"top": 0}, "top must be an integer of at least 1"),
        ({"1": "wing"}, {"function": "nothing"}, "unknown retrieval function"),
        ({"1": "wing"}, {"query": "title"}, "has no part 'title'"),
        ({"1": "wing"}, {"field": "title"}, "unknown index field 'title'"),
        ({"1": "wing"}, {"field": 1}, "a field must be a name, got 1"),
        ({"1": "quux"}, {"field": "t"}, "no document has a term of any of 1 topics in its field 't'"),
        ({"1": "quux"}, {}, "no document has a term of any of 1 topics"),
    ],
)
def test_invalid_retrievals_are_errors(topics, settings, message):
    index = Index.build([("x", {"t": "wing"})], Analyzer(None, None))
    with pytest.raises(InputError, match=message):
        retrieve(index, topics, **{"function": "okapi"} | settings)


def mean_average_precision(run, qrels):
    """MAP by trec_eval's definition, or by trec_eval itself if it is installed."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    judged, ranked = {}, {}
    for topic, document, grade in zip(qrels.qid.tolist(), qrels.doc_ids.tolist(), qrels.grades.tolist(), strict=True):
        judged.setdefault(topic, {})[document] = int(grade > 0)
    for topic, document, score in zip(run.qid.tolist(), run.doc_ids.tolist(), run.scores.tolist(), strict=True):
        ranked.setdefault(topic, {})[document] = score
    result = pytrec_eval.RelevanceEvaluator(judged, {"map"}).evaluate(ranked)
    return sum(each["map"] for each in result.values()) / sum(any(each.values()) for each in judged.values())


EXPECTED = {
    "vaswani": {"cosine": 0.204, "tfidf": 0.271, "okapi": 0.291, "lm_dirichlet": 0.222, "lm_jelinek_mercer": 0.279},
    "cranfield": {"cosine": 0.289, "tfidf": 0.279, "okapi": 0.301, "lm_dirichlet": 0.276, "lm_jelinek_mercer": 0.289},
}
"""MAP measured independently, with Porter's algorithm and another stop list, of 418 words."""


@needs(CRANFIELD, VASWANI)
def test_the_map_of_lemur_s_functions_is_what_others_measured():
    grades = {1: 4, 2: 3, 3: 2, 4: 1, 5: 0, -1: 0}
    data = {
        "vaswani": (
            read_documents(VASWANI / "doc-text.trec"),
            read_topics(VASWANI / "query-text.trec"),
            load_qrels(VASWANI / "qrels"),
        ),
        "cranfield": (
            read_documents(CRANFIELD / "cran.all.1400", fields=["text"]),
            read_topics(CRANFIELD / "cran.qry", numbering="position"),
            load_qrels(CRANFIELD / "cranqrel", grades=grades),
        ),
    }
    for name, (documents, topics, qrels) in data.items():
        index = Index.build(documents, Analyzer("porter", "glasgow"))
        for function, expected in EXPECTED[name].items():
            assert mean_average_precision(retrieve(index, topics, function), qrels) == pytest.approx(expected, abs=0.01)


@needs(CRANFIELD, VASWANI)
@pytest.mark.skipif(not TERRIER, reason="needs STRUCTSVM_TERRIER_STOP_WORDS: the file of Terrier's stop list")
def test_the_map_of_terrier_s_functions_is_what_pyterrier_published():
    from structsvm.text.analyzer import read_stop_words

    index = Index.build(read_documents(VASWANI / "doc-text.trec"), Analyzer("porter", read_stop_words(TERRIER)))
    topics, qrels = read_topics(VASWANI / "query-text.trec"), load_qrels(VASWANI / "qrels")
    for function, expected in {"terrier_tf_idf": 0.2909, "okapi(k3=8)": 0.2965}.items():
        assert mean_average_precision(retrieve(index, topics, function), qrels) == pytest.approx(expected, abs=2e-4)


def test_topics_with_different_parts_are_searched_by_a_part_of_all() -> None:
    query = Topic("1", {"text": "wing flutter"})
    paper = Topic("58", {"title": "Heat", "author": "Wing, A.", "text": "flutter of wings"})
    untitled = Topic("3", {"description": "flutter"})
    with pytest.warns(UserWarning, match="1 of 2 topics have no title, so all are searched by their text"):
        assert texts_of([query, paper], None) == {"1": "wing flutter", "58": "flutter of wings"}
    with pytest.warns(UserWarning, match="2 of 3 topics have no title, so other parts of these topics are searched"):
        assert texts_of([query, paper, untitled], None) == {"1": "wing flutter", "58": "Heat", "3": "flutter"}
    assert texts_of([paper], None) == {"58": "Heat"}
    assert texts_of([query, paper], "text") == {"1": "wing flutter", "58": "flutter of wings"}
    assert texts_of({"1": "wing"}, None) == {"1": "wing"}
