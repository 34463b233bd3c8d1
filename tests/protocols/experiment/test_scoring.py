"""The measures of models and base functions."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.metrics import AP
from structsvm.protocols.experiment.plan import measures_of
from structsvm.protocols.results import MAP, TIED

DOCUMENTS = st.lists(st.tuples(st.sampled_from([-np.inf, 0.0, 1.0, 2.0]), st.booleans()), min_size=1, max_size=12)


@given(st.lists(DOCUMENTS.map(lambda documents: [*documents, (1.0, True)]), min_size=1, max_size=4))
def test_the_values_equal_those_of_the_measures(queries):
    scores, relevant = (np.array(column) for column in zip(*chain(*queries), strict=True))
    qid = np.repeat(np.arange(len(queries)), list(map(len, queries)))
    means, of_queries = measures_of(scores, relevant, qid)
    assert of_queries[MAP] == pytest.approx(AP().per_query(scores, relevant, qid).values, abs=1e-15)
    assert means[MAP] == pytest.approx(AP().mean(scores, relevant, qid))


def test_the_share_of_tied_documents():
    scores = np.array([1.0, 2.0, 1.0, -np.inf, -np.inf, 3.0, 3.0, 2.0, 1.0, 0.0])
    _, of_queries = measures_of(scores, scores > 0.0, np.repeat([0, 1, 2], [5, 2, 3]))
    assert of_queries[TIED].tolist() == [0.8, 1.0, 0.0]


def test_documents_that_were_not_retrieved_are_not_tied():
    scores = np.array([1.0, np.nan, 1.0, np.nan, 2.0, np.nan, np.nan])
    _, of_queries = measures_of(scores, np.array([1, 0, 0, 0, 0, 1, 0]) > 0, np.repeat([0, 1], [5, 2]))
    assert of_queries[TIED].tolist() == [2 / 3, 0.0]
    assert of_queries[MAP] == pytest.approx((5 / 12, 0.75))
