"""Cranfield and Vaswani (NPL) have their published numbers of documents and topics."""

import pytest

from structsvm.data import load_qrels, read_documents, read_topics
from structsvm.exceptions import DataFormatError
from tests.real_data import CRANFIELD, VASWANI, needs

pytestmark = needs(CRANFIELD, VASWANI)

GRADES = {1: 4, 2: 3, 3: 2, 4: 1, 5: 0, -1: 0}


def test_documents_of_cranfield():
    stream = read_documents(CRANFIELD / "cran.all.1400")
    documents = {document.id: document for document in stream}
    assert (stream.n_read, stream.n_empty) == (1400, 2)
    assert list(documents) == [str(k) for k in range(1, 1401)]
    assert [name for name, document in documents.items() if document.is_empty] == ["471", "995"]
    assert documents["1"].fields["author"] == "brenckman,m."
    assert documents["1"].fields["text"].startswith(documents["1"].fields["title"])
    assert documents["240"].fields["author"].endswith("for a prandtl number of")  # two lines of its text are marks


def test_topics_of_cranfield():
    named, topics = (read_topics(CRANFIELD / "cran.qry", numbering=way) for way in ("given", "position"))
    assert [topic.id for topic in topics] == [str(k) for k in range(1, 226)]
    assert [topic.id for topic in named][:4] == ["001", "002", "004", "008"]
    assert [topic.fields for topic in named] == [topic.fields for topic in topics]
    assert topics[2].query() == "what problems of heat conduction in composite slabs have been solved so\nfar ."


def test_judgments_of_cranfield():
    judged, turned = load_qrels(CRANFIELD / "cranqrel"), load_qrels(CRANFIELD / "cranqrel", GRADES)
    assert repr(judged) == (
        "Qrels(225 topics, 225 of grade -1, 128 of grade 1, 387 of grade 2, 734 of grade 3, 363 of grade 4)"
    )
    assert repr(turned) == (
        "Qrels(225 topics, 225 of grade 0, 363 of grade 1, 734 of grade 2, 387 of grade 3, 128 of grade 4)"
    )
    assert (turned.qid.tolist(), turned.doc_ids.tolist()) == (judged.qid.tolist(), judged.doc_ids.tolist())
    assert turned.grades.tolist() == [GRADES[grade] for grade in judged.grades.tolist()]
    with pytest.raises(DataFormatError, match="cranqrel, line 29: grade -1 is missing in grades"):
        load_qrels(CRANFIELD / "cranqrel", dict.fromkeys((1, 2, 3, 4), 1))


def test_vaswani():
    stream = read_documents(VASWANI / "doc-text.trec")
    ids = [document.id for document in stream if set(document.fields) == {"text"}]
    assert ids == [str(k) for k in range(1, 11430)]
    assert stream.n_empty == 0
    topics = read_topics(VASWANI / "query-text.trec")
    assert [topic.id for topic in topics] == [str(k) for k in range(1, 94)]
    assert topics[-1].query() == (
        "HIGH FREQUENCY OSCILLATORS USING TRANSISTORS THEORETICAL TREATMENT AND PRACTICAL CIRCUIT DETAILS"
    )
    judgments = load_qrels(VASWANI / "qrels")
    assert repr(judgments) == "Qrels(93 topics, 2083 of grade 1)"
    assert set(judgments.doc_ids.tolist()) <= set(ids)
