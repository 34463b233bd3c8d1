"""Differences free of rounding, the tests by enumeration, corrections, and data that have nothing to test."""

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, ttest_rel, wilcoxon

from structsvm.evaluation.significance import holm, paired_tests
from structsvm.evaluation.significance.paired import bonferroni, differences, randomization_p, signed_ranks, wilcoxon_p
from structsvm.exceptions import InputError


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def of_all_signs(terms: np.ndarray, signs: np.ndarray) -> float:
    """Share of all assignments of signs to the terms whose sum is at least as far from 0."""
    sums = np.array([terms @ each for each in product((-1, 1), repeat=len(terms))])
    return float(np.mean(np.abs(sums) >= abs(terms @ signs) - 1e-9))


TENTHS = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=9)


@given(pairs=TENTHS, scale=st.sampled_from([1.0, 1e-3, 1e4]))
def test_equal_differences_have_equal_ranks(pairs, scale):
    """Tenths are not binary fractions: 0.3 - 0.2 is not 0.2 - 0.1. The tests agree with whole numbers."""
    whole = np.array(pairs)
    first, second = whole.T / 10 * scale
    result = differences(first, second)
    exact = whole[:, 0] - whole[:, 1]
    assert result == pytest.approx(exact / 10 * scale, abs=1e-11 * scale)
    assert np.array_equal(rankdata(abs(result)), rankdata(abs(exact)))
    assert np.array_equal(np.sign(result), np.sign(exact))
    tested = exact[exact != 0]
    if len(tested):
        ranks = rankdata(abs(tested))
        assert wilcoxon_p(result) == pytest.approx(of_all_signs(ranks, np.sign(tested)))
        assert randomization_p(result) == pytest.approx(of_all_signs(abs(tested) * 1.0, np.sign(tested)))
    counts = signed_ranks(first, second)
    assert (counts.wins, counts.losses, counts.ties) == ((exact > 0).sum(), (exact < 0).sum(), (exact == 0).sum())
    assert signed_ranks(*whole.T) == signed_ranks(*whole.T.astype(np.float32))


def test_a_sum_of_zero_is_zero_whatever_its_rounding():
    """-3 - 2 + 2 - 4 + 7 in units of a thousandth of a tenth: every assignment of signs is as far from 0."""
    whole = np.array([[0, 3], [8, 10], [2, 0], [4, 8], [7, 0]])
    first, second = whole.T / 10 * 1e-3
    assert differences(first, second).sum() != 0.0
    assert randomization_p(differences(first, second)) == 1.0


def test_rounding_made_a_difference_significant():
    """Without rounding, ranks of equal differences would differ, and so the p-value."""
    rng = np.random.default_rng(3)
    whole = rng.integers(-3, 5, size=40)
    base = rng.integers(0, 10, size=40) / 10
    first = base + whole / 10
    raw = first - base
    assert len(np.unique(abs(raw))) > len(np.unique(abs(whole)))
    result = signed_ranks(first, base).p_values["wilcoxon"]
    assert result == pytest.approx(wilcoxon(whole[whole != 0], method="approx").pvalue)
    assert abs(wilcoxon(raw[whole != 0], method="approx").pvalue - result) > 1e-6


def test_numbers_between_two_roundings_are_the_same_too():
    """2^-13 has thirteen digits, the last of them 5: rounded to twelve it goes up or down with its error."""
    half = 2.0**-13
    first = np.array([half, np.nextafter(half, 0.0), np.nextafter(half, 1.0), -half, 1.0])
    assert len(np.unique(np.round(first[:3], 12))) == 2
    assert np.array_equal(differences(first, np.zeros(5)), [half * (1 - 2**-53)] * 3 + [-half * (1 - 2**-53), 1.0])


