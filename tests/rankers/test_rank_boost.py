import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.exceptions import InputError, ZeroWeightsWarning
from structsvm.rankers import Preferences, RankBoost
from tests.rankers.listed_rank_boost import boost, stump


@st.composite
def problems(draw, missing=True):
    """Small data of few values, so that features, labels and stumps are often equal."""
    n, d = draw(st.integers(4, 24)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.integers(0, draw(st.integers(2, 6)), (n, d)).astype(float)
    if missing and draw(st.booleans()):
        X[rng.random((n, d)) < 0.2] = np.nan
    y = rng.integers(0, draw(st.integers(2, 4)), n).astype(float)
    qid = rng.integers(0, draw(st.integers(1, 4)), n)
    y[:2], qid[:2] = [0, 1], 0  # there is a pair
    return X, y, qid


def pairs_of(y, qid):
    listed = Preferences.of_labels(y, qid)
    return listed.better, listed.worse


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5)).round(1)
    y = (X @ [1.0, -0.5, 0.3, 0.0, 0.0] + rng.standard_normal(200)).round().clip(-1, 2) + 1
    return X, y, np.arange(200) // 10


@pytest.mark.filterwarnings("ignore::structsvm.exceptions.ZeroWeightsWarning")
@given(problems(), st.integers(1, 12))
def test_same_rounds_as_with_listed_pairs(problem, rounds):
    X, y, qid = problem
    better, worse = pairs_of(y, qid)
    stumps, products, _, scores = boost(X, better, worse, np.ones(len(better)), rounds)
    ranker = RankBoost(rounds, max_thresholds=None).fit(X, y, qid)
    assert ranker.best_iteration_ == len(stumps)
    assert ranker.features_.tolist() == [each[0] for each in stumps]
    assert ranker.thresholds_.tolist() == [each[1] for each in stumps]
    assert ranker.missing_.tolist() == [each[2] for each in stumps]
    np.testing.assert_allclose(ranker.alphas_, [each[3] for each in stumps], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ranker.r_, [each[4] for each in stumps], atol=1e-9)
    np.testing.assert_allclose(ranker.losses_, products, rtol=1e-6)
    np.testing.assert_allclose(ranker.predict(X), scores, rtol=1e-6, atol=1e-9)


@pytest.mark.filterwarnings("ignore::structsvm.exceptions.ZeroWeightsWarning")
@given(problems(), st.integers(0, 10**6))
def test_same_rounds_as_with_listed_pairs_of_weights(problem, seed):
    X, y, qid = problem
    better, worse = pairs_of(y, qid)
    magnitude = np.random.default_rng(seed).uniform(0.1, 3.0, len(better))
    stumps, products, _, scores = boost(X, better, worse, magnitude, 8)
    ranker = RankBoost(8, max_thresholds=None).fit(X, Preferences(better, worse, magnitude), qid)
    assert ranker.features_.tolist() == [each[0] for each in stumps]
    assert ranker.thresholds_.tolist() == [each[1] for each in stumps]
    np.testing.assert_allclose(ranker.losses_, products, rtol=1e-6)
    np.testing.assert_allclose(ranker.predict(X), scores, rtol=1e-6, atol=1e-9)


@pytest.mark.filterwarnings("ignore::structsvm.exceptions.ZeroWeightsWarning")
@given(problems())
def test_the_loss_is_the_mean_over_pairs_falls_and_bounds_the_pairs_in_the_wrong_order(problem):
    X, y, qid = problem
    better, worse = pairs_of(y, qid)
    ranker = RankBoost(20, max_thresholds=None).fit(X, y, qid)
    for loss, r, scores in zip(ranker.losses_, ranker.r_, ranker.staged_predict(X), strict=True):
        margins = scores[better] - scores[worse]
        assert loss == pytest.approx(np.exp(-margins).mean(), rel=1e-6)
        assert loss >= (margins <= 0.0).mean() - 1e-12
        assert abs(r) <= 1.0 + 1e-12
    losses, r = np.concatenate([[1.0], ranker.losses_]), ranker.r_.clip(-1.0, 1.0)
    assert (losses[1:] <= losses[:-1] * (np.sqrt(1.0 - r**2) + 2e-6)).all()


@pytest.mark.filterwarnings("ignore::structsvm.exceptions.ZeroWeightsWarning")
@given(problems(missing=False), st.integers(0, 10**6))
def test_only_the_order_of_values_and_of_labels_matters(problem, seed):
    X, y, qid = problem
    order = np.random.default_rng(seed).permutation(len(y))
    ranker = RankBoost(6, max_thresholds=None).fit(X, y, qid)
    other = RankBoost(6, max_thresholds=None).fit(np.exp(X[order]), 3.0 * y[order] - 7.0, qid[order])
    np.testing.assert_allclose(other.predict(np.exp(X)), ranker.predict(X), rtol=1e-9, atol=1e-12)


