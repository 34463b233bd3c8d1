"""Weights of queries mean the same to every learner."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from structsvm import Ranker
from structsvm.exceptions import InputError, OneQueryWarning
from structsvm.foundation.queries import Queries
from structsvm.fusion import CombSUM
from structsvm.losses import JudgedPairs
from structsvm.rankers import LambdaMART, MaximumEntropy, Preferences, RankBoost, RankNet, RankSVM, WeightSearch
from structsvm.training.grouped import GroupedData

LEARNERS = [
    RankSVM(0.1),
    RankBoost(5),
    RankNet(2, max_iter=2, random_state=0),
    WeightSearch(max_iter=2),
    LambdaMART(5, min_child_samples=2, params={"num_threads": 1}, random_state=0),
]
NAMES = [type(learner).__name__ for learner in LEARNERS]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(80, 3)), np.repeat(np.arange(8), 10)
    y = (X[:, 0] + rng.normal(size=80) > 0.5).astype(float)
    y[qid == 7] = 0.0
    return X, y, qid


def fitted(learner, *args, **kwargs):
    if isinstance(learner, LambdaMART):
        pytest.importorskip("lightgbm")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner.fit(*args, **kwargs)


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_a_query_of_no_weight_is_left_out_and_counted(learner, data):
    X, y, qid = data
    ranker = fitted(learner, X, y, qid, sample_weight=(qid > 2).astype(float))
    assert (ranker.n_examples_, ranker.n_left_out_) == (4, 4)
    scores = ranker.predict(X)
    turned = np.where(qid > 2, y, 1.0 - y)
    np.testing.assert_array_equal(
        fitted(learner, X, turned, qid, sample_weight=(qid > 2).astype(float)).predict(X), scores
    )
    assert (fitted(learner, X, y, qid).n_examples_, learner.n_left_out_) == (7, 1)


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_weights_that_cannot_be_used(learner, data):
    X, y, qid = data
    name = type(learner).__name__
    with pytest.raises(InputError, match=f"sample_weight is zero for each of the 7 queries that {name} can learn"):
        fitted(learner, X, y, qid, sample_weight=(qid == 7).astype(float))
    with pytest.raises(InputError, match="sample_weight differs within a query"):
        fitted(learner, X, y, sample_weight=np.arange(1.0, 81.0))
    why = "none has both relevant documents" if name == "WeightSearch" else "each has a single grade, so no document is"
    with pytest.raises(InputError, match=f"{name} cannot learn from any of the 8 queries: {why}"):
        fitted(learner, X, np.zeros(80), qid)


@pytest.mark.parametrize("learner", LEARNERS[1:], ids=NAMES[1:])
def test_only_ratios_of_weights_matter(learner, data):
    X, y, qid = data
    weight = 2.0 ** -(qid % 3)
    scores = fitted(learner, X, y, qid, sample_weight=weight).predict(X)
    for factor in (2.0**1020, 2.0**-1000):
        np.testing.assert_array_equal(fitted(learner, X, y, qid, sample_weight=factor * weight).predict(X), scores)


def test_weights_of_pairs_that_overflow(data):
    X, y, qid = data
    with pytest.raises(InputError, match="sample_weight times magnitudes, sum to inf"):
        RankSVM().fit(X, y, qid, sample_weight=np.full(80, 1e308))
    with pytest.raises(InputError, match="sample_weight times magnitudes, sum to inf"):
        RankSVM().fit(X, Preferences([0, 1], [2, 2], 1e308), qid)


def test_queries_of_grades_and_of_preferences():
    queries, weights = Queries.of([0, 0, 1, 1, 2], 5), np.array([0.0, 2.0, 1.0])
    graded = GroupedData("RankBoost", np.eye(5), np.array([0.0, 1.0, 3.0, 2.0, 5.0]), queries, weights)
    assert graded.with_pairs().tolist() == [True, True, False]
    judged = GroupedData("RankBoost", np.eye(5), Preferences([3], [2]), queries, weights)
    assert judged.with_pairs().tolist() == [False, True, False]
    assert graded.shares.tolist() == [0.0, 1.0, 0.5]
    assert graded.usable(graded.with_pairs()).tolist() == [False, True, False]


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_a_first_fit_that_failed_is_no_fit(learner, data):
    X, _, qid = data
    learner = clone(learner)
    with pytest.raises(InputError):
        fitted(learner, X, np.zeros(80), qid)
    with pytest.raises(NotFittedError):
        learner.predict(X)


def test_preferences_where_labels_are_needed(data):
    X, y, qid = data
    pairs = Preferences([0], [1])
    for learner in (Ranker(), MaximumEntropy(), *LEARNERS[3:]):
        with pytest.raises(
            InputError, match="one label per row here, not Preferences: only RankSVM, RankBoost and RankNet"
        ):
            fitted(clone(learner), X, pairs, qid)
    with pytest.raises(InputError, match="one label per row here, not Preferences"):
        RankBoost(3).fit(X, y, qid).score(X, pairs, qid)


@pytest.mark.parametrize("pairs", [[(0, 1, 2.0)] * 80, [(0, 1), (0, 2, 2.0)], np.zeros((80, 2), dtype=int)])
def test_plain_pairs_are_errors(pairs, data):
    X, _, qid = data
    for learner in (RankSVM(), RankBoost(3), RankNet()):
        name = type(learner).__name__
        with pytest.raises(InputError, match=rf"{name} learns from y = Preferences.of\(pairs\), of structsvm.rankers"):
            learner.fit(X, pairs, qid)
    with pytest.raises(InputError, match="y must have one number per row"):
        WeightSearch().fit(X, pairs, qid)


def test_queries_of_ids_of_several_kinds(data):
    X, y, qid = data
    mixed = np.where(qid == 3, "three", qid.astype(object))
    for learner in (*LEARNERS, Ranker(), MaximumEntropy(), CombSUM()):
        with pytest.raises(InputError, match="qid must be all integers or all strings"):
            fitted(clone(learner), X, y, mixed)


@pytest.mark.parametrize(("weight", "direction"), [(1e300, 1e-300), (1e-300, 1e300), (5e-324, 1.0)])
def test_directions_are_scaled_to_weights_of_any_size(weight, direction):
    X, y = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]]), [0, 1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker = WeightSearch([[0.0, direction]], [weight, 0.0]).fit(X, y, np.zeros(3))
    assert np.isfinite(ranker.coef_).all()
    assert ranker.map_ >= 0.5


def test_equal_judged_pairs_have_one_hash():
    first, second = (JudgedPairs(3, [0, 1], [1, 2], [1.0, 2.0]) for _ in range(2))
    assert first == second != JudgedPairs(3, [0, 1], [1, 2], [1.0, 3.0])
    assert len({first, second}) == 1


@pytest.mark.parametrize("ranker", [RankSVM(), RankBoost(1), WeightSearch()], ids=lambda ranker: type(ranker).__name__)
def test_fits_without_qid_warn(ranker):
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 9).astype(float)
    with pytest.warns(OneQueryWarning, match="all 20 rows are taken as one query") as told:
        ranker.fit(X, y)
    assert [each.filename for each in told if each.category is OneQueryWarning] == [__file__]