@pytest.mark.parametrize("n", [3, 14, 60])
def test_against_other_ways(n):
    rng = np.random.default_rng(n)
    first, second = rng.normal(0.1, 1.0, n), rng.normal(size=n)
    result = paired_tests(first, second, n_resamples=2000)
    assert result.p_values["t"] == pytest.approx(ttest_rel(first, second).pvalue)
    assert result.p_values["wilcoxon"] == pytest.approx(wilcoxon(first, second).pvalue)
    signs = rng.choice([-1, 1], (20_000, n)) @ (first - second)
    assert result.p_values["randomization"] == pytest.approx(
        np.mean(abs(signs) >= abs((first - second).sum()) * (1 - 1e-12)), abs=0.05
    )
    low, high = result.interval
    assert low <= result.difference <= high
    again = paired_tests(first, second, n_resamples=2000)
    assert again == result
    assert paired_tests(first, second, n_resamples=2000, random_state=1) != result or n == 3


@pytest.mark.parametrize("queries", [15, 30])
def test_the_interval_covers_its_level_for_few_queries_and_many_equal_values(queries):
    """Three in four differences are 0, as of two similar rankers."""
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(400):
        difference = rng.normal(0.1, 0.3, queries) * (rng.random(queries) < 0.4)
        low, high = paired_tests(difference, np.zeros(queries), tests=[]).interval
        covered.append(low <= 0.04 <= high)
    assert 0.925 <= np.mean(covered) <= 0.985


@pytest.mark.parametrize(
    ("first", "wanted"),
    [
        ([0.0, 0.0, 0.0], (0.0, (0.0, 0.0), 1.0, 1.0, 1.0)),
        ([0.5, 0.5, 0.5], (0.5, (0.5, 0.5), None, 0.25, 0.25)),
        ([0.5], (0.5, None, None, 1.0, 1.0)),
        ([0.0], (0.0, None, 1.0, 1.0, 1.0)),
        ([0.3 - 0.2, 0.2 - 0.1, 0.1], (0.1, (0.1, 0.1), None, 0.25, 0.25)),
        ([0.5, 0.0, 0.0, 0.0], None),
    ],
)
def test_little_or_nothing_to_test_is_told_without_a_warning(first, wanted):
    result = paired_tests(first, np.zeros(len(first)), n_resamples=100)
    if wanted is None:
        assert (result.p_values["wilcoxon"], result.p_values["randomization"]) == (1.0, 1.0)
        assert np.isfinite(result.interval).all()
        return
    difference, interval, *p_values = wanted
    assert result.difference == pytest.approx(difference)
    assert result.interval == (None if interval is None else pytest.approx(interval))
    assert list(result.p_values.values()) == pytest.approx(p_values)


def test_corrections():
    """The values of R's p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")."""
    p_values = [0.01, 0.04, None, 0.03, 0.005]
    assert holm(p_values) == [pytest.approx(0.03), pytest.approx(0.06), None, pytest.approx(0.06), pytest.approx(0.02)]
    assert bonferroni(p_values) == [pytest.approx(0.04), pytest.approx(0.16), None, 0.12, 0.02]
    assert holm([]) == bonferroni([]) == []
    assert holm([0.6, 0.7]) == bonferroni([0.6, 0.7]) == [1.0, 1.0]
    assert holm([None]) == [None]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [1.0, 2.0]), "a value for each query"),
        (([], []), "a value for each query"),
        (([np.nan], [1.0]), "must be finite"),
        (([1.0], [1.0], {"n_resamples": 5}), "n_resamples must be an integer of at least 100, got 5"),
        (([1.0], [1.0], {"confidence_level": 95}), "confidence_level must be between 0 and 1, such as 0.95, got 95"),
        (([1.0], [1.0], {"tests": ["sign"]}), "each of tests must be"),
        (([1.0], [1.0], {"random_state": -1}), "random_state must be an integer of at least 0"),
    ],
)
def test_invalid_samples_are_errors(arguments, message):
    first, second, *settings = arguments
    with pytest.raises(InputError, match=message):
        paired_tests(first, second, **(settings[0] if settings else {}))
    with pytest.raises(InputError, match="a p-value must be a number from 0 to 1"):
        holm([1.5])
