"""Fast precision against the measures."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.metrics import AP, IPrec
from structsvm.protocols.experiment.scoring import score_queries, tied_shares

DOCUMENTS = st.lists(st.tuples(st.sampled_from([-np.inf, 0.0, 1.0, 2.0]), st.booleans()), min_size=1, max_size=12)


@given(st.lists(DOCUMENTS.map(lambda documents: [*documents, (1.0, True)]), min_size=1, max_size=4))
def test_the_values_are_those_of_the_measures(queries):
    scores, relevant = (np.array(column) for column in zip(*chain(*queries), strict=True))
    size = [len(documents) for documents in queries]
    qid, ptr = np.repeat(np.arange(len(size)), size), np.cumsum([0, *size])
    ap, over_ties, interpolated = score_queries(scores, relevant, ptr)
    assert ap == pytest.approx(AP().per_query(scores, relevant, qid).values, abs=1e-15)
    assert over_ties == pytest.approx(AP(ties="average").per_query(scores, relevant, qid).values, abs=1e-14)
    levels = [IPrec(k / 10).per_query(scores, relevant, qid).values for k in range(11)]
    assert interpolated == pytest.approx(np.transpose(levels), abs=1e-15)


def test_long_lists_with_many_ties():
    rng = np.random.default_rng(0)
    size = [4000, 1, 300]
    qid, ptr = np.repeat(np.arange(3), size), np.cumsum([0, *size])
    scores, relevant = rng.integers(0, 60, ptr[-1]).astype(float), rng.random(ptr[-1]) < 0.03
    relevant[ptr[:-1]] = True
    ap, over_ties, _ = score_queries(scores, relevant, ptr)
    assert ap == pytest.approx(AP().per_query(scores, relevant, qid).values, abs=1e-14)
    assert over_ties == pytest.approx(AP(ties="average").per_query(scores, relevant, qid).values, abs=1e-14)


def test_the_share_of_tied_documents():
    scores = np.array([1.0, 2.0, 1.0, -np.inf, -np.inf, 3.0, 3.0, 2.0, 1.0, 0.0])
    assert tied_shares(scores, np.array([0, 5, 7, 10])).tolist() == [0.8, 1.0, 0.0]