def test_the_weight_of_a_query_is_how_often_it_is_there(data):
    X, y, qid = data
    weight = np.tile([1.0, 2.0, 0.0, 3.0], 5)[qid]
    times = weight.astype(int)
    ranker = RankBoost(30, max_thresholds=None).fit(X, y, qid, sample_weight=weight)
    copies = [(X[times > k], y[times > k], qid[times > k] + 100 * k) for k in range(3)]
    repeated = RankBoost(30, max_thresholds=None).fit(*(np.concatenate(parts) for parts in zip(*copies, strict=True)))
    assert ranker.n_left_out_ == 5
    np.testing.assert_allclose(ranker.predict(X), repeated.predict(X), rtol=1e-9)
    np.testing.assert_allclose(ranker.losses_, repeated.losses_, rtol=1e-9)


def test_weights_of_queries_multiply_magnitudes(data):
    X, y, qid = data
    better, worse = pairs_of(y, qid)
    weight = np.tile([1.0, 2.0, 0.0, 3.0], 5)[qid]
    ranker = RankBoost(20).fit(X, Preferences(better, worse, 0.5), qid, sample_weight=weight)
    kept = weight[better] > 0
    direct = RankBoost(20).fit(X, Preferences(better[kept], worse[kept], weight[better][kept]), qid)
    np.testing.assert_allclose(ranker.predict(X), direct.predict(X), rtol=1e-9)
    assert ranker.n_left_out_ == direct.n_left_out_ == 5


def test_of_equal_weak_rankers_the_first_feature_and_the_lowest_threshold_is_taken(data):
    X, y, qid = data
    ranker = RankBoost(30, max_thresholds=None).fit(X[:, [1, 1, 0, 0]], y, qid)
    assert set(ranker.features_.tolist()) <= {0, 2}
    ranker = RankBoost(1).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    assert ranker.thresholds_.tolist() == [1.0]
    ranker = RankBoost(1).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], [0, 0, 1, 1])
    assert ranker.thresholds_.tolist() == [0.0]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_weak_ranker_without_fault_is_all_there_is(sign):
    X = sign * np.array([[0.0, 5.0], [1.0, 3.0], [2.0, 4.0]])
    ranker = RankBoost().fit(X, [0, 1, 1])
    assert ranker.best_iteration_ == 1
    assert ranker.r_.tolist() == [sign]
    assert np.isfinite(ranker.alphas_).all()
    assert ranker.losses_[0] < 2e-6
    assert ranker.score(X, [0, 1, 1]) == 1.0


