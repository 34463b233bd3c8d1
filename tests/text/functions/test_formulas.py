"""Every retrieval function against its formula, evaluated one document and one term at a time."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from structsvm.data import Run
from structsvm.exceptions import InputError
from structsvm.registry import retrieval_functions
from structsvm.text import Analyzer, Index, retrieve
from structsvm.text.functions.tf_idf import Okapi
from tests.text.functions.literal import SCORES, SETTINGS, Collection

NAMES = retrieval_functions.names()
WORDS = st.lists(st.sampled_from("abcdefg"), max_size=8)
COLLECTIONS = st.lists(WORDS, min_size=1, max_size=9).filter(any)
QUERIES = st.lists(st.sampled_from("abcdefgxyz"), max_size=7)


def index_of(documents):
    named = [(f"d{number}", {"text": " ".join(words)}) for number, words in enumerate(documents)]
    return Index.build(named, Analyzer(None, None))


def test_all_built_in_functions_are_compared():
    assert set(SCORES) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
@given(documents=COLLECTIONS, query=QUERIES)
@example(
    documents=[["a", "b", "a"], ["a"], [], ["a", "c"]], query=["a", "a", "x", "c"]
)  # a is in most: okapi's idf < 0
@example(documents=[["a"]], query=["a"])
def test_scores_are_those_of_the_formula(name, documents, query):
    index, collection = index_of(documents), Collection(documents)
    for chosen in ({}, SETTINGS.get(name, {})):
        scorer = retrieval_functions.create(name, **chosen).bind(index.whole)
        scores = scorer.scores(Counter(query))
        if not collection.known(query):
            assert not scores.any()
            continue
        expected = [SCORES[name](collection, query, document, **chosen) for document in documents]
        np.testing.assert_allclose(scores, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["okapi", "lm_dirichlet", "cosine"])
@given(documents=COLLECTIONS, queries=st.lists(QUERIES, min_size=1, max_size=3), top=st.integers(1, 5))
def test_the_run_is_the_first_of_all_scores(name, documents, queries, top):
    index = index_of(documents)
    scorer = retrieval_functions.create(name).bind(index.whole)
    topics, ids, scores = [], [], []
    for number, query in enumerate(queries):
        kept = np.array([bool(set(query) & set(document)) for document in documents])
        topics += [str(number)] * kept.sum()
        ids += np.asarray(index.doc_ids)[kept].tolist()
        scores += scorer.scores(Counter(query))[kept].tolist()
    texts = {str(number): " ".join(query) or "xyz" for number, query in enumerate(queries)}
    if not topics:
        with pytest.raises(InputError, match="no document has a term of any of"):
            retrieve(index, texts, name)
        return
    every = Run.from_scores(name, topics, ids, scores)
    first = np.concatenate([np.arange(size) < top for size in Counter(every.qid.tolist()).values()])
    run = retrieve(index, texts, name, top)
    assert run.name == name
    assert run.qid.tolist() == every.qid[first].tolist()
    assert run.doc_ids.tolist() == every.doc_ids[first].tolist()
    assert run.scores.tolist() == every.scores[first].tolist()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("okapi(b=1.5)", r"Okapi\(b=...\) must be from 0 to 1, got 1.5"),
        ("okapi(k1=0)", r"Okapi\(k1=...\) must be a positive finite number, got 0.0"),
        ("okapi(k1=x)", "k1 must be a number, not 'x'"),
        ("lm_jelinek_mercer(weight=1)", r"JelinekMercer\(weight=...\) must be between 0 and 1, got 1.0"),
        ("lm_absolute(delta=0)", r"AbsoluteDiscount\(delta=...\) must be between 0 and 1, got 0.0"),
        ("lm_dirichlet(mu=inf)", r"Dirichlet\(mu=...\) must be a positive finite number"),
        ("bm24", "retrieval function"),
        ("map", "'map' is a loss"),
        ("okapi(b=0.4,b=0.5)", "b is given twice"),
    ],
)
def test_wrong_settings_are_refused(name, message):
    with pytest.raises(InputError, match=message):
        retrieval_functions.create(name)


@pytest.mark.parametrize("count", [0, -1, float("nan"), True, "2", None])
def test_a_query_says_how_often_it_has_a_term(count):
    with pytest.raises(InputError, match="a number above 0: 'a' has"):
        Okapi().bind(index_of([["a"]]).whole).scores({"a": count})


def test_bm25_is_that_of_bm25s():
    bm25s = pytest.importorskip("bm25s")
    random = np.random.default_rng(0)
    documents = [random.choice(list("abcdefghij"), random.integers(1, 20)).tolist() for _ in range(50)]
    peer = bm25s.BM25(method="lucene", k1=0.9, b=0.4, dtype="float64")
    peer.index(documents, show_progress=False)
    scores = retrieval_functions.create("bm25(k1=0.9,b=0.4)").bind(index_of(documents).whole).scores({"a": 2, "j": 1})
    np.testing.assert_allclose(scores, peer.get_scores(["a", "a", "j"]), rtol=1e-6)
