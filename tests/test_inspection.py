"""Importances are the losses of predictions on shuffled copies."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.inspection import permutation_importance
from sklearn.pipeline import make_pipeline

from structsvm import Ranker, RankerCV, load
from structsvm.estimators import FeatureEliminationCV
from structsvm.evaluation import mean_interval
from structsvm.exceptions import InputError
from structsvm.features import QueryPercentiles, Thresholds
from structsvm.foundation.arrays import contents
from structsvm.inspection import query_permutation_importance
from structsvm.metrics import AP, NDCG, parse_measure
from structsvm.models import LinearModel
from structsvm.rankers import RankBoost, RankNet

SIZES = [4, 9, 1, 7, 12, 6]


@pytest.fixture(scope="module")
def queries():
    """Queries in mixed order, with a feature of queries (2), one that few rows have (3), and one without effect (4).

    Rows of a query are in the order in which importance shuffles them.
    """
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.arange(10, 10 + len(SIZES)), SIZES))
    X = rng.integers(0, 4, (len(qid), 5)).astype(float)
    X[:, 2] = qid % 3
    X[:, 3] *= rng.random(len(qid)) < 0.2
    y = (X[:, 0] + X[:, 1] + rng.normal(size=len(qid)) > 3.0).astype(int)
    order = np.lexsort((y, contents(X)))
    return X[order], y[order], qid[order]


def test_the_importance_of_scikit_learn_is_an_error_that_names_ours(queries):
    X, y, qid = queries
    ranker = Ranker().fit(X, y, qid=qid)
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(InputError, match=r"needs qid too\. Pass .*structsvm\.inspection\.query_permutation_importance"),
    ):
        permutation_importance(ranker, X, y)


def by_id(found):
    return found.values[np.argsort(found.ids)]


def brute_force(scores, X, y, qid, measure, repeats, *, seed=0):
    """Loss of each query, from predictions for whole copies of X, shuffled query by query with the same numbers."""
    base = by_id(measure.per_query(scores(X), y, qid))
    lost = np.zeros((X.shape[1], len(base)))
    for feature, row in enumerate(lost):
        varies = {q: len(np.unique(X[qid == q, feature])) > 1 for q in np.unique(qid)}
        rng = np.random.default_rng([seed, feature])
        for _ in range(repeats):
            copy = X.copy()
            numbers = rng.random(int(sum((qid == q).sum() for q, each in varies.items() if each)))
            for q in (q for q, each in varies.items() if each):
                rows = np.flatnonzero(qid == q)
                own, numbers = numbers[: len(rows)], numbers[len(rows) :]
                copy[rows, feature] = X[rows[np.argsort(-own)], feature]
            row += base - by_id(measure.per_query(scores(copy), y, qid))
    return lost / repeats


RANKERS = [
    Ranker("roc_area"),
    Ranker(normalize="query-z-score"),
    RankNet(2, max_iter=5, random_state=0),
    RankBoost(n_estimators=5),
    make_pipeline(Thresholds(bins=3), Ranker()),
]


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
@pytest.mark.parametrize("measure", [AP(), NDCG(k=3, empty="skip")], ids=str)
def test_a_new_prediction_for_shuffled_copies_gives_the_same(queries, ranker, measure):
    X, y, qid = queries
    step = "ranker__" if hasattr(ranker, "steps") else ""
    ranker.fit(X, y, **{f"{step}qid": qid})
    takes_qid = getattr(ranker, "normalize", None)
    result = query_permutation_importance(ranker, X, y, qid, measure=measure, n_repeats=3)
    expected = brute_force(
        lambda rows: ranker.predict(rows, **({"qid": qid} if takes_qid else {})), X, y, qid, measure, 3
    )
    np.testing.assert_allclose(result.by_query, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.importances, expected.mean(axis=1), rtol=0, atol=1e-12)
    assert result.importances[2] == 0.0  # equal within queries
    assert result.importances.max() > 0.01
    assert result.query_ids.tolist() == sorted(measure.per_query(y, y, qid).ids.tolist())
    for interval, row in zip(result.intervals, result.by_query, strict=True):
        assert (tuple(interval) if interval[0] == interval[0] else None) == mean_interval(row)


def test_sparse_rows_frames_and_files_give_the_same(queries, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y, qid = queries
    names = list("abcde")
    ranker = Ranker().fit(pandas.DataFrame(X, columns=names), y, qid=qid)
    dense = query_permutation_importance(ranker, X, y, qid)
    ranker.save(tmp_path / "m.npz")
    turned = pandas.DataFrame(X[:, ::-1], columns=names[::-1])
    halves = sp.csr_array(
        (np.repeat(X.ravel() / 2, 2), np.repeat(np.tile(range(5), len(y)), 2), np.arange(len(y) + 1) * 10)
    )
    for model, given in [(ranker, sp.csc_array(X)), (ranker, halves), (load(tmp_path / "m.npz"), turned)]:
        result = query_permutation_importance(model, given, y, qid)
        assert result.by_query.tolist() == dense.by_query.tolist()
        assert result.feature_names == tuple(names)
    assert (
        query_permutation_importance(
            ranker, sp.csr_array(X), y, qid, across_queries=True, n_repeats=1
        ).by_query.tolist()
        == query_permutation_importance(ranker, X, y, qid, across_queries=True, n_repeats=1).by_query.tolist()
    )


def test_missing_values_and_frames_of_others(queries):
    lightgbm, pandas = pytest.importorskip("lightgbm"), pytest.importorskip("pandas")
    X, y, qid = queries
    X = np.where(X == 1.0, np.nan, X)
    order = np.lexsort((y, contents(X), qid))
    X, y, qid = X[order], y[order], qid[order]
    frame = pandas.DataFrame(X, columns=list("abcde")).astype({"a": "category"})
    other = lightgbm.LGBMRanker(n_estimators=5, min_child_samples=2, verbosity=-1, n_jobs=1)
    other.fit(frame, y, group=SIZES)
    result = query_permutation_importance(other, frame, y, qid)
    assert result.feature_names == tuple("abcde")
    assert result.importances[0] != 0.0 == result.importances[2]
    stumps = RankBoost(n_estimators=5).fit(X, y, qid=qid)
    np.testing.assert_allclose(
        query_permutation_importance(stumps, X, y, qid, n_repeats=1).by_query,
        brute_force(stumps.predict, X, y, qid, AP(), 1),
        rtol=0,
        atol=1e-12,
    )


def test_zero_weights_and_features_of_queries(queries):
    X, y, qid = queries
    model = LinearModel(n_features=5, coef=[1.0, 1.0, 9.0, 0.0, 0.0])
    within = query_permutation_importance(model, X, y, qid)
    assert within.importances[2:].tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(within.intervals[2:]).all()
    across = query_permutation_importance(model, X, y, qid, across_queries=True)
    assert across.importances[2] > 0.09
    assert across.importances[3:].tolist() == [0.0, 0.0]


def test_a_pipeline_gets_qid_if_a_step_requests_it(queries):
    X, y, qid = queries
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(QueryPercentiles(), Ranker(measure="p@2")).fit(X, y, qid=qid)
        result = query_permutation_importance(pipeline, X, y, qid)
        assert result.measure == "p@2"
        expected = brute_force(lambda rows: pipeline.predict(rows, qid=qid), X, y, qid, parse_measure("p@2"), 5)
    np.testing.assert_allclose(result.by_query, expected, rtol=0, atol=1e-12)


def test_the_default_is_the_measure_of_score(queries):
    X, y, qid = queries
    search = RankerCV(Cs=[1.0], cv=2, scoring="ndcg@3").fit(X, y, qid=qid)
    of_loss = FeatureEliminationCV(Ranker("ndcg@2"), cv=2, step=4).fit(X, y, qid=qid)
    for ranker in (search, of_loss, Ranker(measure="p@2").fit(X, y, qid=qid)):
        result = query_permutation_importance(ranker, X, y, qid, n_repeats=1)
        assert result.baseline == pytest.approx(ranker.score(X, y, qid))
    assert query_permutation_importance(search, X, y, qid, n_repeats=1).measure == "ndcg@3"


def test_the_table_has_the_most_important_first(queries):
    X, y, qid = queries
    features = []
    model = LinearModel(n_features=5, coef=[1.0, 2.0, 0.0, 0.0, 0.0], feature_names=tuple("abcde"))
    result = query_permutation_importance(model, X, y, qid, callback=features.append)
    table = result.table(top=3)
    assert features == list(range(5))
    assert [record["name"] for record in table.records[:2]] == ["b", "a"]
    assert table.records[2]["low"] is None
    assert "loss of map" in str(result)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"measure": "num_ret"}, "measure must be a mean over queries; num_ret is a sum"),
        ({"n_repeats": 0}, "n_repeats must be"),
        ({"ranker": 3}, "a ranker must be an object with predict, got 3"),
        ({"ranker": Ranker}, "a ranker must be an object with predict, got <class"),
        ({"qid": None}, "was fitted with qid: pass the qid of these rows, too"),
        ({"measure": "map(empty=skip)", "y": 0}, "is undefined for all 6 queries"),
        ({"X": "binned"}, "X is a BinnedMatrix, whose columns are not features"),
    ],
)
def test_mistakes(queries, given, message):
    X, y, qid = queries
    arguments = {"ranker": Ranker().fit(X, y, qid=qid), "X": X, "y": y, "qid": qid} | given
    if given.get("y") == 0:
        arguments["y"] = np.zeros(len(y))
    if given.get("X") == "binned":
        arguments["X"] = Thresholds().fit_transform(X)
    with pytest.raises(InputError, match=message):
        query_permutation_importance(**arguments)
