"""Valid and invalid inputs of weight search."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from structsvm.features import Thresholds
from structsvm.rankers import WeightSearch


def some(queries=6, digits=15):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(queries * 15, 4)).round(digits)
    y = (X @ rng.normal(size=4) + rng.normal(size=len(X)) > 0.8).astype(float)
    return X, y, np.repeat(np.arange(queries), 15)


def test_kinds_of_data_give_the_same():
    X, y, qid = some(digits=1)
    X[np.abs(X) < 0.5] = 0.0
    expected = WeightSearch().fit(X, y, qid=qid)
    for kind in (sp.csr_array(X), pd.DataFrame(X, columns=list("abcd")), X.tolist(), np.asfortranarray(X)):
        result = WeightSearch().fit(kind, y.tolist(), qid=qid.tolist())
        assert result.map_ == expected.map_
        assert result.predict(kind) == pytest.approx(expected.predict(X))
    assert list(WeightSearch().fit(pd.DataFrame(X, columns=list("abcd")), y).feature_names_in_) == list("abcd")
    small = X.astype(np.float32)
    single, double = (WeightSearch().fit(each, y, qid=qid) for each in (small, small.astype(np.float64)))
    assert single.coef_.tolist() == double.coef_.tolist()
    binned = Thresholds(3).fit_transform(X)
    as_numbers = WeightSearch().fit(binned.toarray(), y, qid=qid)
    assert WeightSearch().fit(binned, y, qid=qid).map_ == as_numbers.map_


def test_a_weight_of_two_is_the_query_twice():
    X, y, qid = some(queries=3)
    weight = np.where(qid == 1, 2.0, 1.0)
    twice = np.flatnonzero(qid == 1)
    weighted = WeightSearch().fit(X, y, qid=qid, sample_weight=weight)
    repeated = WeightSearch().fit(np.vstack([X, X[twice]]), np.append(y, y[twice]), qid=np.append(qid, twice * 0 + 9))
    assert weighted.coef_ == pytest.approx(repeated.coef_)
    assert weighted.map_ == pytest.approx(weighted.score(X, y, qid=qid, sample_weight=weight))
    large = WeightSearch().fit(X, y, qid=qid, sample_weight=5e307 * weight)
    assert large.coef_.tolist() == weighted.coef_.tolist()
    without = WeightSearch().fit(X, y, qid=qid, sample_weight=np.where(qid == 1, 0.0, 5.0))
    alone = WeightSearch().fit(X[qid != 1], y[qid != 1], qid=qid[qid != 1])
    assert without.coef_.tolist() == alone.coef_.tolist()


def test_queries_of_one_kind_are_left_out_and_count():
    X, y, qid = some(queries=4)
    y[qid == 1], y[qid == 2] = 0.0, 1.0
    ranker = WeightSearch().fit(X, y, qid=qid)
    assert ranker.n_left_out_ == 2
    assert ranker.map_ == pytest.approx(ranker.score(X, y, qid=qid), abs=1e-12)
    kept = np.isin(qid, [0, 3])
    alone = WeightSearch().fit(X[kept], y[kept], qid=qid[kept])
    assert alone.coef_ == pytest.approx(ranker.coef_)
    assert ranker.map_ == pytest.approx((2 * alone.map_ + 0.0 + 1.0) / 4)


def test_the_start_is_not_changed():
    X, y, qid = some()
    start = np.zeros(4)
    ranker = WeightSearch(start=start).fit(X, y, qid=qid)
    assert not start.any()
    stays = WeightSearch(start=ranker.coef_).fit(X, y, qid=qid)
    stays.coef_[:] = 0.0
    assert ranker.coef_.any()
