"""Elimination equals refitting from scratch, and held-out queries have no part in it."""

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.model_selection import GroupKFold

from structsvm import Ranker, load
from structsvm.estimators import FeatureEliminationCV
from structsvm.evaluation import mean_interval
from structsvm.exceptions import InputError
from structsvm.metrics import AP
from structsvm.rankers import RankBoost, RankSVM
from structsvm.training.elimination import sizes_of, spread_within


@pytest.fixture(scope="module")
def data():
    """Queries in mixed order: two useful features at different scales, a copy of one with noise, and two useless."""
    rng = np.random.default_rng(1)
    qid = rng.permutation(np.repeat(np.arange(30), 8))
    X = rng.normal(size=(len(qid), 5))
    X[:, 1] *= 30.0
    X[:, 2] = X[:, 0] + 0.5 * X[:, 2]
    y = (X[:, 0] + X[:, 1] / 30.0 + 0.5 * rng.normal(size=len(qid)) > 0.7).astype(int)
    return X, y, qid


def from_scratch(ranker, X, y, qid):
    """Weights at each number of features, each from a separate fit without a start."""
    order = np.argsort(qid, kind="stable")
    kept, result = np.arange(X.shape[1]), {}
    while True:
        coef = ranker.fit(X[:, kept], y, qid=qid).coef_
        result[len(kept)] = kept, coef
        if len(kept) == 1:
            return result
        rows = X[order][:, kept] / (1.0 if ranker.scaling_ is None else ranker.scaling_.deviation)
        means = np.array([rows[qid[order] == q].mean(axis=0) for q in qid[order]])
        kept = np.delete(kept, np.argmin(np.abs(coef) * (rows - means).std(axis=0)))


RANKERS = [
    Ranker(C=1.0, tol=1e-9),
    Ranker(C=1.0, tol=1e-9, solver="one-slack", normalize="standard"),
    Ranker(C=1.0, tol=1e-9, bounds=(0, [1.0, 0.01, 2.0, 3.0, 4.0])),
    Ranker("zero_one", C=1.0, tol=1e-9, fit_intercept=True, solver="one-slack"),
    RankSVM(C=0.1, tol=1e-9),
]


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_elimination_equals_refits_from_scratch(data, ranker):
    X, y, qid = data
    search = FeatureEliminationCV(ranker, cv=2).fit(X, y, qid=qid)
    bounded = getattr(ranker, "bounds", None) is not None
    if not bounded:
        refits = from_scratch(ranker, X, y, qid)
        assert [np.flatnonzero(each).tolist() for each in search.supports_] == [
            refits[size][0].tolist() for size in search.sizes_
        ]
    kept = search.support_
    narrow = {"bounds": (0, np.array(ranker.bounds[1])[kept])} if bounded else {}
    alone = type(ranker)(**{**ranker.get_params(), **narrow}).fit(X[:, kept], y, qid=qid)
    np.testing.assert_allclose(
        search.estimator_.coef_[kept], alone.coef_, rtol=0, atol=2e-4 * np.abs(alone.coef_).max()
    )
    assert not search.estimator_.coef_[~kept].any()
    assert search.estimator_.result_.converged
    assert abs(search.estimator_.result_.primal - alone.result_.primal) <= 2e-9 * alone.result_.C * alone.gap_unit_


def test_held_out_queries_have_no_part_in_the_choice(data):
    """Each fold is a separate elimination on the other queries."""
    X, y, qid = data
    splits = list(GroupKFold(3).split(X, y, qid))
    search = FeatureEliminationCV(cv=splits, scoring="map").fit(X, y, qid=qid)
    pooled = []
    for fold, (train, held) in enumerate(splits):
        refits = from_scratch(Ranker(), X[train], y[train], qid[train])
        assert search.fold_supports_[fold].sum(axis=1).tolist() == [1, 2, 3, 4, 5]
        values = []
        for size, row in zip(search.sizes_, search.fold_supports_[fold], strict=True):
            kept, coef = refits[size]
            assert np.flatnonzero(row).tolist() == kept.tolist()
            values.append(AP().per_query(X[held][:, kept] @ coef, y[held], qid[held]).values)
        pooled.append(np.array(values))
    np.testing.assert_allclose(search.scores_by_query_, np.hstack(pooled), rtol=0, atol=1e-12)
    np.testing.assert_allclose(search.mean_scores_, np.hstack(pooled).mean(axis=1))
    assert search.intervals_[-1].tolist() == list(mean_interval(search.scores_by_query_[-1]))
    assert sorted(search.query_ids_.tolist()) == list(range(30))
    assert search.n_features_ == search.sizes_[search.mean_scores_.argmax()]