def test_pairs_of_little_weight_are_learned_too():
    X = [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    ranker = RankBoost(20).fit(X, Preferences.of([(0, 1, 1.0), (2, 1, 1e-14)]))
    scores = ranker.predict(X)
    assert ranker.r_[0] == pytest.approx(1.0, abs=1e-13)
    assert scores[0] > scores[1]
    assert scores[2] > scores[1]


def test_scores_grow_and_the_weights_of_pairs_do_not_overflow():
    """Every weak ranker leaves pairs equal, the sum of all leaves none: the loss goes to 0 and on."""
    X = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    y = [2, 1, 1, 0]
    ranker = RankBoost(5000).fit(X, y)
    assert ranker.best_iteration_ == 5000
    assert ranker.losses_[-1] == 0.0
    assert np.isfinite(ranker.alphas_).all()
    assert (abs(ranker.r_) > 0.3).all()  # still that of a distribution
    assert ranker.predict(X).max() > 1000.0
    assert ranker.score(X, y) == 1.0


def test_features_that_tell_nothing():
    with pytest.warns(ZeroWeightsWarning, match="no threshold of a feature separates"):
        ranker = RankBoost().fit([[1.0], [1.0], [1.0]], [0, 1, 0], validation=([[1.0]], [1]))
    assert ranker.best_iteration_ == 0
    assert ranker.predict([[1.0], [7.0]]).tolist() == [0.0, 0.0]
    assert list(ranker.staged_predict([[1.0]])) == []
    with pytest.warns(ZeroWeightsWarning):
        ranker = RankBoost().fit([[0.0], [1.0], [0.0], [1.0]], [0, 1, 1, 0], [0, 0, 1, 1])
    assert ranker.best_iteration_ == 0


def test_a_threshold_may_separate_documents_with_the_feature():
    X = [[math.nan], [4.0], [3.0], [math.nan]]
    ranker = RankBoost().fit(X, [0, 1, 1, 0])
    assert ranker.thresholds_.tolist() == [-math.inf]
    assert ranker.missing_.tolist() == [False]
    ranker = RankBoost().fit(X, [1, 0, 1, 1], [0, 0, 1, 0])
    assert ranker.predict(X)[0] > ranker.predict(X)[1]


def test_a_missing_feature_may_count_as_above():
    X = [[math.nan], [4.0], [3.0], [1.0]]
    ranker = RankBoost().fit(X, [1, 1, 0, 0])
    assert ranker.thresholds_.tolist() == [3.0]
    assert ranker.missing_.tolist() == [True]
    assert ranker.predict([[math.nan]]).tolist() == ranker.alphas_.tolist()


def test_a_feature_that_only_new_documents_lack_is_not_above(data):
    X, y, qid = data
    ranker = RankBoost(20).fit(X, y, qid)
    lowest = np.full((1, 5), -100.0)
    assert ranker.predict(np.full((1, 5), np.nan)).tolist() == ranker.predict(lowest).tolist() == [0.0]


def test_a_column_without_any_value_is_no_feature(data):
    X, y, qid = data
    without = RankBoost(20).fit(X[:, 1:], y, qid)
    X[:, 0] = np.nan
    ranker = RankBoost(20).fit(X, y, qid)
    assert (ranker.features_ - 1).tolist() == without.features_.tolist()


def test_documents_that_are_in_no_pair_give_no_thresholds():
    ranker = RankBoost(1).fit([[0.0], [0.4], [1.0], [0.6]], [0, 5, 1, 5], [1, 2, 1, 2])
    assert ranker.thresholds_.tolist() == [0.0]
    assert ranker.n_left_out_ == 1
    ranker = RankBoost(1).fit([[0.0], [0.4], [1.0], [0.6]], Preferences([2], [0]))
    assert ranker.thresholds_.tolist() == [0.0]


def test_predictions_are_sums_of_weak_rankers(data):
    X, y, qid = data
    X[::7, 2] = np.nan
    ranker = RankBoost(40).fit(X, y, qid)
    new = np.random.default_rng(2).standard_normal((300, 5)).round(1)
    new[::5, 2] = np.nan
    scores = np.zeros(300)
    staged = list(ranker.staged_predict(new))
    assert len(staged) == ranker.best_iteration_ == 40
    for t, stage in enumerate(staged):
        h = stump(new, ranker.features_[t], ranker.thresholds_[t], ranker.missing_[t])
        scores += ranker.alphas_[t] * h
        np.testing.assert_allclose(stage, scores, atol=1e-12)
    assert staged[-1].tolist() == ranker.predict(new).tolist()
    assert (
        ranker.predict(new.astype(np.float32).astype(float)).tolist() == ranker.predict(new.astype(np.float32)).tolist()
    )


def test_quantiles_that_are_the_largest_value_leave_a_threshold_below_it():
    X = np.minimum(np.arange(40.0), 5.0)[:, None]
    y = (X[:, 0] == 5.0).astype(float)
    ranker = RankBoost(max_thresholds=2).fit(X, y)
    assert ranker.thresholds_.tolist() == [4.0]
    assert ranker.score(X, y) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("different", [255, 256, 257, 300])
def test_many_values_fit_into_their_codes(different):
    X = np.arange(float(different))[:, None]
    y = (X[:, 0] > different - 2).astype(float)
    assert RankBoost(max_thresholds=None).fit(X, y).thresholds_.tolist() == [different - 2.0]
    X[0] = np.nan
    ranker = RankBoost(max_thresholds=None).fit(X, y)
    assert ranker.thresholds_.tolist() == [different - 2.0]
    assert ranker.missing_.tolist() == [False]


def test_of_equal_rounds_the_first_is_kept(data):
    X, y, qid = data
    same = np.zeros((3, 5))  # three documents that no weak ranker tells apart, so that all rounds are equal
    ranker = RankBoost(20).fit(X, y, qid, validation=(same, [0, 1, 0], [1, 1, 1]))
    assert ranker.validation_scores_ == pytest.approx([11 / 18] * 20)
    assert ranker.best_iteration_ == 1


def test_data_that_cannot_be_used(data):
    X, y, qid = data
    with pytest.raises(InputError, match="zero for each of the 1 queries that RankBoost can learn from"):
        RankBoost().fit(X, Preferences([0], [1]), qid, sample_weight=(qid > 0).astype(float))
    X[3, 1], X[5, 2] = np.nan, np.inf
    with pytest.raises(InputError, match="The first is at row 5, column 2"):
        RankBoost().fit(X, y, qid)
