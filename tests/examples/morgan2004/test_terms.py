"""Terms by mutual information, the values of terms, and the split of documents."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from examples.papers.morgan2004.okapi_tf import okapi_tf
from examples.papers.morgan2004.split import draw_split
from examples.papers.morgan2004.terms import informative_terms, mutual_information
from structsvm.text import Analyzer, Index


def counted(index):
    """The counts as a dense array, documents by terms."""
    found = index.whole
    dense = np.zeros((found.n_documents, len(found.terms)))
    for term in range(len(found.terms)):
        those = slice(found.ptr[term], found.ptr[term + 1])
        dense[found.documents[those], term] = found.counts[those]
    return dense


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_mutual_information_is_that_of_scikit_learn(data):
    words = st.lists(st.sampled_from("abcdef"), max_size=6)
    documents = data.draw(st.lists(words, min_size=2, max_size=14).filter(any))
    index = Index.build([(str(k), {"text": " ".join(each)}) for k, each in enumerate(documents)], Analyzer(None, None))
    rows = np.array(data.draw(st.permutations(range(len(documents)))))[: data.draw(st.integers(1, len(documents)))]
    relevant = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    present = counted(index)[rows] > 0
    expected = [mutual_info_score(column, relevant) for column in present.T]
    found = mutual_information(index.whole, rows, relevant)
    assert found == pytest.approx(expected, abs=1e-12)
    assert (found >= 0).all()


def test_terms_that_tell_most_are_first_and_equal_ones_by_name():
    assert informative_terms(np.array([0.1, 0.3, 0.0, 0.3, 0.2]), 4).tolist() == [1, 3, 4, 0]


def test_values_are_okapi_tf(index):
    counts = counted(index)
    lengths = counts.sum(axis=1)
    expected = counts / (counts + 0.5 + 1.5 * lengths[:, None] / lengths.mean())
    terms = np.array([5, 0, len(index.whole.terms) - 1])
    assert okapi_tf(index.whole, terms) == pytest.approx(expected[:, terms], abs=1e-15)
    assert (okapi_tf(index.whole, terms)[7] == 0).all()  # a document without a term


def test_a_value_by_hand():
    index = Index.build([("a", {"text": "x x y"}), ("b", {"text": "y"})], Analyzer(None, None))
    assert okapi_tf(index.whole, np.array([0]))[:, 0] == pytest.approx([2 / (2 + 0.5 + 1.5 * 3 / 2), 0.0])


@pytest.mark.parametrize("n", [8, 101, 102, 103])
def test_a_quarter_trains_a_quarter_validates_and_half_tests(n):
    relevant = np.arange(n) < 3
    parts = draw_split(relevant, np.random.default_rng(0))
    assert [len(part) for part in parts] == [n // 4, n // 4, n - 2 * (n // 4)]
    assert sorted(np.concatenate(parts).tolist()) == list(range(n))
    assert all(relevant[part].any() and not relevant[part].all() for part in parts)


def test_parts_are_random_and_not_stratified():
    relevant = np.arange(400) < 40
    drawn = [draw_split(relevant, np.random.default_rng(seed)) for seed in range(300)]
    in_training = np.array([relevant[parts.train].sum() for parts in drawn])
    assert in_training.mean() == pytest.approx(10.0, abs=0.6)
    assert in_training.std() == pytest.approx(np.sqrt(40 * 0.25 * 0.75 * 360 / 399), rel=0.2)  # hypergeometric
    again = draw_split(relevant, np.random.default_rng(7))
    assert all((one == other).all() for one, other in zip(drawn[7], again, strict=True))
    assert not (np.diff(again.train) > 0).all()  # the order is random too, and breaks ties
