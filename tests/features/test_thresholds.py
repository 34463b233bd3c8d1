"""Thresholds: indicators by the definition, and thresholds from the training rows."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from structsvm.exceptions import InputError
from structsvm.features import BinnedMatrix, Thresholds
from tests.features.gaps import Scores, scores


def fitted(X: Any, **settings: Any) -> Thresholds:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return Thresholds(**settings).fit(X)


def by_definition(X: Any, thresholds: Any) -> Any:
    """1 if f(d) >= k; a comparison with NaN is false."""
    return np.column_stack([X[:, [f]] >= each for f, each in enumerate(thresholds)]).astype(float)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("spacing", ["quantile", "even"])
@given(
    parts=st.integers(1, 3).flatmap(lambda functions: st.tuples(scores(functions), scores(functions))),
    bins=st.sampled_from([1, 2, 5, 300]),
)
def test_indicators_are_those_of_the_definition(
    spacing: str, dtype: Any, parts: tuple[Scores, Scores], bins: int
) -> None:
    train, test = parts
    assume(not np.isnan(train.X).all())
    assume(dtype == np.float64 or not np.nanmax(np.abs(train.X), initial=0.0) > 1e30)
    assume(dtype == np.float64 or not np.nanmax(np.abs(test.X), initial=0.0) > 1e30)
    transformer = fitted(train.X.astype(dtype), bins=bins, spacing=spacing)
    for X in (train.X.astype(dtype), test.X.astype(dtype)):
        binned = transformer.transform(X)
        assert isinstance(binned, BinnedMatrix)
        np.testing.assert_array_equal(binned.toarray(), by_definition(X, transformer.thresholds_))


def test_a_score_equal_to_a_threshold_satisfies_it() -> None:
    transformer = Thresholds(bins=3, spacing="even", low=0.0, high=1.0).fit([[0.2]])
    X = [[-0.1], [0.0], [0.49], [0.5], [1.0], [2.0], [np.nan]]
    np.testing.assert_array_equal(transformer.transform(X).codes.ravel(), [0, 1, 1, 2, 3, 3, 0])


@given(train=scores(), bins=st.integers(1, 12))
def test_quantiles_part_the_training_scores_evenly(train: Scores, bins: int) -> None:
    assume(not np.isnan(train.X).all())
    for column, thresholds in zip(train.X.T, fitted(train.X, bins=bins).thresholds_, strict=True):
        present = np.sort(column[~np.isnan(column)])
        assert len(thresholds) <= bins
        assert (np.diff(thresholds) > 0).all()
        assert set(thresholds) <= set(present)
        if len(present):
            assert thresholds[0] == present[0]
        if len(np.unique(present)) == len(present):  # without ties, the parts differ by one score at most
            assert len(thresholds) == min(bins, len(present))
            parts = np.diff(np.searchsorted(present, thresholds), append=len(present))
            assert parts.size == 0 or parts.max() - parts.min() <= 1


def test_quantiles_by_hand() -> None:
    X = np.array([[5.0], [1.0], [np.nan], [2.0], [4.0], [3.0], [6.0]])
    np.testing.assert_array_equal(Thresholds(bins=3).fit(X).thresholds_[0], [1.0, 3.0, 5.0])
    np.testing.assert_array_equal(Thresholds(bins=4).fit(X).thresholds_[0], [1.0, 2.0, 4.0, 5.0])


def test_even_thresholds_go_from_the_smallest_to_the_largest_score() -> None:
    X = np.array([[1.0, -1.0], [3.0, np.nan], [np.nan, 1.0]])
    first, second = Thresholds(bins=5, spacing="even").fit(X).thresholds_
    np.testing.assert_array_equal(first, [1.0, 1.5, 2.0, 2.5, 3.0])
    np.testing.assert_array_equal(second, [-1.0, -0.5, 0.0, 0.5, 1.0])
    first, second = Thresholds(bins=3, spacing="even", high=5.0).fit(X).thresholds_
    np.testing.assert_array_equal(first, [1.0, 3.0, 5.0])
    np.testing.assert_array_equal(second, [-1.0, 2.0, 5.0])


@pytest.mark.parametrize("spacing", ["quantile", "even"])
def test_a_constant_function_has_one_threshold(spacing: str) -> None:
    transformer = Thresholds(spacing=spacing).fit([[2.0], [2.0], [np.nan]])
    np.testing.assert_array_equal(transformer.thresholds_[0], [2.0])
    np.testing.assert_array_equal(transformer.transform([[1.0], [2.0], [np.nan]]).toarray(), [[0], [1], [0]])


def test_a_function_without_scores_has_no_thresholds_and_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"all scores of 1 functions are missing \(columns 1\)"):
        transformer = Thresholds(bins=2).fit([[1.0, np.nan], [2.0, np.nan]])
    assert [len(thresholds) for thresholds in transformer.thresholds_] == [2, 0]
    binned = transformer.transform([[1.5, 7.0]])
    assert binned.shape == (1, 2)
    assert transformer.get_feature_names_out().tolist() == ["x0>=1.0", "x0>=2.0"]


def test_given_ends_need_no_scores() -> None:
    transformer = Thresholds(bins=2, spacing="even", low=0.0, high=1.0).fit([[np.nan, np.nan]])
    np.testing.assert_array_equal(transformer.thresholds_, [[0.0, 1.0], [0.0, 1.0]])


def test_names_say_function_and_threshold() -> None:
    frame = pd.DataFrame({"bm25": [1.0, 2.0], "lm": [0.1, 0.1]})
    transformer = Thresholds(bins=2).fit(frame)
    assert transformer.get_feature_names_out().tolist() == ["bm25>=1.0", "bm25>=2.0", "lm>=0.1"]
    assert transformer.transform(frame).shape[1] == 3
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        transformer.get_feature_names_out(["a", "b"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bins": 0}, r"bins=...\) must be an integer of at least 1, got 0"),
        ({"bins": 2.5}, "must be an integer of at least 1, got 2.5"),
        ({"bins": True}, "must be an integer of at least 1, got True"),
        ({"bins": 70_000}, "must be at most 65535, got 70000"),
        ({"spacing": "log"}, "must be 'quantile' or 'even', got 'log'"),
        ({"low": 0.0}, "low=...\\) is for spacing='even'"),
        ({"spacing": "even", "low": "0"}, "low=...\\) must be a finite number or None, got '0'"),
        ({"spacing": "even", "high": np.inf}, "high=...\\) must be a finite number or None, got inf"),
        ({"spacing": "even", "low": 1.0, "high": 1.0}, "low=1.0, high=1.0.: low must be below high"),
        ({"spacing": "even", "low": 3.0}, "low=3.* is beyond the largest training score of function 0, 2: give both"),
        (
            {"spacing": "even", "high": 0.0},
            "high=0.* is beyond the smallest training score of function 0, 1: give both",
        ),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Thresholds(**settings).fit([[1.0], [2.0]])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, 2.0], [1.0, np.inf]], "1 scores are infinite, the first is at row 1, column 1. Give documents that"),
        ([[np.nan, np.nan]], "all scores are missing"),
        ([1.0, 2.0], "Expected 2D array, got 1D array"),
        ([["a"]], "could not convert string to float"),
        (np.zeros((0, 2)), "0 sample"),
        (np.zeros((2, 0)), "0 feature"),
    ],
)
def test_scores_that_cannot_be_used_are_refused(X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Thresholds().fit(X)


def test_other_columns_than_before_are_refused() -> None:
    transformer = Thresholds().fit([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(InputError, match="X has 1 features, but Thresholds is expecting 2 features"):
        transformer.transform([[1.0]])
    with pytest.raises(InputError, match="infinite, the first is at row 0, column 1"):
        transformer.transform([[1.0, -np.inf]])


def test_even_thresholds_over_the_whole_range_of_numbers() -> None:
    fitted = Thresholds(3, spacing="even").fit([[-1.7e308], [1.7e308]])
    assert fitted.thresholds_[0].tolist() == [-1.7e308, 0.0, 1.7e308]
    given = Thresholds(2, spacing="even", low=-1.7e308, high=1.7e308).fit([[0.0]])
    assert given.thresholds_[0].tolist() == [-1.7e308, 1.7e308]
