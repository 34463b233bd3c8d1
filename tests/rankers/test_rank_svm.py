"""The ranking SVM against a linear SVM of listed differences."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from structsvm import Ranker
from structsvm.exceptions import InputError, ZeroWeightsWarning
from structsvm.foundation.settings import RANKING_TOL
from structsvm.foundation.types import Vector
from structsvm.rankers import Preferences, RankSVM
from structsvm.solvers import FrankWolfe, OneSlack


def graded(seed: int, rows: int = 60, queries: int = 6) -> tuple[Any, Any, Any]:
    """Rows of queries in any order, grades 0 to 3; the last query has one grade."""
    rng = np.random.default_rng(seed)
    X, qid = rng.standard_normal((rows, 4)), rng.integers(0, queries, rows)
    y = np.clip(np.round(X[:, 0] + rng.standard_normal(rows)), 0, 3)
    y[qid == queries - 1] = 1.0
    return X, y, qid


def pair_weights(pairs: Preferences, qid: Any, C: float, objective: str, kappa: Vector | None = None) -> Vector:
    """The factor of the hinge of each pair in the objective."""
    query = np.asarray(qid)[pairs.better]
    total = np.bincount(query, pairs.magnitude)
    weights = pairs.magnitude * C / len(np.unique(query))
    weights = weights if objective == "pairs" else weights / total[query]
    return weights if kappa is None else weights * kappa[query]


def objective_of(w: Vector, X: Any, pairs: Preferences, weights: Vector) -> float:
    return float(0.5 * w @ w + weights @ np.maximum(0.0, 1.0 - (X[pairs.better] - X[pairs.worse]) @ w))


def differences_svm(X: Any, pairs: Preferences, weights: Vector) -> Vector:
    """The weights that scikit-learn finds for the differences of the pairs, half of them turned around."""
    sign = np.where(np.arange(len(pairs)) % 2, 1.0, -1.0)
    differences = (X[pairs.better] - X[pairs.worse]) * sign[:, None]
    svm = LinearSVC(loss="hinge", C=1.0, fit_intercept=False, dual=True, tol=1e-9, max_iter=1_000_000)
    result: Vector = svm.fit(differences, sign, sample_weight=weights).coef_[0]
    return result


def assert_optimal(ranker: RankSVM, X: Any, pairs: Preferences, weights: Vector) -> None:
    expected = differences_svm(X, pairs, weights)
    best = objective_of(expected, X, pairs, weights)
    assert objective_of(ranker.coef_, X, pairs, weights) == pytest.approx(best, rel=1e-5)
    assert ranker.result_.primal == pytest.approx(best, rel=1e-5)
    np.testing.assert_allclose(ranker.coef_, expected, atol=2e-3)


@pytest.mark.parametrize("objective", ["pairs", "queries"])
@pytest.mark.parametrize("C", [0.02, 3.0])
def test_grades_are_a_linear_svm_of_listed_differences(objective: str, C: float) -> None:
    X, y, qid = graded(0)
    pairs = Preferences.of_labels(y, qid)
    pairs = Preferences(pairs.better, pairs.worse)
    ranker = RankSVM(C, objective=objective, tol=1e-7).fit(X, y, qid)
    assert_optimal(ranker, X, pairs, pair_weights(pairs, qid, C, objective))
    assert ranker.n_pairs_ == len(pairs)
    assert (ranker.n_examples_, ranker.n_left_out_) == (5, 1)


@pytest.mark.parametrize("objective", ["pairs", "queries"])
@pytest.mark.parametrize("weighted", [False, True])
def test_preferences_are_a_linear_svm_of_weighted_differences(objective: str, weighted: bool) -> None:
    X, y, qid = graded(1)
    rng = np.random.default_rng(1)
    pairs = Preferences.of_labels(y, qid)
    kept = rng.random(len(pairs)) < 0.5
    turned = rng.random(kept.sum()) < 0.2
    ends = pairs.better[kept], pairs.worse[kept]
    pairs = Preferences(np.where(turned, *ends[::-1]), np.where(turned, *ends), rng.uniform(0.2, 3.0, kept.sum()))
    kappa = rng.uniform(0.5, 2.0, 6) if weighted else None
    ranker = RankSVM(0.7, objective=objective, tol=1e-7)
    ranker.fit(X, pairs, qid, sample_weight=None if kappa is None else kappa[qid])
    assert_optimal(ranker, X, pairs, pair_weights(pairs, qid, 0.7, objective, kappa))
    assert ranker.n_pairs_ == len(pairs)
    assert ranker.n_left_out_ == 1


def test_weights_of_queries_multiply_their_hinges() -> None:
    X, y, qid = graded(2)
    kappa = np.array([0.5, 2.0, 1.0, 3.0, 0.25, 1.0])
    pairs = Preferences.of_labels(y, qid)
    pairs = Preferences(pairs.better, pairs.worse)
    ranker = RankSVM(0.5, tol=1e-7).fit(X, y, qid, sample_weight=kappa[qid])
    assert_optimal(ranker, X, pairs, pair_weights(pairs, qid, 0.5, "pairs", kappa))


def test_queries_count_the_same_as_in_a_ranker() -> None:
    X, y, qid = graded(3)
    ours, expected = RankSVM(2.0, objective="queries").fit(X, y, qid), Ranker("swapped_pairs", C=2.0).fit(X, y, qid)
    np.testing.assert_array_equal(ours.coef_, expected.coef_)
    assert ours.result_.tol == expected.result_.tol


@pytest.mark.parametrize("solver", ["one-slack", "frank-wolfe", OneSlack(tol=1e-2), FrankWolfe(tol=1e-5)])
@pytest.mark.parametrize("objective", ["pairs", "queries"])
def test_tol_is_a_share_of_the_pairs(solver: Any, objective: str) -> None:
    X, y, qid = graded(4)
    ranker = RankSVM(5.0, objective=objective, solver=solver).fit(X, y, qid)
    unit = ranker.n_pairs_ / ranker.n_examples_ if objective == "pairs" else 1.0
    assert ranker.gap_unit_ == pytest.approx(unit)
    tol = getattr(solver, "tol", RANKING_TOL)
    assert ranker.result_.tol == pytest.approx(tol * unit)
    assert ranker.result_.gap <= tol * unit * 5.0
    assert ranker.result_.C == 5.0


def test_the_C_of_svm_rank_is_divided_by_all_queries() -> None:
    """½‖w‖² + (c/n) Σ ξ with n = 6, of which one has no pairs."""
    X, y, qid = graded(0)
    c = 0.4
    pairs = Preferences.of_labels(y, qid)
    expected = differences_svm(X, pairs, np.full(len(pairs), c / 6))
    ranker = RankSVM(c * 5 / 6, tol=1e-7).fit(X, y, qid)
    assert (ranker.n_examples_, ranker.n_left_out_) == (5, 1)
    np.testing.assert_allclose(ranker.coef_, expected, atol=2e-3)


def test_preferences_of_rows_in_any_order_are_those_of_grouped_rows() -> None:
    X, y, qid = graded(7)
    order = np.argsort(qid, kind="stable")
    pairs, grouped = Preferences.of_labels(y, qid), Preferences.of_labels(y[order], qid[order])
    first = RankSVM(tol=1e-8).fit(X, pairs, qid)
    second = RankSVM(tol=1e-8).fit(X[order], grouped, qid[order])
    np.testing.assert_allclose(first.coef_, second.coef_, atol=1e-3)


def test_one_pair_of_one_query() -> None:
    """The differences are (1, 0): w = (min(C, 1), 0)."""
    X = [[1.0, 2.0], [0.0, 2.0]]
    np.testing.assert_allclose(RankSVM(0.25, tol=1e-9).fit(X, [1, 0]).coef_, [0.25, 0.0], atol=1e-6)
    np.testing.assert_allclose(RankSVM(9.0, tol=1e-9).fit(X, Preferences([0], [1])).coef_, [1.0, 0.0], atol=1e-4)


def test_a_path_is_what_fits_one_by_one_are() -> None:
    X, y, qid = graded(8)
    Cs = [1.0, 0.01, 1.0]
    template = RankSVM(tol=1e-7)
    rankers = template.path(X, y, qid, Cs)
    assert not hasattr(template, "coef_")
    assert [ranker.C for ranker in rankers] == Cs
    assert [ranker.result_.C for ranker in rankers] == Cs
    for ranker in rankers:
        np.testing.assert_allclose(ranker.coef_, RankSVM(ranker.C, tol=1e-7).fit(X, y, qid).coef_, atol=1e-3)
        np.testing.assert_allclose(ranker.predict(X), X @ ranker.coef_, atol=1e-13)


def test_features_that_are_constant_in_queries_teach_nothing() -> None:
    X, y, qid = np.ones((6, 2)), [0, 1, 0, 1, 2, 2], [0, 0, 1, 1, 2, 2]
    with pytest.warns(ZeroWeightsWarning, match=r"all scores are equal") as caught:
        ranker = RankSVM().fit(X, y, qid)
    assert not ranker.coef_.any()
    assert "the loss 'map'" not in str(caught[0].message)
    assert caught[0].filename == __file__
    with pytest.warns(ZeroWeightsWarning) as caught:
        RankSVM().path(X, y, qid)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Preferences([], []), "no preferences to learn from"),
        (Preferences([0], [2]), "pair 0 joins rows 0 and 2"),
    ],
)
def test_data_that_cannot_be_learned_from_are_errors(y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        RankSVM().fit(np.eye(4), y, [0, 0, 1, 1])


def test_the_pairs_of_a_long_query_are_not_listed() -> None:
    """There are 2e9 pairs of the 100,000 documents of one query: listed, they would take 32 GB."""
    rng = np.random.default_rng(0)
    y = rng.standard_normal(100_000)
    X = np.column_stack([y + rng.standard_normal(len(y)), rng.standard_normal(len(y))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker = RankSVM(1e-4 / len(y)).fit(X, y, np.zeros(len(y)))
    assert ranker.n_pairs_ == len(y) * (len(y) - 1) // 2
    assert ranker.coef_[0] > 10 * abs(ranker.coef_[1])
