"""Normalization and combination of scores, to the letter of the definitions."""

import numpy as np
import pytest
from hypothesis import given, settings

from structsvm.exceptions import InputError
from structsvm.features.scaling.names import SCORE_SCALINGS, scaling_named
from structsvm.features.scaling.scalings import scaled_by_query
from structsvm.fusion.comb import CombANZ, CombMAX, CombMED, CombMIN, CombMNZ, CombSUM
from tests.fusion import literal
from tests.fusion.literal import matrices

RULES = {"min": CombMIN, "max": CombMAX, "med": CombMED, "sum": CombSUM, "anz": CombANZ, "mnz": CombMNZ}
each = pytest.mark.parametrize("rule", RULES)
WAYS = ("none", "min-max", "z", "sum")
each_scaling = pytest.mark.parametrize("how", WAYS)
nan = np.nan


def scale(X, ptr, how):
    return scaled_by_query(X, ptr, scaling_named("how", how, SCORE_SCALINGS))


def fused(method, X):
    return method.fit(X).predict(X)


def test_an_example():
    X = [[3.0, 1.0, nan], [0.0, 4.0, 2.0], [nan, nan, 5.0], [nan, nan, nan]]
    expected = {
        "min": [1, 0, 5, -np.inf],
        "max": [3, 4, 5, -np.inf],
        "med": [2, 2, 5, -np.inf],
        "sum": [4, 6, 5, -np.inf],
        "anz": [2, 2, 5, -np.inf],
        "mnz": [8, 18, 5, -np.inf],
    }
    for rule, values in expected.items():
        assert fused(RULES[rule]("none"), X).tolist() == values
    assert fused(CombANZ("none", count="nonzero"), X).tolist() == [2, 3, 5, -np.inf]
    assert fused(CombMNZ("none", count="nonzero"), X).tolist() == [8, 12, 5, -np.inf]


def test_zeros_only():
    X = [[0.0, 0.0], [nan, 0.0], [-1.0, 1.0]]
    assert fused(CombANZ("none", count="nonzero"), X).tolist() == [0.0, 0.0, 0.0]
    assert fused(CombMNZ("none", count="nonzero"), X).tolist() == [0.0, 0.0, 0.0]


def test_a_score_at_the_mean_is_zero_however_it_is_rounded():
    """Shifted and scaled, the second document stays at the mean of the first system."""
    counts = set()
    for shift in np.linspace(0.0, 1.0, 60):
        scores = np.array([0.1, 0.2, 0.3]) * (1.0 + shift) + shift
        X = np.column_stack([scores, [1.0, 3.0, 2.5]])
        counts.add(tuple(CombMNZ("z", count="nonzero")._counted(scale(X, np.array([0, 3]), "z")).tolist()))
    assert counts == {(2, 1, 2)}
    assert CombMNZ("none", count="nonzero")._counted(np.array([[1e-13, 0.0, nan]])).tolist() == [1]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("none", [2.0, 4.0, nan, 8.0, 10.0]),
        ("min-max", [0.0, 0.25, nan, 0.75, 1.0]),
        ("sum", [0.0, 0.125, nan, 0.375, 0.5]),
        ("z", np.array([-4.0, -2.0, nan, 2.0, 4.0]) / np.sqrt(10.0)),
    ],
)
def test_examples_of_scaling(how, expected):
    X = np.array([[2.0], [4.0], [nan], [8.0], [10.0]])
    np.testing.assert_allclose(scale(X, np.array([0, 5]), how).ravel(), expected, rtol=1e-15)


@each_scaling
@given(X=matrices())
def test_scaling_to_the_letter(how, X):
    result = scale(X.copy(), np.array([0, len(X)]), how)
    expected = [[nan if score is None else score for score in literal.normalized(c, how)] for c in literal.columns(X)]
    np.testing.assert_allclose(result.T, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("how", ["min-max", "z", "sum"])
def test_scores_that_tell_nothing_apart_become_0(how):
    """All scores equal; one document; none."""
    X = np.array([[7.0, nan, nan], [7.0, -3.0, nan], [7.0, nan, nan]])
    np.testing.assert_array_equal(scale(X, np.array([0, 3]), how), 0.0 * X)


def close(found, X, expected, how):
    scale = np.nanmax(np.abs(X)) if how == "none" and not np.isnan(X).all() else 1.0
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * scale)


@each_scaling
@each
@settings(max_examples=25)
@given(X=matrices())
def test_combination_to_the_letter(rule, how, X):
    close(fused(RULES[rule](how), X), X, literal.combined(X, rule, how), how)


@pytest.mark.parametrize("how", ["none", "min-max", "sum"])  # whether a z-score is 0 may be up to rounding
@pytest.mark.parametrize("rule", ["anz", "mnz"])
@settings(max_examples=25)
@given(X=matrices())
def test_scores_that_are_not_zero_to_the_letter(rule, how, X):
    close(fused(RULES[rule](how, count="nonzero"), X), X, literal.combined(X, rule, how, "nonzero"), how)


def test_sums_that_are_too_large_are_refused():
    X = [[1e308, 1e308, -1e308], [nan, nan, nan]]
    for method in (CombSUM("none"), CombANZ("none"), CombMNZ("none")):
        with pytest.raises(InputError, match="scores of 1 documents are too large to be combined, up to 1e.308"):
            fused(method, X)
    assert fused(CombSUM(), X).tolist() == [0.0, -np.inf]
