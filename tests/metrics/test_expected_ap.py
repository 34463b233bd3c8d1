"""Average precision over all orders of tied documents."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.exceptions import InputError
from structsvm.metrics import AP, parse_measure

DOCUMENTS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=6)
AVERAGE = AP(ties="average")


def mean_over_orders(scores, labels):
    """Average precision of every permutation that is sorted by score, averaged."""
    values = [
        AP().mean(np.arange(len(order), 0, -1.0), np.take(labels, order))
        for order in permutations(range(len(scores)))
        if list(np.take(scores, order)) == sorted(scores, reverse=True)
    ]
    return math.fsum(values) / len(values)


@given(DOCUMENTS)
def test_it_is_the_mean_over_all_orders(documents):
    scores, labels = (list(column) for column in zip(*documents, strict=True))
    assert AVERAGE.mean(scores, labels) == pytest.approx(mean_over_orders(scores, labels), abs=1e-12)


@given(st.lists(DOCUMENTS, min_size=1, max_size=4), st.randoms())
def test_queries_do_not_mix(queries, random):
    rows = [(qid, *document) for qid, documents in enumerate(queries) for document in documents]
    random.shuffle(rows)
    qid, scores, labels = (list(column) for column in zip(*rows, strict=True))
    ids, values = AVERAGE.per_query(scores, labels, qid)
    for number, value in zip(ids.tolist(), values.tolist(), strict=True):
        alone = list(zip(*queries[number], strict=True))
        assert value == pytest.approx(AVERAGE.mean(*alone), abs=1e-15)


def test_without_ties_it_is_average_precision():
    rng = np.random.default_rng(0)
    scores, labels, qid = rng.permutation(300), rng.integers(0, 3, 300), rng.integers(0, 9, 300)
    assert AVERAGE.mean(scores, labels, qid) == pytest.approx(AP().mean(scores, labels, qid), abs=1e-15)


def test_documents_that_no_run_retrieved_are_tied_at_minus_infinity():
    labels = [1, 0, 1, 0, 0]
    assert AVERAGE.mean([2.0, 1.0, *[-np.inf] * 3], labels) == pytest.approx((1 + np.mean([2 / 3, 2 / 4, 2 / 5])) / 2)


def test_judged_documents_that_are_not_ranked_count_in_the_denominator():
    judged = ([1, 1, 1, 0], [0, 0, 0, 0])
    assert AVERAGE.mean([1.0, 1.0], [1, 0], [0, 0], judged=judged) == pytest.approx((1 + 1 / 2) / 2 / 3)


def test_it_has_a_name():
    assert parse_measure("map(ties=average)") == AVERAGE
    assert str(AVERAGE) == "map(ties=average)"
    with pytest.raises(InputError, match="'order' or 'average'"):
        AP(ties="random")
