"""Reductions over groups, against a loop."""

import numpy as np

from structsvm.foundation.arrays import largest_of_groups


def test_the_largest_of_each_group_and_of_0() -> None:
    rng = np.random.default_rng(0)
    values, group = rng.standard_normal(50) - 1.0, rng.integers(0, 9, 50)
    expected = [max([0.0, *values[group == g]]) for g in range(12)]
    assert largest_of_groups(values, group, 12).tolist() == expected
    assert 0.0 in expected[:9]
    assert largest_of_groups(np.zeros(0), np.zeros(0, dtype=np.int64), 2).tolist() == [0.0, 0.0]
