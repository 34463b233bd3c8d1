"""Exact sums equal the sums of fractions, in any order and any parts."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.foundation.compute.summation import ExactSum, VectorSum, exact_sum

numbers = st.lists(st.floats(-1e200, 1e200), max_size=60)


@given(values=numbers, cuts=st.lists(st.integers(0, 60), max_size=5), seed=st.integers(0, 99))
def test_it_is_the_sum_of_fractions_rounded_once(values: list[float], cuts: list[int], seed: int) -> None:
    exact = float(sum(map(Fraction, values), Fraction(0)))
    array = np.random.default_rng(seed).permutation(np.array(values, dtype=np.float64))
    assert exact_sum(array) == exact
    parts = np.split(array, sorted(min(cut, len(array)) for cut in cuts))
    assert ExactSum.merged(map(ExactSum.of, parts)).value == exact


def test_numbers_of_very_different_sizes() -> None:
    assert exact_sum(np.array([1e300, 1.0, -1e300, 1e-300])) == 1.0
    assert exact_sum(np.array([0.1] * 10)) == 1.0
    assert exact_sum(np.zeros(0)) == 0.0
    for values in (np.zeros(3), np.zeros(40), np.array([0.1, -0.1]), np.tile([0.1, -0.1], 40)):
        assert len(ExactSum.of(values).partials) == 0


@given(
    seed=st.integers(0, 999),
    n=st.sampled_from([15, 16, 17, 255, 1000, 5000]),
    spread=st.sampled_from([0.0, 1.0, 10.0, 60.0]),
    scale=st.sampled_from([1.0, 1e-250, 1e-300, 1e250, 1e290]),
)
def test_many_numbers_of_any_sizes(seed: int, n: int, spread: float, scale: float) -> None:
    rng = np.random.default_rng(seed)
    values = (
        rng.choice([-1.0, 0.0, 1.0], n) * np.exp(spread * rng.standard_normal(n).clip(-3, 0)) * rng.random(n) * scale
    )
    exact = float(sum(map(Fraction, values.tolist()), Fraction(0)))
    assert exact_sum(values) == exact
    half = n // 2
    assert ExactSum.merged([ExactSum.of(values[half:]), ExactSum.of(values[:half])]).value == exact


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_partial_sums_with_gaps_between_them(sign: float) -> None:
    """Few bits in each of many places: there are many more partial sums than places / 53."""
    sparse = np.array([sign**k * 2.0**place for k, place in enumerate(range(-1070, 990, 2))])
    assert len(ExactSum.of(sparse).partials) > 500 or sign < 0
    for values in (sparse, sparse[::-1], np.concatenate([sparse, -sparse[:-1]])):
        assert exact_sum(values) == math.fsum(values.tolist())
    rng = np.random.default_rng(1)
    for _ in range(20):
        values = 10.0 ** rng.uniform(-320, 290, 400) * sign ** np.arange(400)
        assert exact_sum(values) == math.fsum(values.tolist())
        parts = [ExactSum.of(part) for part in np.split(values, 4)]
        assert ExactSum.merged(parts).value == math.fsum(values.tolist())


def test_what_is_not_finite_stays_so() -> None:
    assert np.isnan(exact_sum(np.array([1.0, np.nan])))
    assert exact_sum(np.array([1.0, np.inf])) == np.inf


@given(seed=st.integers(0, 10**6), count=st.integers(1, 12))
def test_sums_of_vectors_show_neither_parts_nor_order(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((count, 5)) * 10.0 ** rng.integers(-6, 7, (count, 5))
    exact = [math.fsum(column) for column in rows.T.tolist()]
    shuffled = [VectorSum(row) for row in rng.permutation(rows)]
    cut = int(rng.integers(count))
    parts = [VectorSum.merged(part) for part in (shuffled[:cut], shuffled[cut:]) if part]
    assert VectorSum.merged(map(VectorSum, rows)).value.tolist() == exact
    assert VectorSum.merged(parts).value.tolist() == exact


def test_sums_of_vectors_round_once_and_overflow_as_sums_do() -> None:
    vectors = [VectorSum(np.array([x])) for x in (1.0, 2.0**-53, 2.0**-53)]
    assert VectorSum.merged(vectors).value == 1.0 + 2.0**-52
    assert VectorSum.merged([VectorSum(np.array([1e308, 1.0]))] * 2).value.tolist() == [math.inf, 2.0]
