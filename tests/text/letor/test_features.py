"""LETOR's features of candidates: each against its definition, and the whole set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.data import Qrels, Run, Topic, join_runs
from structsvm.exceptions import InputError, StructSVMError, UnknownNameError
from structsvm.text import Analyzer, Index
from structsvm.text.letor import RELEASED, Feature, letor_features
from structsvm.text.letor.catalogue import LECTURED, find_features
from tests.text.letor.dense import Dense

NAMES = [feature.name for feature in dict.fromkeys((*RELEASED, *LECTURED))]
tokens = st.lists(st.sampled_from(["ab", "ba", "bb", "ca", "da"]), max_size=6)
queries = st.lists(st.sampled_from(["ab", "ba", "bb", "ca", "da", "zz"]), max_size=5)
collections = st.lists(st.fixed_dictionaries({"title": tokens, "body": tokens}), min_size=1, max_size=7)


def make_index(documents):
    """Index documents, each a dict of fields, under the ids d0, d1, ..."""
    texts = [{name: " ".join(words) for name, words in fields.items()} for fields in documents]
    return Index.build([(f"d{k}", fields) for k, fields in enumerate(texts)], Analyzer(None, None))


def make_topics(*texts):
    return [Topic(str(k), {"title": text}) for k, text in enumerate(texts, start=1)]


def candidates(rows, topics=("1",)):
    """Return all documents as candidates of all topics."""
    return Qrels.from_grades(
        np.repeat(topics, rows), [f"d{k}" for k in range(rows)] * len(topics), [0] * rows * len(topics)
    )


@given(documents=collections, query=queries)
def test_every_feature_is_what_its_definition_says(documents, query):
    if not any(word for fields in documents for words in fields.values() for word in words):
        documents = [{"title": ["ab"], "body": ["ab", "ba"]}, *documents]
    index = make_index(documents)
    data = letor_features(
        index, make_topics(" ".join(query) or "zz"), candidates(len(documents)), features=["released", *NAMES[15:]],
        fields=["title", "body", "whole"], normalize=None,
    )  # fmt: skip
    assert data.feature_names == tuple(f"{field}.{name}" for field in ("title", "body", "whole") for name in NAMES)
    for row, name in enumerate(data.doc_ids):
        number = int(name[1:])
        texts = [[fields[key] for fields in documents] for key in ("title", "body")]
        whole = [fields["title"] + fields["body"] for fields in documents]
        expected = [value for text in (*texts, whole) for value in Dense(text).values(NAMES, query or ["zz"], number)]
        np.testing.assert_allclose(data.X[row], expected, rtol=1e-9, atol=1e-9)


DOCUMENTS = [
    {"title": ["ab"], "body": ["ab", "ba", "ba", "ca"]},
    {"title": [], "body": []},
    {"title": ["ba", "da"], "body": ["ab"]},
    {"title": [], "body": ["da", "da"]},
]


@pytest.fixture(scope="module")
def index():
    return make_index(DOCUMENTS)


def column(data, name):
    return data.X[:, data.feature_names.index(name)]


def test_the_lists_are_letors():
    assert [feature.name for feature in RELEASED] == [*(f"L{k}" for k in range(1, 11)), *(f"H{k}" for k in range(1, 6))]
    different = [feature.name for feature in LECTURED if feature not in RELEASED]
    assert different == ["L5_lecture", "L6_lecture", "L7_lecture", "L8_lecture"]
    for feature in (*RELEASED, *LECTURED):
        assert feature.description
        assert feature.formula
        assert feature.source
        assert not set(feature.name) & set(" \t\n")


def test_rows_are_in_the_order_of_pools(index):
    topics = make_topics(*["ab ca"] * 10)
    data = letor_features(index, topics, candidates(4, topics=["10", "9", "2"]))
    assert list(dict.fromkeys(data.qid.tolist())) == ["2", "9", "10"]
    assert data.doc_ids.tolist() == ["d3", "d2", "d1", "d0"] * 3
    run = Run.from_scores("r", ["2"] * 4, data.doc_ids[:4], [0.0] * 4)
    assert run.doc_ids.tolist() == data.doc_ids[:4].tolist()  # ties as trec_eval breaks them


def test_scaling_is_by_query(index):
    raw = letor_features(index, make_topics("ab ba", "ca"), candidates(4, ["1", "2"]), normalize=None)
    scaled = letor_features(index, make_topics("ab ba", "ca"), candidates(4, ["1", "2"]))
    for topic in ("1", "2"):
        X = raw.X[raw.qid == topic]
        spread = X.max(axis=0) - X.min(axis=0)
        expected = np.where(spread > 0, (X - X.min(axis=0)) / np.where(spread > 0, spread, 1), 0)
        np.testing.assert_allclose(scaled.X[scaled.qid == topic], expected, atol=1e-12)
    assert {0.0, 1.0} <= set(column(scaled, "body.L1"))


def test_labels_are_grades(index):
    judgments = Qrels.from_grades(["1", "1", "1"], ["d0", "d2", "d3"], [2, -1, 0])
    data = letor_features(index, make_topics("ab"), candidates(4), judgments)
    assert data.y.tolist() == [0, 0, 0, 2]
    assert letor_features(index, make_topics("ab"), candidates(4)).y.tolist() == [0] * 4
    judged = letor_features(index, make_topics("ab"), judgments, judgments)
    assert judged.doc_ids.tolist() == ["d3", "d2", "d0"]


def test_candidates_may_be_the_union_of_runs(index):
    one = Run.from_scores("one", ["1", "1"], ["d0", "d2"], [2, 1])
    two = Run.from_scores("two", ["1", "7"], ["d3", "d0"], [2, 1])
    data = letor_features(index, make_topics("ab"), join_runs([one, two], depth=1))
    assert data.doc_ids.tolist() == ["d3", "d0"]
    assert letor_features(index, make_topics("ab"), one).doc_ids.tolist() == ["d2", "d0"]


def test_fields_and_features_are_chosen_by_name(index):
    data = letor_features(
        index, make_topics("ab"), candidates(4), features=["H1", "l8-lecture", "tfidf", "okapi(k1=0.9, b=0.4)"],
        fields=["body", "whole"],
    )  # fmt: skip
    features = ["H1", "L8_lecture", "tfidf", "okapi(k1=0.9,b=0.4)"]
    assert data.feature_names == tuple(f"{field}.{name}" for field in ("body", "whole") for name in features)


def test_a_single_field_is_the_whole_document():
    index = make_index([{"body": ["ab", "ba"]}, {"body": ["ab"]}])
    data = letor_features(index, make_topics("ab"), candidates(2), features="L1")
    assert data.feature_names == ("body.L1",)


def test_a_feature_of_ones_own(index):
    length = Feature(
        "length", "number of tokens", "|d|", "here", lambda e: e.source.postings.lengths[e.documents] * 1.0
    )
    data = letor_features(index, make_topics("ab"), candidates(4), features=[length], normalize=None)
    assert column(data, "body.length").tolist() == [2, 1, 0, 4]


def bad(values):
    return Feature("bad", "not what it should be", "x", "here", lambda e: values)


@pytest.mark.parametrize(
    ("wrong", "kind", "said"),
    [
        ({"index": "here"}, InputError, "index must be an Index"),
        ({"topics": "ab"}, InputError, "topics"),
        ({"topics": make_topics("ab") * 2}, InputError, "two topics have the id '1'"),
        ({"topics": []}, InputError, "there are no topics"),
        ({"query": "narrative"}, InputError, "topic '1' has no part 'narrative'"),
        ({"candidates": ["d0"]}, InputError, "candidates must have a topic and a document id in each row"),
        ({"candidates": Run.from_scores("r", ["8"], ["d0"], [1])}, InputError, "no topic has candidates"),
        ({"candidates": Run.from_scores("r", ["1", "1"], ["d0", "x"], [1, 1])}, InputError, "document 'x'"),
        ({"candidates": Run.from_scores("r", ["1"], ["zzz"], [1])}, InputError, "document 'zzz'"),
        ({"qrels": "qrels.txt"}, InputError, "qrels must be Qrels"),
        ({"features": "L11"}, UnknownNameError, "unknown feature 'L11'"),
        ({"features": []}, InputError, "features is empty"),
        ({"features": 3}, InputError, "features must be"),
        ({"features": ["L1", 3]}, InputError, "features must be"),
        ({"features": ["L1", "released"]}, InputError, "feature 'L1' is named twice"),
        ({"features": "okapi(k1=-1)"}, InputError, "k1"),
        ({"features": bad(np.full(4, np.inf))}, InputError, "feature bad is inf"),
        ({"features": bad([1.0, 2.0])}, InputError, "feature bad must have a number for each of 4 candidates"),
        ({"features": bad(["a"] * 4)}, InputError, "the result of feature bad"),
        ({"fields": ["abstract"]}, UnknownNameError, "unknown index field 'abstract'"),
        ({"fields": "title"}, InputError, "fields must be a list of names"),
        ({"fields": []}, InputError, "fields is empty"),
        ({"fields": ["body", "body"]}, InputError, "fields has 'body' twice: leave one out"),
        ({"fields": [None]}, InputError, "fields must be a list of names"),
        ({"normalize": "standard"}, InputError, "normalize must be"),
    ],
)  # fmt: skip
def test_invalid_arguments_are_errors(wrong, kind, said, index):
    right = {"index": index, "topics": make_topics("ab"), "candidates": candidates(4)}
    with pytest.raises(kind, match=said) as result:
        letor_features(**{**right, **wrong})
    assert isinstance(result.value, StructSVMError)


def test_names_of_features_are_found_in_any_spelling():
    assert [feature.name for feature in find_features(["l1", "L8-LECTURE", " H5"])] == ["L1", "L8_lecture", "H5"]
