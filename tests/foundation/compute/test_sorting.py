"""The counting sort against NumPy's, on inputs made to break it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from structsvm.foundation.compute import sorting
from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.compute.sorting import _counted
from structsvm.foundation.types import IntVector, Vector

_descending = sorting.descending


@compiled
def descending(scores: Vector) -> IntVector:
    return _descending(scores)


def assert_descending(scores: Vector) -> None:
    before = scores.copy()
    order = descending(scores)
    np.testing.assert_array_equal(scores, before)
    np.testing.assert_array_equal(order, np.argsort(-scores, kind="stable"))


lengths = st.integers(0, 40) | st.sampled_from([63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025])
finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
tied = st.sampled_from([0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.2e-308, -2.2e-308, 1.7e308, -1.7e308, 1.0 + 2e-16])


@settings(max_examples=50)
@given(scores=lengths.flatmap(lambda n: hnp.arrays(np.float64, n, elements=finite | tied)))
def test_any_finite_scores(scores: Vector) -> None:
    assert_descending(scores)


@given(scores=st.integers(0, 200).flatmap(lambda n: hnp.arrays(np.float64, n, elements=tied)))
def test_ties_signed_zeros_and_the_ends_of_the_range(scores: Vector) -> None:
    assert_descending(scores)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 15, 16, 17, 2047, 2048, 2049, 4095, 4096, 4097, 5000])
def test_lengths_around_powers_of_two(n: int) -> None:
    rng = np.random.default_rng(n)
    for scores in (
        rng.standard_normal(n),
        -1e9 + rng.standard_normal(n),
        np.full(n, -0.25),
        np.arange(n) - n / 2,
        n / 2 - np.arange(n),
        rng.integers(0, 2, n) - 0.5,
        rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-300, 300, n),
        rng.integers(-(10**6), 10**6, n) * 5e-324,
    ):
        assert_descending(scores)


@pytest.mark.parametrize("n", [2, 100, 4096])
def test_scores_in_the_last_digits_are_in_exact_order(n: int) -> None:
    rng = np.random.default_rng(n)
    scores = rng.permutation(1.0 + np.arange(n) * 2.0**-52)
    assert_descending(scores)
    assert_descending(-scores)


@pytest.mark.parametrize("n", [3, 50, 1000, 5000])
@pytest.mark.parametrize("outlier", [1e300, -1e300, 1e9])
def test_scores_that_crowd_beside_an_outlier(n: int, outlier: float) -> None:
    scores = np.random.default_rng(n).standard_normal(n)
    scores[n // 2] = outlier
    assert_descending(scores)


@pytest.mark.parametrize("n", [1, 2, 40, 3000])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_come_back_as_some_order(n: int, value: float) -> None:
    scores = np.random.default_rng(n).standard_normal(n)
    scores[n // 2] = value
    np.testing.assert_array_equal(np.sort(descending(scores)), np.arange(n))


@pytest.mark.parametrize("seed", range(20))
def test_the_lowest_scores_come_last_whatever_rounding_does(seed: int) -> None:
    """Insertion sorts few of them and gives up on many: the first sort must put them in the last bucket."""
    rng = np.random.default_rng(seed)
    scores = np.maximum(rng.standard_normal(400), 0.0) * rng.uniform(0.1, 10.0)
    assert_descending(scores)
    bits = 8
    order = _counted(scores, scores.max(), ((1 << 2 * bits) - 1) / (scores.max() - scores.min()), bits)
    assert scores[order[-1]] == scores.min()
