import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone

from structsvm.exceptions import InputError
from structsvm.rankers import Preferences, RankNet


def queries(seed=0, n=30, size=8, d=5, noise=0.0):
    """Queries whose grades are a linear function of the features, cut into three."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n * size, d)) * [1.0, 10.0, 1.0, 0.1, 1.0] + 3.0, np.array([1.0, -0.1, 0.5, 5.0, 0.0])
    s = X @ w + noise * rng.normal(size=n * size)
    return X, np.digitize(s, np.quantile(s, [0.6, 0.9])).astype(float), np.repeat(np.arange(n), size)


def test_a_hidden_layer_learns_what_a_linear_network_cannot():
    X = np.random.default_rng(0).normal(size=(400, 2))
    y, qid = (np.abs(X[:, 0]) > 1.2).astype(float), np.repeat(np.arange(20), 20)
    linear, layered = (RankNet(h, random_state=1, learning_rate=0.3).fit(X, y, qid).score(X, y, qid) for h in (0, 10))
    assert layered > 0.97
    assert linear < 0.8


def objective(w, Z, pairs, targets, query, kappa, decay):
    """The objective by listed pairs: weighted mean over queries of the mean over pairs, and weight decay."""
    margin = (Z[pairs.better] - Z[pairs.worse]) @ w
    cost = np.logaddexp(0.0, margin) - targets * margin
    means = np.array([cost[query == q].mean() for q in np.unique(query)])
    return np.average(means, weights=kappa) + 0.5 * decay * w @ w


@pytest.mark.parametrize("listed", [False, True])
def test_one_query_by_gradient_descent_reaches_the_optimum_of_another_solver(listed):
    X, y, qid = queries(n=1, size=40, noise=3.0)
    pairs = Preferences.of_labels(y)
    ranker = RankNet(0, max_iter=3000, learning_rate=1.0, weight_decay=0.01).fit(X, pairs if listed else y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    best = minimize(
        objective,
        np.zeros(5),
        (Z, pairs, expit(pairs.magnitude), qid[pairs.better], [1.0], 0.01),
        tol=1e-12,
    )
    np.testing.assert_allclose(ranker.weights_, best.x, atol=1e-5)
    np.testing.assert_allclose(ranker.predict(X), Z @ best.x, atol=1e-4)


def test_steps_after_each_query_come_near_the_optimum_with_weights_of_queries():
    X, y, qid = queries(n=12, size=10, noise=3.0)
    y[qid == 3] = 1.0  # nothing to learn from
    kappa = np.arange(12.0)
    ranker = RankNet(0, max_iter=500, weight_decay=0.05, log_odds=2.0, random_state=0)
    ranker.fit(X, y, qid, sample_weight=kappa[qid])
    assert (ranker.n_examples_, ranker.n_left_out_) == (10, 2)
    used = (qid != 3) & (qid != 0)  # query 0 has no weight
    pairs = Preferences.of_labels(y, qid)
    Z = (X - X[used].mean(axis=0)) / X[used].std(axis=0)
    arguments = Z, pairs, expit(2.0 * pairs.magnitude), qid[pairs.better], np.delete(kappa, 3), 0.05
    optimum = minimize(objective, np.zeros(5), arguments, tol=1e-12).fun
    reached = objective(ranker.weights_, *arguments)
    assert optimum <= reached < optimum + 1e-4
    assert ranker.costs_[-1] == pytest.approx(objective(ranker.weights_, *arguments[:-1], 0.0), rel=0.01)
    assert objective(RankNet(0, random_state=0).fit(X, y, qid).weights_, *arguments) > optimum + 1e-3


@pytest.mark.parametrize("log_odds", [1.0, None])
@pytest.mark.parametrize("hidden", [0, 4])
def test_labels_and_the_preferences_that_they_stand_for_are_the_same(hidden, log_odds):
    X, y, qid = queries(noise=1.0)
    shuffled = np.random.default_rng(1).permutation(len(y))
    X, y, qid = X[shuffled], y[shuffled], qid[shuffled]
    one, other = (
        RankNet(hidden, max_iter=5, log_odds=log_odds, random_state=0).fit(X, target, qid)
        for target in (y, Preferences.of_labels(y, qid))
    )
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-8)


def test_the_difference_of_scores_nears_the_magnitude():
    X = np.eye(4)
    pairs = Preferences.of([(0, 1, 0.5), (2, 3, 3.0)])
    scores = RankNet(0, max_iter=500, learning_rate=1.0, weight_decay=0.0).fit(X, pairs, [0, 0, 1, 1]).predict(X)
    assert scores[0] - scores[1] == pytest.approx(0.5, abs=1e-3)
    assert scores[2] - scores[3] == pytest.approx(3.0, abs=1e-3)


def test_queries_without_preferences_are_left_out():
    X, _, qid = queries(n=4)
    ranker = RankNet(0, max_iter=2).fit(X, Preferences([9, 30], [12, 25]), qid)
    assert (ranker.n_examples_, ranker.n_left_out_) == (2, 2)


def test_ties_pull_scores_of_a_grade_together():
    X, y, qid = queries(noise=1.0)

    def spread(ties):
        scores = RankNet(0, random_state=0, ties=ties).fit(X, y, qid).predict(X)
        return np.mean([scores[(qid == q) & (y == 0)].std() for q in np.unique(qid)])

    assert spread(True) < 0.9 * spread(False)
    alone = RankNet(0, ties=True).fit(X, np.ones(len(y)), qid)
    np.testing.assert_allclose(alone.weights_, 0.0, atol=1e-12)


def test_a_constant_feature_changes_nothing():
    X, y, qid = queries(n=6)
    ranker = RankNet(0, max_iter=3, random_state=0)
    with_constant = np.column_stack([X, np.full(len(y), 0.1)])
    np.testing.assert_allclose(
        clone(ranker).fit(with_constant, y, qid).predict(with_constant), clone(ranker).fit(X, y, qid).predict(X)
    )


def test_data_that_cannot_be_learned_from():
    X, y, qid = queries(n=3)
    with pytest.raises(InputError, match="any of the 3 queries: each has a single grade"):
        RankNet().fit(X, qid, qid)
    with pytest.raises(InputError, match="any of the 24 queries"):
        RankNet(ties=True).fit(X, y, np.arange(24))
    with pytest.raises(InputError, match="ties=True"):
        RankNet(ties=True).fit(X, Preferences([0], [1]), qid)


def test_a_refit_that_fails_leaves_the_network_as_it_was():
    X, y, qid = queries(n=6)
    ranker = RankNet(3, max_iter=3, random_state=0).fit(X, y, qid)
    scores = ranker.predict(X)
    with pytest.raises(InputError, match="overflowed in epoch 1"):
        ranker.set_params(learning_rate=1e200, weight_decay=1e200).fit(9.0 * X, y, qid)
    assert ranker.predict(X).tolist() == scores.tolist()


@pytest.mark.parametrize("factor", [1e160, 1e300])
def test_features_that_overflow(factor):
    X, y, qid = queries(n=6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="column 0 of X has numbers so large"):
            RankNet(3, max_iter=3).fit(factor * X, y, qid)
