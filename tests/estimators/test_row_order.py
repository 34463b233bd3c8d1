"""Choices by a measure do not depend on the order of rows."""

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.model_selection import GridSearchCV, GroupKFold

from structsvm import Ranker, RankerCV, StructuralSVM
from structsvm.estimators import FeatureEliminationCV, StructuralSVMCV
from structsvm.fusion import WeightedCombSUM
from structsvm.inspection import query_permutation_importance
from structsvm.metrics import parse_measure
from structsvm.models import Calibration, LinearModel
from structsvm.protocols.letor.measures import letor_values
from structsvm.rankers import (
    LambdaMART,
    MaximumEntropy,
    Preferences,
    RankBoost,
    RankNet,
    RankSVM,
    TreeRanker,
    WeightSearch,
)
from structsvm.registry import measures


@pytest.fixture(scope="module")
def data():
    """Queries with discrete, binary and constant features, so that many scores tie."""
    rng = np.random.default_rng(5)
    n, size = 180, 12
    qid = np.repeat(np.arange(n // size), size)
    X = np.c_[rng.normal(size=(n, 2)), rng.integers(0, 2, n), np.ones(n)]
    return X, ((X[:, 0] + 2 * rng.normal(size=n)) > 1).astype(int), qid


def orders(y, qid):
    """Yield the order of rows with the best documents first, worst first, and of a shuffle of all rows."""
    yield np.lexsort((-y, qid))
    yield np.lexsort((y, qid))
    yield np.random.default_rng(0).permutation(len(y))


def by_folds(estimator, chosen):
    def fit(X, y, qid):
        search = estimator.fit(X, y, qid=qid)
        return [*search.mean_scores_, *np.ravel(chosen(search))]

    return fit


def by_validation(estimator, fitted):
    """Fit to half of the queries, with many rows alike, and choose by the second half."""

    def fit(X, y, qid):
        X = X.round()
        train, validation = ((X[rows], y[rows], qid[rows]) for rows in (qid < 8, qid >= 8))
        if isinstance(estimator, StructuralSVMCV):
            search = estimator.fit(*train[:2], validation=validation[:2])
            return [search.C_, *search.mean_scores_]
        estimator.fit(*train, validation=validation)
        return [estimator.best_iteration_, *estimator.validation_scores_, *np.ravel(fitted(estimator))]

    return fit


def by_trees(trees):
    def fit(X, y, qid):
        model = TreeRanker(C=1.0, n_estimators=9, min_child_samples=5, trees=trees, random_state=0).fit(X, y, qid)
        return [*model.model_.trees.threshold, model.score(X, y, qid)]

    return fit


def by_preferences(ranker):
    """Fit to the preferences of labels, whose rows and pairs follow the file."""

    def fit(X, y, qid):
        return [ranker.fit(X, Preferences.of_labels(y, qid), qid).score(X, y, qid)]

    return fit


def by_grid(X, y, qid):
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = Ranker().set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(ranker, {"C": [1, 10]}, cv=GroupKFold(3))
        search.fit(X, y, qid=qid, groups=qid)
    return [search.best_params_["C"], *search.cv_results_["mean_test_score"]]


def importance(X, y, qid):
    model = LinearModel(n_features=4, coef=[1.0, 2.0, 3.0, 0.0])
    return np.ravel(
        [
            query_permutation_importance(model, rows, y, qid, across_queries=across, n_repeats=1).importances
            for rows in (X, csr_array(X))
            for across in (False, True)
        ]
    )


CHOICES = {
    "RankerCV": by_folds(RankerCV(Cs=[1, 10, 100], cv=3), lambda search: search.C_),
    "RankerCV by p@3": by_folds(RankerCV(Cs=[0.1, 1, 10], cv=3, scoring="p@3"), lambda search: search.C_),
    "FeatureEliminationCV": by_folds(FeatureEliminationCV(Ranker("map"), cv=3), lambda search: search.support_),
    "RankBoost": by_validation(RankBoost(20), lambda ranker: [ranker.thresholds_, ranker.alphas_]),
    "RankNet": by_validation(
        RankNet(3, max_iter=20, n_iter_no_change=5, random_state=0), lambda ranker: ranker.weights_
    ),
    "LambdaMART": by_validation(
        LambdaMART(50, min_child_samples=3, n_iter_no_change=20, random_state=0, params={"num_threads": 1}),
        lambda ranker: ranker.model_.predict(np.eye(4)),
    ),
    "StructuralSVMCV": by_validation(
        StructuralSVMCV(StructuralSVM(solver="one-slack", tol=1e-6), Cs=[1, 10, 100]), None
    ),
    "TreeRanker by LightGBM": by_trees("lightgbm"),
    "TreeRanker by scikit-learn": by_trees("scikit-learn"),
    "RankBoost by preferences": by_preferences(RankBoost(20)),
    "RankNet by preferences": by_preferences(RankNet(3, max_iter=9, random_state=0)),
    "GridSearchCV": by_grid,
    "importance": importance,
    "calibration": lambda X, y, qid: Calibration.of(X[:, 0].round(1), y, qid).probabilities([-1.0, 0.0, 1.0]),
    "WeightSearch": lambda X, y, qid: WeightSearch().fit(X, y, qid).coef_,
    "WeightedCombSUM": lambda X, y, qid: WeightedCombSUM().fit(X, y, qid=qid).weights_,
    "best feature": lambda X, y, qid: [
        np.mean(value) for column in X.T for value in letor_values(column, y, qid).values()
    ],
    **{
        type(ranker).__name__: lambda X, y, qid, ranker=ranker: [ranker.fit(X, y, qid).score(X, y, qid)]
        for ranker in (Ranker("map"), RankSVM(), MaximumEntropy())
    },
}


SLOW = {"RankerCV by p@3", "FeatureEliminationCV", "RankNet", "LambdaMART", "TreeRanker by LightGBM", "GridSearchCV"}


@pytest.mark.filterwarnings("ignore::structsvm.exceptions.GridEndWarning")
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CHOICES])
def test_choices_do_not_depend_on_the_order_of_rows(name, data):
    X, y, qid = data
    first, *others = ([*CHOICES[name](X[rows], y[rows], qid[rows])] for rows in orders(y, qid))
    for other in others:
        assert other == pytest.approx(first, abs=1e-9)


@pytest.mark.parametrize("name", measures.names())
def test_values_of_measures_do_not_depend_on_the_order_of_rows(name, data):
    X, y, qid = data
    for feature in X.T:
        values = [parse_measure(name).mean(feature[rows], y[rows], qid[rows]) for rows in orders(y, qid)]
        assert values == pytest.approx(values[:1] * 3, abs=1e-12)
