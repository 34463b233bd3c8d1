"""Choices by a measure do not depend on the order of rows."""

import numpy as np
import pytest

from structsvm import Ranker, RankerCV
from structsvm.estimators import FeatureEliminationCV
from structsvm.fusion import WeightedCombSUM
from structsvm.metrics import parse_measure
from structsvm.protocols.letor.results import measured
from structsvm.rankers import MaximumEntropy, RankBoost, RankSVM, WeightSearch
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


def boosted(X, y, qid):
    X = X.round()
    held_out = qid >= 8
    train, validation = ((X[rows], y[rows], qid[rows]) for rows in (~held_out, held_out))
    ranker = RankBoost(20).fit(*train, validation=validation)
    return [ranker.best_iteration_, *ranker.thresholds_, *ranker.alphas_, *ranker.validation_scores_]


CHOICES = {
    "RankerCV": by_folds(RankerCV(Cs=[1, 10, 100], cv=3), lambda search: search.C_),
    "RankerCV by p@3": by_folds(RankerCV(Cs=[0.1, 1, 10], cv=3, scoring="p@3"), lambda search: search.C_),
    "FeatureEliminationCV": by_folds(FeatureEliminationCV(Ranker("map"), cv=3), lambda search: search.support_),
    "RankBoost": boosted,
    "WeightSearch": lambda X, y, qid: WeightSearch().fit(X, y, qid).coef_,
    "WeightedCombSUM": lambda X, y, qid: WeightedCombSUM().fit(X, y, qid=qid).weights_,
    "best feature": lambda X, y, qid: [value for column in X.T for value in measured(column, y, qid).values()],
    **{
        type(ranker).__name__: lambda X, y, qid, ranker=ranker: [ranker.fit(X, y, qid).score(X, y, qid)]
        for ranker in (Ranker("map"), RankSVM(), MaximumEntropy())
    },
}


@pytest.mark.filterwarnings("ignore::structsvm.exceptions.GridEndWarning")
@pytest.mark.parametrize("name", CHOICES)
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
