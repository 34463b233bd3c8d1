import numpy as np
import pytest
import scipy.sparse as sp

import structsvm
from structsvm import Ranker
from structsvm.exceptions import InputError
from structsvm.features import Thresholds
from structsvm.models import LinearModel
from structsvm.models.drift import FeatureStatistics
from structsvm.models.training import Training
from structsvm.rankers import MaximumEntropy, RankBoost
from tests.real_data import MQ2008, mq2008, needs


def queries(seed, n=200, size=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n * size, 4))
    X[:, 1] = X[:, 1] > 1.0
    X[:, 2] = np.round(X[:, 2])
    return X, (X[:, 0] > 0.5).astype(float), np.repeat(np.arange(n), size)


@pytest.mark.parametrize("kind", [Ranker, lambda: RankBoost(3)])
def test_drift_is_found_and_its_absence_is_not(kind, tmp_path):
    X, y, qid = queries(0)
    kind().fit(X, y, qid=qid).name_features(list("abcd")).save(tmp_path / "m.npz")
    model = structsvm.load(tmp_path / "m.npz")
    other, _, ids = queries(1)
    assert model.check(other, ids).drifted.tolist() == []
    assert str(model.check(other, ids)) == "no feature of 1000 rows has drifted"
    other[:, 0] *= 3.0
    other[:, 2] += 2.0
    other[7, 3] = 1e12
    checked = model.check(other, ids)
    assert sorted(checked.drifted.tolist()) == [0, 2, 3]
    assert checked.far[3] == 1
    assert "d: PSI " in str(checked)


def test_sparse_features_have_the_statistics_of_dense_ones():
    X, _, _ = queries(2)
    X[np.abs(X) < 0.5] = 0.0
    dense, sparse = FeatureStatistics.of(X), FeatureStatistics.of(sp.csr_array(X))
    for name, array in dense.arrays().items():
        np.testing.assert_array_equal(array, sparse.arrays()[name])


def test_missing_and_constant_features():
    X, _, _ = queries(3)
    X[:, 1], X[::2, 3] = 7.0, np.nan
    shares = FeatureStatistics.of(X).shares
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares[1].max(), shares[3, 10]) == (1.0, 0.5)


@pytest.mark.parametrize("share", [0.03, 0.97])
def test_a_shift_of_a_nearly_constant_feature_is_seen(share):
    rng, qid = np.random.default_rng(4), np.repeat(np.arange(200), 5)
    X = np.column_stack([rng.random(1000) < share, rng.normal(size=1000)]) * 1.0
    model = Ranker().fit(X, X[:, 1] > 1.0, qid=qid).model_
    same, other = X[::-1].copy(), X.copy()
    other[:, 0] = rng.random(1000) < 0.5 + 0.7 * (share - 0.5)
    assert model.check(same, qid).drifted.tolist() == []
    assert model.check(other, qid).drifted.tolist() == [0]


@pytest.mark.parametrize("kind", [Ranker, lambda: Ranker("zero_one"), lambda: RankBoost(3), MaximumEntropy])
def test_queries_are_the_sample_for_every_loss(kind):
    X, y, qid = queries(5)
    thresholds = kind().fit(X, y, qid=qid).model_.check(X, qid).threshold
    np.testing.assert_allclose(thresholds, Ranker().fit(X, y, qid=qid).model_.check(X, qid).threshold)
    # Kish: queries of 2 and 8 rows count like 100 / 68 queries of 5.
    uneven = np.repeat(np.arange(200), np.tile([2, 8], 100))
    wider = kind().fit(X, y, qid=uneven).model_.check(X, uneven).threshold
    np.testing.assert_allclose(wider, thresholds * 68.0 / 50.0)


def test_binned_features():
    X, y, qid = queries(6)
    binned = Thresholds(5).fit(X)
    model = Ranker().fit(binned.transform(X), y, qid=qid).model_
    result = FeatureStatistics.of(binned.transform(X)).arrays()
    expected = FeatureStatistics.of(binned.transform(X).toarray()).arrays()
    for name in ("feature_deciles", "feature_shares", "feature_queries"):
        np.testing.assert_array_equal(result[name], expected[name])
    assert result["feature_ranges"].tolist() == [[0.0, 1.0]] * len(expected["feature_ranges"])
    other, _, _ = queries(7)
    assert model.check(binned.transform(other), qid).drifted.tolist() == []
    other[:, 0] += 1.0
    drifted = model.check(binned.transform(other), qid).drifted
    assert len(drifted)
    assert set(drifted.tolist()) <= set(range(binned.transform(X).offsets[1]))


def test_a_model_without_statistics():
    with pytest.raises(InputError, match="this LinearModel has no statistics of its training features"):
        LinearModel(n_features=1, coef=[1.0]).check([[1.0]])


@pytest.mark.slow
@needs(MQ2008)
def test_false_alarms_on_resampled_queries():
    """200 random splits of the queries: at most 5 % without drift are flagged, and both drifted features always."""
    data, rng = mq2008(0, 5), np.random.default_rng(0)
    ids, alarms, result = np.unique(data.qid), 0, 0
    for _ in range(200):
        expected = np.isin(data.qid, rng.permutation(ids)[:471])
        sizes = np.bincount(data.qid[expected])
        arrays = FeatureStatistics.of(data.X[expected]).with_queries(sizes).arrays()
        training = Training("Ranker", arrays=arrays)
        model = LinearModel(n_features=46, coef=np.zeros(46), training=training)
        X, qid = data.X[~expected], data.qid[~expected]
        alarms += len(model.check(X, qid).drifted) > 0
        X[:, 38] *= 2.0
        X[:, 22] += 0.25
        result += {38, 22} <= set(model.check(X, qid).drifted.tolist())
    assert alarms <= 10
    assert result == 200
