"""Methods of fusion as estimators: queries, data as scikit-learn takes it, errors, names."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.features import Thresholds
from structsvm.fusion import BordaCount, CombMNZ, CombSUM, ReciprocalRankFusion, WeightedCombSUM
from structsvm.fusion.comb import Comb, CombANZ
from structsvm.fusion.runs import method_named
from structsvm.metrics import AP, NDCG
from structsvm.registry import fusions

each = pytest.mark.parametrize("method", list(map(fusions.create, fusions.built_in)), ids=fusions.built_in)


def queries(seed=0):
    """Return scores with gaps, labels, and queries whose rows do not stand together."""
    rng = np.random.default_rng(seed)
    X, y, qid = rng.normal(size=(60, 4)), rng.integers(0, 3, 60), rng.integers(0, 6, 60)
    X[rng.random(X.shape) < 0.3] = np.nan
    return X, y, qid


@each
def test_queries_are_fused_apart(method):
    X, y, qid = queries()
    fitted = clone(method).fit(X, y, qid=qid)
    result = fitted.predict(X, qid=qid)
    assert result.dtype == np.float64
    for query in np.unique(qid):
        alone = fitted.predict(X[qid == query], qid[qid == query])
        np.testing.assert_allclose(result[qid == query], alone, rtol=1e-12)
    names = np.array([f"topic {number}" for number in qid], dtype=object)
    np.testing.assert_array_equal(method.fit(X, y, qid=names).predict(X, names), result)


@each
def test_score_is_the_measure_of_what_predict_returns(method):
    X, y, qid = queries()
    fitted = clone(method).set_params(measure="ndcg@5").fit(X, y, qid=qid)
    scores = fitted.predict(X, qid)
    assert fitted.score(X, y, qid=qid) == NDCG(5).mean(scores, y, qid)
    weights = np.where(qid < 3, 2.0, 1.0)
    by_query = {number: 2.0 if number < 3 else 1.0 for number in range(6)}
    fitted = clone(method).fit(X, y, qid=qid)
    of_queries = [by_query[number] for number in dict.fromkeys(qid.tolist())]
    expected = AP().mean(fitted.predict(X, qid), y, qid, weights=of_queries)
    assert fitted.score(X, y, qid=qid, sample_weight=weights) == pytest.approx(expected)


@each
def test_fitted_with_qid_needs_qid(method):
    X, y, qid = queries()
    fitted = clone(method).fit(X, y, qid=qid)
    for forgetful in (lambda: fitted.predict(X), lambda: fitted.score(X, y)):
        with pytest.raises(InputError, match="fitted with qid, so predict needs qid too.*enable_metadata_routing"):
            forgetful()
    fitted = clone(method).fit(X, y)  # what is learned may be of one query
    assert len(fitted.predict(X, qid)) == len(X)


@each
def test_invalid_arguments_are_errors(method):
    method = clone(method)
    with pytest.raises(NotFittedError):
        method.predict([[1.0]])
    with pytest.raises(InputError, match="infinite, the first is at row 1, column 0"):
        method.fit([[1.0], [np.inf]], [1, 0])
    with pytest.raises(InputError, match="one query id per row"):
        method.fit([[1.0], [2.0]], [1, 0], qid=[2])
    with pytest.raises(InputError, match=r"expecting 1 features"):
        method.fit([[1.0]], [1]).predict([[1.0, 2.0]])
    with pytest.raises(InputError, match="measure"):
        method.set_params(measure=3).fit([[1.0]], [1])


@each
def test_sparse_scores_are_refused(method):
    X, y, qid = queries()
    filled = np.nan_to_num(X)
    fitted = clone(method).fit(filled, y, qid=qid)
    for scores in (sp.csr_array(filled), sp.coo_matrix(filled), Thresholds(3).fit_transform(filled)):
        message = rf"{type(method).__name__} takes dense scores: sparse input \({type(scores).__name__}\) is not"
        with pytest.raises(InputError, match=message):
            clone(method).fit(scores, y, qid=qid)
        with pytest.raises(InputError, match=message):
            fitted.predict(scores, qid)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (CombSUM("max"), r"CombSUM\(normalize=...\) must be 'query-min-max' or .* or None, got 'max'"),
        (CombSUM(1), "got 1"),
        (CombMNZ(count="all"), r"CombMNZ\(count=...\) must be 'retrieved' or 'nonzero', got 'all'"),
        (CombANZ("z", count=3), "got 3"),
        (ReciprocalRankFusion(-1), r"ReciprocalRankFusion\(rank_constant=...\) must be a finite number of at least 0"),
        (WeightedCombSUM(power=0), r"WeightedCombSUM\(power=...\) must be a positive finite number, got 0"),
        (WeightedCombSUM(weights="map"), r"WeightedCombSUM\(weights=...\) must be 'measure', a ranker"),
    ],
)
def test_wrong_settings(method, message):
    with pytest.raises(InputError, match=message):
        method.fit([[1.0]], [1])
    fitted = type(method)().fit([[1.0]], [1]).set_params(**method.get_params())
    with pytest.raises(InputError, match=message):
        fitted.predict([[1.0]])


def test_names():
    assert type(method_named("CombMNZ")) is type(method_named("comb_mnz")) is type(method_named("comb-mnz")) is CombMNZ
    assert type(method_named("borda-count")) is BordaCount
    assert method_named("comb-anz", normalize="z", count="nonzero").get_params() == {
        "normalize": "z",
        "count": "nonzero",
        "measure": None,
    }
    for name, method in ((name, fusions.find(name)) for name in fusions.built_in):
        assert type(method_named(name)) is type(method_named(method.__name__)) is method
        assert ("normalize" in method_named(name).get_params()) == issubclass(method, Comb)


def test_names_that_are_not():
    with pytest.raises(UnknownNameError, match="unknown method of fusion 'comb-avg'. Did you mean 'comb-"):
        method_named("comb-avg")
    with pytest.raises(InputError, match="'borda' has no setting normalize: it is for comb-min, comb-max, "):
        method_named("borda", normalize="z")
    with pytest.raises(InputError, match="'comb-sum' has no setting count: it is for comb-anz, comb-mnz"):
        method_named("comb-sum", count="nonzero")
    with pytest.raises(InputError, match="'k=3' is not a setting of rrf; there are measure, rank_constant"):
        method_named("rrf(k=3)")
    with pytest.raises(InputError, match="'borda' has no setting depth: it has measure"):
        method_named("borda", depth=3)
    with pytest.raises(InputError, match="must be 'query-min-max' or"):
        method_named("comb-sum", normalize="rank")
