"""The splits of the trials."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.exceptions import InputError
from structsvm.protocols.experiment.splits import balanced_splits


def times(splits, role, queries):
    """How often each query has a role."""
    return np.bincount([query for split in splits for query in split[role]], minlength=queries)


@given(
    train=st.integers(1, 12),
    validation=st.integers(1, 8),
    test=st.integers(1, 40),
    trials=st.integers(1, 60),
    seed=st.integers(0, 5),
)
def test_every_query_has_each_role_equally_often_or_within_one(train, validation, test, trials, seed):
    queries = train + validation + test
    splits = balanced_splits(queries, trials=trials, train=train, validation=validation, random_state=seed)
    assert len(splits) == trials
    for split in splits:
        assert tuple(map(len, split)) == (train, validation, test)
        assert sorted(sum(split, ())) == list(range(queries))
        assert split == tuple(map(tuple, map(sorted, split)))
    for role in range(3):
        assert np.ptp(times(splits, role, queries)) <= 1


def test_the_numbers_of_the_paper_divide():
    splits = balanced_splits(50, trials=50, train=10, validation=5, random_state=0)
    assert set(times(splits, 0, 50)) == {10}
    assert set(times(splits, 1, 50)) == {5}
    assert set(times(splits, 2, 50)) == {35}


def test_the_seed_decides():
    first, again, other = (
        balanced_splits(50, trials=50, train=10, validation=5, random_state=seed) for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


def test_a_query_must_be_left_to_test_on():
    with pytest.raises(InputError, match=r"15 queries, and training and validation take 10 \+ 5 of them"):
        balanced_splits(15, trials=2, train=10, validation=5, random_state=0)
