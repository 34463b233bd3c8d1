"""Retrieval on large collections, and on real ones."""

import os

import pytest

from structsvm.data import Topic, load_qrels, read_documents, read_topics
from structsvm.exceptions import InputError
from structsvm.text import Analyzer, Index, Retriever, retrieve
from structsvm.text.retrieval import texts_of
from tests.real_data import CRANFIELD, VASWANI, needs

TERRIER = os.environ.get("STRUCTSVM_TERRIER_STOP_WORDS", "")


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
