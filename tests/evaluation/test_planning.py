"""Planned comparisons."""

import numpy as np
import pytest
from scipy.stats import t as student

from structsvm.evaluation import queries_needed, smallest_difference, spread_of_differences
from structsvm.exceptions import InputError
from tests.evaluation.planned import fault_in, plans


@pytest.mark.parametrize("effect", [0.1, 0.3, 0.6])
def test_power_by_simulation(effect):
    """Within 3 points; on real values, `python -m benchmarks run certainty`."""
    queries = queries_needed(1.0, effect)
    rng = np.random.default_rng(0)
    samples = rng.normal(effect, 1.0, size=(4000, queries))
    t = samples.mean(axis=1) / samples.std(axis=1, ddof=1) * np.sqrt(queries)
    assert np.mean(np.abs(t) > student.ppf(0.975, queries - 1)) == pytest.approx(0.8, abs=0.03)


def test_power_is_exact_and_each_function_inverts_the_other():
    faults = [fault for plan in plans() if (fault := fault_in(plan))]
    assert faults == []


@pytest.mark.parametrize(
    ("queries", "level"), [(2, 1e-300), (10**15, 0.05), (10**15, 1e-300), (2, 1.0 - 1e-12), (10**6, 1.0 - 1e-12)]
)
def test_extreme_plans_have_a_difference(queries, level):
    assert 0.0 < smallest_difference(1.0, queries, power=1.0 - 1e-13, significance_level=level) < np.inf


def test_corrections_divide_the_level():
    settings = {"significance_level": 0.05 / 4}
    assert smallest_difference(0.2, 50, systems=5) == smallest_difference(0.2, 50, **settings)
    settings = {"significance_level": 0.05 / 10}
    assert smallest_difference(0.2, 50, systems=5, all_pairs=True) == smallest_difference(0.2, 50, **settings)


def test_spread():
    differences = [0.1, -0.2, 0.3, 0.0]
    assert smallest_difference(differences, 9) == smallest_difference(np.std(differences, ddof=1), 9)
    rng = np.random.default_rng(0)
    first, noise = rng.normal(size=(2, 100_000))
    second = 0.6 * first + 0.8 * noise
    assert spread_of_differences(first, 0.6) == pytest.approx(np.std(first - second), rel=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spread": 0.0}, "spread must be a positive standard deviation"),
        ({"spread": [0.1, 0.1]}, "spread must be a positive standard deviation"),
        ({"difference": -0.1}, "difference must be a positive number"),
        ({"difference": 1e-9}, "needs more than 10,000,000 queries"),
        ({"power": 1.0}, "power must be between 0 and 1"),
        ({"power": 0.01}, "power must be above the significance level"),
        ({"systems": 1}, "systems must be"),
    ],
)
def test_wrong_arguments(change, message):
    with pytest.raises(InputError, match=message):
        queries_needed(**{"spread": 0.2, "difference": 0.05, **change})


@pytest.mark.parametrize("plan", [smallest_difference, queries_needed])
def test_levels_below_every_p_value_are_errors(plan):
    with pytest.raises(InputError, match="a higher significance level"):
        plan(1e300, 2, significance_level=5e-324)
