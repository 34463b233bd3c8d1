"""LETOR's features of candidates: each against its definition, and what the whole of them is."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm.data import Document, Qrels, Topic
from structsvm.text import Analyzer, Index
from structsvm.text.letor import LECTURED, RELEASED, letor_features
from tests.text.letor.dense import Dense

NAMES = [feature.name for feature in dict.fromkeys((*RELEASED, *LECTURED))]
tokens = st.lists(st.sampled_from(["ab", "ba", "bb", "ca", "da"]), max_size=6)
queries = st.lists(st.sampled_from(["ab", "ba", "bb", "ca", "da", "zz"]), max_size=5)
collections = st.lists(st.fixed_dictionaries({"title": tokens, "body": tokens}), min_size=1, max_size=7)


def make_index(documents):
    """Index documents, each a dict of fields, under the ids d0, d1, ..."""
    texts = [{name: " ".join(words) for name, words in fields.items()} for fields in documents]
    return Index.build([(f"d{k}", fields) for k, fields in enumerate(texts)], Analyzer())


def make_topics(*texts):
    return [Topic(str(k), {"title": text}) for k, text in enumerate(texts, start=1)]


def candidates(rows, topics=("1",)):
    """Return all documents as candidates of all topics."""
    return Qrels.from_grades(
        np.repeat(topics, rows), [f"d{k}" for k in range(rows)] * len(topics), [0] * rows * len(topics)
    )


@settings(max_examples=60)
@given(documents=collections, query=queries)
def test_every_feature_is_what_its_definition_says(documents, query):
    if not any(word for fields in documents for words in fields.values() for word in words):
        documents = [{"title": ["ab"], "body": ["ab", "ba"]}, *documents]
    index = make_index(documents)
    data = letor_features(
        index, make_topics(" ".join(query) or "zz"), candidates(len(documents)), features=["released", *NAMES[15:]],
        fields=["title", "body", "whole"], normalise="none",
    )  # fmt: skip
    assert data.feature_names == tuple(f"{field}.{name}" for field in ("title", "body", "whole") for name in NAMES)
    for row, name in enumerate(data.doc_ids):
        number = int(name[1:])
        texts = [[fields[key] for fields in documents] for key in ("title", "body")]
        whole = [fields["title"] + fields["body"] for fields in documents]
        expected = [value for text in (*texts, whole) for value in Dense(text).values(NAMES, query or ["zz"], number)]
        np.testing.assert_allclose(data.X[row], expected, rtol=1e-9, atol=1e-9)