@pytest.mark.slow
def test_sparse_rows_with_empty_columns_frames_and_files(data, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y, qid = data
    dense = FeatureEliminationCV(cv=2).fit(X, y, qid=qid)
    wide = sp.csr_array((X.ravel(), np.tile([3, 700, 1400, 1401, 2000], len(y)), np.arange(len(y) + 1) * 5))
    wide.resize(len(y), 2500)
    search = FeatureEliminationCV(cv=2, step=0.99).fit(wide, y, qid=qid)
    assert search.sizes_.tolist() == [1, 25, 2500]
    assert search.supports_.sum(axis=1).tolist() == [1, 25, 2500]
    assert search.supports_[1][[3, 700, 1400, 1401, 2000]].all()
    np.testing.assert_allclose(search.mean_scores_[1:], dense.mean_scores_[-1], atol=1e-3)
    frame = pandas.DataFrame(X, columns=list("abcde"))
    named = FeatureEliminationCV(cv=2).fit(frame, y, qid=qid)
    named.save(tmp_path / "m.npz")
    model = load(tmp_path / "m.npz")
    assert model.feature_names == tuple("abcde")
    assert "of 5 features by elimination: map 0." in model.record["choice"]
    assert model.predict(X).tolist() == named.predict(frame, qid=qid).tolist() == dense.predict(X, qid=qid).tolist()
    restored = Ranker.load(tmp_path / "m.npz")
    assert restored.coef_.tolist() == dense.estimator_.coef_.tolist()
    assert named.score(frame, y, qid=qid) == restored.set_params(measure="map").score(X, y, qid=qid)


def test_folds_side_by_side_give_the_same_and_callbacks_hear_of_every_fit(data):
    X, y, qid = data
    calls = []
    one = FeatureEliminationCV(cv=2, step=2).fit(X, y, qid=qid, callback=lambda *given: calls.append(given))
    assert calls == [(size, fold) for fold in (0, 1, None) for size in (5, 3, 1)]
    # Threads start faster than processes.
    with parallel_config("threading"):
        two = FeatureEliminationCV(cv=2, step=2, n_jobs=2).fit(X, y, qid=qid)
    assert two.scores_by_query_.tolist() == one.scores_by_query_.tolist()


def test_sizes_and_spreads():
    assert sizes_of(10, 3, 2) == [10, 7, 4, 2]
    assert sizes_of(100, 0.5, 10) == [100, 50, 25, 12, 10]
    assert sizes_of(3, 0.1, 1) == [3, 2, 1]
    assert sizes_of(100, 0.07, 93) == [100, 93]  # 0.07 * 100 is above 7
    X = np.array([[1.0, 5.0], [3.0, 5.0], [0.0, 7.0], [0.0, 7.0], [6.0, 7.0]])
    expected = [np.sqrt((1 + 1 + 4 + 4 + 16) / 5), 0.0]
    halves = sp.csr_array((np.repeat(X.ravel() / 2, 2), np.repeat(np.tile([0, 1], 5), 2), np.arange(6) * 4))
    for rows in (X, sp.csr_array(X), halves):
        np.testing.assert_allclose(spread_within(rows, np.array([0, 2, 5])), expected, atol=1e-7)


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({"estimator": RankBoost()}, {}, r"estimator=\.\.\.\) must be a linear ranker with a certificate"),
        ({"step": 1.5}, {}, r"step=\.\.\.\) must be a number of features from 1, or a share between 0 and 1, got 1.5"),
        ({"min_features": 9}, {}, r"min_features=\.\.\.\) is 9, and X has 5"),
        ({"scoring": "num_ret"}, {}, "scoring must be a mean over queries; num_ret is a sum"),
        ({"n_jobs": 2}, {"callback": print}, r"n_jobs=\.\.\.\) must be None if fit has a callback"),
        ({}, {"qid": None}, "qid is missing: features are chosen on held-out queries"),
    ],
)
def test_mistakes(data, settings, given, message):
    X, y, qid = data
    with pytest.raises(InputError, match=message):
        FeatureEliminationCV(**settings).fit(**({"X": X, "y": y, "qid": qid} | given))
