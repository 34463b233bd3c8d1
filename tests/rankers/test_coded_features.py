import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.rankers.rank_boost_kernels import CodedFeatures


def thresholds(values, most):
    values = np.asarray(values, dtype=float)
    return CodedFeatures.of(values[:, None], np.arange(len(values)), most).thresholds[0]


def test_a_value_that_most_documents_have_takes_no_thresholds_from_the_others():
    rng = np.random.default_rng(0)
    values = np.zeros(10_000)
    values[:300] = rng.permutation(300) + 1.0
    chosen = thresholds(values, 255)
    assert len(chosen) == 255
    assert chosen[0] == 0.0
    assert np.diff(chosen).max() <= 2.0


def test_frequent_values_are_found_one_after_the_other():
    """Of 4 parts of 60, 0 takes more than 15; of 3 parts of 20, 1 takes more than 6 and two thirds."""
    values = np.repeat(np.arange(14.0), [40, 8] + [1] * 12)
    assert thresholds(values, 3).tolist() == [0.0, 1.0, 7.0]


def test_different_values_are_cut_into_equal_parts():
    assert thresholds(np.arange(200.0), 3).tolist() == [49.0, 99.0, 149.0]
    assert thresholds(np.arange(10.0), 8).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]


@given(st.lists(st.integers(1, 60), min_size=2, max_size=40), st.integers(1, 20))
def test_thresholds_are_as_many_as_there_may_be_and_parts_are_even(counts, most):
    values = np.repeat(np.arange(float(len(counts))), counts)
    chosen = thresholds(values, most)
    assert len(chosen) == len(np.unique(chosen)) == min(most, len(counts) - 1)
    assert set(chosen.tolist()) <= set(range(len(counts) - 1))
    if len(counts) - 1 <= most:
        return
    parts = most + 1
    part = _part(np.array(counts), parts)
    limited = np.minimum(counts, part)
    assert limited.sum() == pytest.approx(parts * part)
    frequent = np.flatnonzero(np.array(counts) > part)
    assert set(frequent[frequent < len(counts) - 1].tolist()) <= set(chosen.tolist())
    for inside in np.split(limited, chosen.astype(int) + 1):
        assert inside.sum() < 2.0 * part + 1e-9


def _part(counts, parts):
    """The size of parts to which no value counts more than one: by bisection."""
    low, high = 0.0, float(counts.sum())
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.minimum(counts, middle).sum() > parts * middle else (low, middle)
    return high
