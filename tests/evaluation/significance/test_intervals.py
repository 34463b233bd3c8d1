"""Intervals of one mean."""

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from structsvm.evaluation import mean_interval
from structsvm.evaluation.significance.intervals import _student_quantile
from structsvm.exceptions import InputError

VALUES = np.random.default_rng(0).beta(0.6, 1.2, size=60)


def test_the_default_is_students():
    wanted = ttest_1samp(VALUES, 0.0).confidence_interval(0.9)
    assert mean_interval(VALUES, confidence_level=0.9) == pytest.approx((wanted.low, wanted.high), rel=1e-10)


def test_bets_as_written_in_the_paper():
    """Means of a grid whose hedged capital never reaches 1 / 0.05; one bet against, one for."""
    drawn = np.random.default_rng(4).permutation(VALUES)
    kept = []
    for mean in np.linspace(0.0005, 0.9995, 1000):
        up = down = 0.5
        largest, total, squares = 0.5, 0.5, 0.25
        for t, x in enumerate(drawn, start=1):
            bet = np.sqrt(2 * np.log(2 / 0.05) / (len(drawn) * squares / t))
            up *= 1 + min(bet, 0.5 / mean) * (x - mean)
            down *= 1 - min(bet, 0.5 / (1 - mean)) * (x - mean)
            largest = max(largest, up, down)
            total += x
            squares += (x - total / (t + 1)) ** 2
        if largest < 1 / 0.05:
            kept.append(mean)
    low, high = mean_interval(VALUES, method="betting", random_state=4)
    assert (low, high) == pytest.approx((kept[0], kept[-1]), abs=1e-3)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 49, 50, 999, 1000, 20_001])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_quantile_of_students_distribution(freedom, level):
    assert _student_quantile(level, freedom) == pytest.approx(student.ppf(0.5 + level / 2, freedom), rel=1e-10)


@pytest.mark.parametrize("method", ["t", "bootstrap", "betting"])
def test_coverage(method):
    """The heavy simulation is `python -m benchmarks run certainty`."""
    rng = np.random.default_rng(1)
    result = [mean_interval(rng.beta(0.5, 1.5, 50), method=method, n_resamples=200, random_state=k) for k in range(200)]
    assert np.mean([low <= 0.25 <= high for low, high in result]) >= (0.95 if method == "betting" else 0.89)


def test_betting_uses_values_in_a_random_order():
    assert mean_interval(np.sort(VALUES), method="betting", random_state=1) == pytest.approx(
        mean_interval(np.sort(VALUES)[::-1], method="betting", random_state=1), abs=0.05
    )
    assert mean_interval([0.0] * 9, method="betting") == pytest.approx((0.0, 0.45), abs=0.1)


@pytest.mark.parametrize("level", [0.01, 0.3, 0.5, 0.6])
def test_betting_intervals_are_not_inverted_at_low_levels(level):
    rng = np.random.default_rng(0)
    for k in range(50):
        low, high = mean_interval(rng.random(20), method="betting", confidence_level=level, random_state=k)
        assert low <= high


@pytest.mark.parametrize(
    ("values", "value_range", "wanted"),
    [
        ([0.9, 1.0, 0.9], (0, 1), (None, 1.0)),
        ([0.0, 0.9, 1.0], (0, 1), (0.0, 1.0)),
        ([-1.0, 0.9, 1.0], (-1, 1), (-1.0, 1.0)),
        ([0.0, 0.9, 1.1], (0, 1), (None, None)),
    ],
    ids=["one end", "both ends", "differences", "values beyond the range"],
)
def test_intervals_stay_within_the_range_of_the_measure(values, value_range, wanted):
    plain = mean_interval(values)
    expected = [end if cut is None else cut for end, cut in zip(plain, wanted, strict=True)]
    assert list(mean_interval(values, value_range=value_range)) == expected


@pytest.mark.parametrize("method", ["t", "bootstrap"])
@pytest.mark.parametrize("values", [[0.5], [0.5, 0.5]])
def test_no_variance_has_no_interval(method, values):
    assert mean_interval(values, method=method) is None


@pytest.mark.parametrize(
    ("values", "settings", "message"),
    [
        ([], {}, "values must be finite numbers"),
        ([0.1, np.nan], {}, "values must be finite numbers"),
        ([0.1, 1.5], {"method": "betting"}, "needs values from 0 to 1, got 0.1 to 1.5"),
        ([0.1, 0.2], {"method": "betts"}, "betts"),
        ([0.1, 0.2], {"value_range": (1, 0)}, "value_range must have the least and the largest value"),
        ([0.1, 0.2], {"value_range": None}, "value_range"),
        ([0.1, 0.2], {"confidence_level": 95}, "confidence_level must be between 0 and 1"),
    ],
)
def test_wrong_arguments(values, settings, message):
    with pytest.raises(InputError, match=message):
        mean_interval(values, **settings)
