import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold

from structsvm.exceptions import InputError
from structsvm.features import Thresholds
from structsvm.metrics import AP
from structsvm.rankers import MaximumEntropy


def documents(seed=0, n=120, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.digitize(X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=n), [0.3, 1.5]).astype(float)
    return X, y, np.repeat(np.arange(n // 10), 10)


def objective(weights, X, relevant, C, kappa):
    w, b = weights[:-1], weights[-1]
    return 0.5 * w @ w + C * kappa @ np.logaddexp(0.0, -np.where(relevant, 1.0, -1.0) * (X @ w + b))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("relevant_from", [None, 2.0])
def test_the_model_is_the_optimum_of_its_objective(C, relevant_from):
    X, y, qid = documents()
    kappa = np.random.default_rng(1).uniform(size=len(y))
    ranker = MaximumEntropy(C, relevant_from=relevant_from, tol=1e-8).fit(X, y, qid, kappa)
    relevant = y >= relevant_from if relevant_from else y > 0
    best = minimize(objective, np.zeros(5), (X, relevant, C, kappa), tol=1e-10)
    np.testing.assert_allclose([*ranker.coef_, ranker.intercept_], best.x, atol=1e-4)
    np.testing.assert_allclose(ranker.predict(X), X @ best.x[:-1] + best.x[-1], atol=1e-3)
    assert ranker.score(X, y, qid) == AP().mean(ranker.predict(X), y, qid)
    assert 0 < ranker.n_iter_ < 1000


def test_expected_features_are_those_of_relevant_documents():
    """The property of a maximum entropy model; without a regularizer, up to the tolerance."""
    X, y, _ = documents()
    ranker = MaximumEntropy(1e6, tol=1e-8).fit(X, y)
    probability = 1.0 / (1.0 + np.exp(-ranker.predict(X)))
    np.testing.assert_allclose(X.T @ probability, X[y > 0].sum(axis=0), atol=1e-3)
    assert probability.sum() == pytest.approx((y > 0).sum(), abs=1e-3)


def test_class_weight_is_a_weight_of_rows():
    X, y, qid = documents()
    weighted = MaximumEntropy(class_weight={0: 1.0, 1: 3.0}).fit(X, y, qid)
    by_rows = MaximumEntropy().fit(X, y, qid, np.where(y > 0, 3.0, 1.0))
    np.testing.assert_allclose(weighted.coef_, by_rows.coef_, rtol=1e-6)
    balanced = MaximumEntropy(class_weight="balanced").fit(X, y, qid)
    share = (y > 0).mean()
    by_rows = MaximumEntropy().fit(X, y, qid, np.where(y > 0, 0.5 / share, 0.5 / (1.0 - share)))
    np.testing.assert_allclose(balanced.coef_, by_rows.coef_, rtol=1e-6)


def test_sparse_binned_and_single_precision_features():
    X, y, qid = documents()
    X = Thresholds(bins=5).fit_transform(X)
    dense = MaximumEntropy().fit(X.toarray(), y, qid)
    for same in (X, X.tocsr()):
        ranker = MaximumEntropy().fit(same, y, qid)
        np.testing.assert_allclose(ranker.coef_, dense.coef_, atol=1e-3)
        np.testing.assert_allclose(ranker.predict(same), dense.predict(X.toarray()), atol=1e-3)
    single = MaximumEntropy().fit(X.toarray().astype(np.float32), y, qid)
    assert single.predict(sp.csr_array(X.tocsr())).dtype == np.float64
    np.testing.assert_allclose(single.coef_, dense.coef_, atol=1e-2)


def test_it_says_when_it_did_not_converge():
    X, y, _ = documents()
    with pytest.warns(ConvergenceWarning, match="failed to converge after 2 iteration"):
        MaximumEntropy(max_iter=2).fit(X * [1e6, 1.0, 1e-6, 1.0], y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MaximumEntropy().fit(X, y)


def test_data_that_cannot_be_learned_from():
    X, y, qid = documents()
    with pytest.raises(InputError, match="all 120 with a weight are not relevant"):
        MaximumEntropy(relevant_from=9).fit(X, y)
    with pytest.raises(InputError, match="all 120 with a weight are relevant"):
        MaximumEntropy(relevant_from=0).fit(X, y)
    with pytest.raises(InputError, match=r"all \d+ with a weight are relevant"):
        MaximumEntropy().fit(X, y, sample_weight=(y > 0).astype(float))
    with pytest.raises(InputError, match="fitted with qid, so score needs qid too"):
        MaximumEntropy().fit(X, y, qid).score(X, y)


def test_weights_of_rows_can_be_kept_from_score():
    X, y, qid = documents()
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    with config_context(enable_metadata_routing=True):
        ranker = MaximumEntropy().set_score_request(sample_weight=False)
        search = GridSearchCV(ranker, {"C": [0.1, 1.0]}, cv=GroupKFold(3), error_score="raise")
        with pytest.raises(InputError, match="sample_weight differs within a query"):
            clone(search).set_params(estimator=MaximumEntropy()).fit(X, y, groups=qid, qid=qid, sample_weight=weights)
        search.fit(X, y, groups=qid, qid=qid, sample_weight=weights)
    alone = MaximumEntropy(search.best_params_["C"]).fit(X, y, qid, weights)
    np.testing.assert_allclose(search.best_estimator_.coef_, alone.coef_)
    by_query = np.repeat(np.arange(1.0, 13.0), 10)
    assert alone.score(X, y, qid, by_query) != alone.score(X, y, qid)
