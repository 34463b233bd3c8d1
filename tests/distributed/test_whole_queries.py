"""Split queries are found in any order of ids, and are errors or moved together."""

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from dask import delayed
from hypothesis import HealthCheck, given, settings

from structsvm.distributed.partition import Partition, survey_partition
from structsvm.distributed.partitions import (
    Partitions,
    Regions,
    destinations,
    ids_within,
    joined_split,
    leaving,
    overlaps,
    shared,
)
from structsvm.exceptions import InputError
from tests.distributed.queries import DATA


def parts_of(rows, *, text=False, sparse=False):
    """Return delayed partitions of rows of `DATA`, given their numbers."""
    qid = np.array([f"q{k}" for k in DATA.qid]) if text else DATA.qid
    X = sp.csr_array(DATA.X) if sparse else DATA.X
    return [delayed(lambda part=part: (X[part], DATA.y[part], qid[part], np.ones(len(part))))() for part in rows]


def random_rows(partitions, seed):
    rows = np.random.default_rng(seed).permutation(len(DATA.y))
    return np.array_split(rows, partitions)


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_split_queries_are_moved_together(client, text, sparse):
    partitions = Partitions.of(parts_of(random_rows(4, 1), text=text, sparse=sparse), client=client, shuffle=True)
    parts = client.gather(list(partitions.parts))
    homes = [set(part.qid.tolist()) for part in parts]
    assert sum(map(len, homes)) == len(set.union(*homes)) == 40
    X = np.concatenate([part.X.toarray() if sparse else part.X for part in parts])
    order, expected = np.lexsort(X.T), np.lexsort(DATA.X.T)
    np.testing.assert_array_equal(X[order], DATA.X[expected])
    np.testing.assert_array_equal(np.concatenate([part.y for part in parts])[order], DATA.y[expected])
    assert max(map(len, homes)) < 20  # they spread


def test_rows_of_whole_queries_do_not_move(client):
    rows = [np.arange(0, 63), np.arange(63, 120), np.arange(120, 240)]  # query 10 is split at row 63
    calls = client.compute(parts_of(rows))
    partitions = Partitions.of(calls, client=client, shuffle=True)
    assert [survey.rows for survey in partitions.surveys] in ([66, 54, 120], [60, 60, 120])
    before, after = client.gather(calls)[2], client.gather(partitions.parts[2])
    assert np.shares_memory(before[0], after.X)


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ([np.arange(0, 63), np.arange(63, 240)], "query 20 is in partition 0 and in partition 1. The rows"),
        ([np.arange(0, 60), np.r_[60:240, 3]], "query 10 is in partition 0 and in partition 1. The rows"),
        ([np.r_[0:6, 234:240], np.r_[6:234, 0]], "query 10 is in partition 0 and in partition 1"),
        ([np.arange(0, 240, 2), np.arange(1, 240, 2)], "39 more queries are split.*shuffle=True to move them together"),
    ],
)
@pytest.mark.parametrize("text", [False, True])
def test_split_queries_are_errors(client, rows, match, text):
    match = match.replace("query ", "query q" if text else "query ")
    with pytest.raises(InputError, match=match):
        Partitions.of(parts_of(rows, text=text), client=client)


def test_interleaved_ids_of_whole_queries_are_allowed(client):
    even = np.flatnonzero(DATA.qid % 2 == 0)
    odd = np.flatnonzero(DATA.qid % 2 == 1)
    assert len(Partitions.of(parts_of([even, odd]), client=client)) == 2


def brief(number, ids):
    return survey_partition(Partition(np.zeros((len(ids), 1)), None, np.array(ids), title=f"partition {number}"))


def test_only_overlapping_partitions_send_ids():
    assert overlaps([brief(0, [5, 6]), brief(1, [1, 2]), brief(2, [9])])[0] == []
    touched, regions = overlaps([brief(0, [1, 2]), brief(1, [2, 3]), brief(2, [5])])
    assert touched == [0, 1]
    assert regions == Regions([2], [2])


IDS = st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=12), min_size=1, max_size=6)


@given(IDS, st.booleans())
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
def test_all_split_queries_are_found_and_moved(ids, text):
    name = (lambda k: f"q{k}") if text else int
    parts = []
    for number, numbers in enumerate(ids):
        qid = np.array([name(k) for k in numbers])
        marks = np.array([[number * 100 + row] for row in range(len(qid))], dtype=float)
        parts.append(Partition(marks, marks[:, 0], qid, None, None))
    sets = [set(part.qid.tolist()) for part in parts]
    split = {query for query in set.union(*sets) if sum(query in part for part in sets) > 1}

    numbers, regions = overlaps([survey_partition(part) for part in parts])
    if not numbers:
        assert not split
        return
    holders = shared(numbers, [ids_within(parts[k], regions) for k in numbers])
    assert set(holders) == split
    moves = destinations(holders)
    out = [leaving(part, k, moves.get(k, {})) for k, part in enumerate(parts)]
    after = [
        joined_split([out[k][k], *(out[j][k] for j in range(len(parts)) if j != k and k in out[j])])
        for k in range(len(parts))
    ]
    homes = [set(part.qid.tolist()) for part in after]
    assert sum(map(len, homes)) == len(set.union(*homes))
    rows = sorted((float(x), q) for part in parts for x, q in zip(part.X[:, 0], part.qid.tolist(), strict=True))
    assert sorted((float(x), q) for part in after for x, q in zip(part.X[:, 0], part.qid.tolist(), strict=True)) == rows
    for k, part in enumerate(after):
        assert {q for q in part.qid.tolist() if q not in split} == {q for q in sets[k] if q not in split}
        assert all(q in sets[k] for q in part.qid.tolist())  # to one that held it
        np.testing.assert_array_equal(part.y, part.X[:, 0])


def test_ids_of_large_numbers_keep_their_digits(client):
    X, y = np.zeros((4, 1)), np.array([1.0, 0.0, 1.0, 0.0])
    low, high = 2**62, 2**62 + 1
    parts = [delayed(lambda q=q: (X, y, np.full(4, q)))() for q in (low, high)]
    assert Partitions.of(parts, client=client).queries == 2
