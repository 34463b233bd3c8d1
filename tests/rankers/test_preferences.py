import numpy as np
import pytest

from structsvm.estimators.ranking import RankingEstimator
from structsvm.exceptions import InputError
from structsvm.rankers import Preferences
from structsvm.training.data import TrainingData
from structsvm.training.grouped import GroupedData


class Anything(RankingEstimator):
    measure = None


def test_tuples_with_and_without_magnitude():
    pairs = Preferences.of([(0, 1), (2, 0, 3)])
    assert pairs.better.tolist() == [0, 2]
    assert pairs.worse.tolist() == [1, 0]
    assert pairs.magnitude.tolist() == [1.0, 3.0]
    assert len(pairs) == 2


def test_one_magnitude_for_all():
    assert Preferences([0, 1], [1, 2], 0.5).magnitude.tolist() == [0.5, 0.5]


def test_pairs_of_labels_are_those_of_different_labels_within_queries():
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 4, 40).astype(float), rng.integers(0, 5, 40)
    pairs = Preferences.of_labels(y, qid)
    listed = set(zip(pairs.better.tolist(), pairs.worse.tolist(), pairs.magnitude.tolist(), strict=True))
    assert listed == {(i, j, y[i] - y[j]) for i in range(40) for j in range(40) if qid[i] == qid[j] and y[i] > y[j]}
    assert len(listed) == len(pairs)


@pytest.mark.parametrize(
    ("better", "worse", "magnitude", "message"),
    [
        ([0, 1], [1], 1.0, "2 better rows and 1 worse"),
        ([0, -1], [1, 2], 1.0, "pair 1 .* negative row number"),
        ([0, 1], [1, 1], 1.0, "pair 1 .* prefers a row to itself"),
        ([0], [1], 0.0, "pair 0 .* magnitude"),
        ([0], [1], np.nan, "pair 0 .* magnitude"),
        ([0], [1], "much", "magnitudes must be numbers"),
        ([0], [1], [1.0, 2.0], r"1 pairs, but magnitude has shape \(2,\)"),
        ([0.5], [1], 1.0, "row numbers"),
    ],
)
def test_invalid_preferences_are_errors(better, worse, magnitude, message):
    with pytest.raises(InputError, match=message):
        Preferences(better, worse, magnitude)


def test_training_groups_rows_and_renumbers_preferences():
    X = np.arange(12.0).reshape(6, 2)
    qid = ["b", "a", "b", "a", "c", "b"]
    data = TrainingData.of("RankBoost", X, Preferences([0, 3], [5, 1], [1.0, 2.0]), qid, takes_preferences=True)
    training = GroupedData.of(data)
    assert training.queries.ids.tolist() == ["b", "a", "c"]
    assert training.queries.ptr.tolist() == [0, 3, 5, 6]
    assert training.X.tolist() == X[[0, 2, 5, 1, 3, 4]].tolist()
    assert training.y.better.tolist() == [0, 4]
    assert training.y.worse.tolist() == [2, 3]
    assert training.y.magnitude.tolist() == [1.0, 2.0]


def test_training_leaves_grouped_rows_where_they_are():
    X = np.arange(8.0).reshape(4, 2)
    training = GroupedData.of(TrainingData.of("RankBoost", X, [1, 0, 1, 0], [7, 7, 3, 3]))
    assert np.shares_memory(training.X, X)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (Preferences([], []), "no preferences to learn from"),
        (Preferences([0], [4]), "rows 0 to 3, but y has a preference for or against row 4"),
        (Preferences([0, 1], [1, 2]), "pair 1 joins rows 1 and 2"),
    ],
)
def test_preferences_that_do_not_fit_the_rows_are_refused(pairs, message):
    with pytest.raises(InputError, match=message):
        GroupedData.of(TrainingData.of("Anything", np.eye(4), pairs, [0, 0, 1, 1], takes_preferences=True))


@pytest.mark.parametrize("pair", [1, "ab", None, {0, 1}])
def test_malformed_tuples_are_errors(pair):
    with pytest.raises(InputError, match=r"pair 1 is .*: it must be \(better, worse\)"):
        Preferences.of([(0, 1), pair])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[1.0, 0.0]], r"one number per row: its shape is \(1, 2\)"),
        (1.0, r"one number per row: its shape is \(\)"),
        (["good", "bad"], "one number per row: could not convert"),
        ([1.0, np.nan], "y contains NaN or infinity, first in row 1"),
    ],
)
def test_invalid_labels_are_errors(y, message):
    with pytest.raises(InputError, match=message):
        Preferences.of_labels(y)


def test_no_labels_make_no_pairs():
    assert len(Preferences.of_labels([])) == len(Preferences.of_labels([], [])) == 0
    assert len(Preferences.of_labels([1, 1])) == 0


def test_pairs_of_labels_of_many_queries_are_found_in_one_pass():
    qid = np.arange(40_000) // 2
    pairs = Preferences.of_labels(np.arange(40_000) % 2, qid)
    assert pairs.better.tolist() == list(range(1, 40_000, 2))
    assert pairs.worse.tolist() == list(range(0, 40_000, 2))
