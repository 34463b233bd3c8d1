"""Per-query transformers: each score is compared within its query and function, by the definitions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from structsvm.exceptions import InputError
from structsvm.features import FillMissing, QueryMinMax, QueryPercentiles, ReciprocalRanks
from tests.features.gaps import Scores, scores


def min_max(score: float, others: Any) -> float:
    low, high = min(others), max(others)
    return 0.0 if low == high else (score / 2 - low / 2) / (high / 2 - low / 2)


def percentile(score: float, others: Any) -> float:
    return sum(other <= score for other in others) / len(others)


def reciprocal_rank(score: float, others: Any) -> float:
    return 1 / (1 + sum(other > score for other in others))


DEFINITIONS: dict[Any, Callable[[float, Any], float]] = {
    QueryMinMax: min_max,
    QueryPercentiles: percentile,
    ReciprocalRanks: reciprocal_rank,
}
each = pytest.mark.parametrize("transformer", DEFINITIONS)
EVERY = [*DEFINITIONS, FillMissing]


@each
@given(given_scores=scores())
def test_values_are_those_of_the_definition(transformer: Any, given_scores: Scores) -> None:
    X, qid = given_scores
    out = transformer().fit_transform(X, qid=qid)
    assert out.dtype == np.float64
    for row, f in np.ndindex(X.shape):
        column = X[qid == qid[row], f]
        present = column[~np.isnan(column)].tolist()
        expected = np.nan if np.isnan(X[row, f]) else DEFINITIONS[transformer](X[row, f], present)
        assert out[row, f] == pytest.approx(expected, rel=1e-15, nan_ok=True)


@given(given_scores=scores())
def test_min_max_reaches_both_ends(given_scores: Scores) -> None:
    X, qid = given_scores
    out = QueryMinMax().fit_transform(X, qid=qid)
    for number in np.unique(qid):
        for f in range(X.shape[1]):
            before, after = X[qid == number, f], out[qid == number, f]
            kept = ~np.isnan(before)
            if len(np.unique(before[kept])) > 1:
                assert (after[kept].min(), after[kept].max()) == (0.0, 1.0)
            assert (np.diff(after[kept][np.argsort(before[kept])]) >= 0.0).all()


def test_the_example_of_the_paper() -> None:
    """Yue et al. (2007), section 5.2.1: scores from 0.2 to 0.7 turn 0.6 into 0.8."""
    out = QueryMinMax().fit_transform([[0.2], [0.6], [0.7], [9.0]], qid=[1, 1, 1, 2])
    np.testing.assert_allclose(out.ravel(), [0.0, 0.8, 1.0, 0.0])


@given(given_scores=scores())
def test_missing_scores_become_the_smallest_of_the_query(given_scores: Scores) -> None:
    X, qid = given_scores
    out = FillMissing().fit_transform(X, qid=qid)
    for row, f in np.ndindex(X.shape):
        column = X[qid == qid[row], f]
        lowest = 0.0 if np.isnan(column).all() else np.nanmin(column)
        assert out[row, f] == (lowest if np.isnan(X[row, f]) else X[row, f])


def test_missing_scores_become_a_number() -> None:
    X = np.array([[1.0, np.nan], [np.nan, 2.0]])
    np.testing.assert_array_equal(FillMissing(-1).fit_transform(X), [[1.0, -1.0], [-1.0, 2.0]])
    assert np.isnan(X).sum() == 2


@pytest.mark.parametrize("transformer", EVERY)
def test_qid_is_needed(transformer: Any) -> None:
    X = [[1.0], [2.0]]
    message = f"{transformer.__name__} needs qid.*enable_metadata_routing=True"
    with pytest.raises(InputError, match=message):
        transformer().fit(X)
    with pytest.raises(InputError, match=message):
        transformer().fit(X, qid=[0, 0]).transform(X)


@pytest.mark.parametrize("transformer", EVERY)
def test_invalid_arguments_are_errors(transformer: Any) -> None:
    with pytest.raises(InputError, match="infinite, the first is at row 1, column 0"):
        transformer().fit([[1.0], [np.inf]], qid=[0, 0])
    with pytest.raises(InputError, match="one query id per row"):
        transformer().fit([[1.0], [2.0]], qid=[2])
    with pytest.raises(InputError, match="qid must not be NaN"):
        transformer().fit([[1.0], [2.0]], qid=[2, np.nan])
    with pytest.raises(InputError, match=f"but {transformer.__name__} is expecting 1 features"):
        transformer().fit([[1.0]], qid=[0]).transform([[1.0, 2.0]], qid=[0])


@pytest.mark.parametrize("value", ["max", None, np.nan, np.inf, True, [0.0]])
def test_invalid_fill_values_are_errors(value: Any) -> None:
    with pytest.raises(InputError, match="must be 'min' or a finite number"):
        FillMissing(value).fit([[1.0]], qid=[0])
