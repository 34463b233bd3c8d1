"""Rankers that normalize features themselves, and the warning about unnormalized features."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

import structsvm
from structsvm import Ranker
from structsvm.exceptions import FeatureScaleWarning, InputError, ModelFileError
from structsvm.features import Thresholds
from structsvm.features.scaling.names import FEATURE_SCALINGS
from structsvm.features.scaling.scalings import learn_scaling
from structsvm.foundation.queries import Queries
from structsvm.foundation.storage.files import read_archive, write_archive
from structsvm.rankers import MaximumEntropy, RankNet, RankSVM, TreeRanker, WeightSearch
from structsvm.training.scaling import ColumnRanges

RANKERS = (Ranker, RankSVM, MaximumEntropy, WeightSearch)


def data(seed=0, queries=12, documents=8):
    rng = np.random.default_rng(seed)
    n = queries * documents
    X = rng.normal(size=(n, 4)) * [1.0, 30.0, 0.2, 1.0] + [5.0, 0.0, 1.0, 0.0]
    y = (X[:, 0] - 5.0 + X[:, 1] / 30.0 + rng.normal(size=n) > 0.8).astype(float)
    qid = rng.permutation(np.repeat(np.arange(queries), documents))
    return X, y, qid


X, Y, QID = data()


@pytest.mark.parametrize("name", FEATURE_SCALINGS)
@pytest.mark.parametrize("kind", RANKERS)
def test_it_learns_from_normalized_features_and_predicts_from_those_as_they_are(kind, name):
    given = learn_scaling(name, X).rows(X, Queries.of(QID, len(X)))
    close = {"tol": 1e-6} if kind in (Ranker, RankSVM) else {}
    expected = kind(**close).fit(given, Y, qid=QID)
    ranker = kind(normalize=name, **close).fit(X, Y, qid=QID)
    np.testing.assert_allclose(ranker.coef_, expected.coef_, atol=1e-3)
    np.testing.assert_allclose(ranker.predict(X, qid=QID), given @ ranker.coef_ + ranker.intercept_, atol=1e-9)
    assert abs(ranker.score(X, Y, qid=QID) - expected.score(given, Y, qid=QID)) < 0.01
    one = QID == 3
    alone = None if ranker.normalize == "standard" else QID[one]
    np.testing.assert_allclose(ranker.predict(X[one], qid=alone), ranker.predict(X, qid=QID)[one], atol=1e-9)


@pytest.mark.parametrize("name", FEATURE_SCALINGS)
@pytest.mark.parametrize("kind", [Ranker, RankSVM])
def test_sparse_features_are_ranked_as_dense_ones(kind, name):
    """They are divided and not shifted, which changes no difference of scores within a query."""
    holed = np.where(np.random.default_rng(1).random(X.shape) < 0.5, 0.0, X)
    dense = kind(normalize=name, tol=1e-6).fit(holed, Y, qid=QID)
    sparse = kind(normalize=name, tol=1e-6).fit(sp.csr_array(holed), Y, qid=QID)
    np.testing.assert_allclose(dense.result_.primal, sparse.result_.primal, rtol=1e-5)
    result = dense.predict(sp.csr_array(holed), qid=QID)
    np.testing.assert_allclose(result, dense.predict(holed, qid=QID), atol=1e-9)
    np.testing.assert_allclose(sparse.predict(holed, qid=QID), sparse.predict(sp.csr_array(holed), qid=QID), atol=1e-9)


def test_folded_weights_give_the_same_scores():
    ranker = Ranker("zero_one", fit_intercept=True, normalize="standard").fit(X, Y, qid=QID)
    folded = ranker.model_.folded
    assert folded.scaling is None
    np.testing.assert_allclose(X @ folded.coef + folded.intercept, ranker.predict(X), atol=1e-9)
    for name in (None, "query-z-score"):
        model = Ranker(normalize=name).fit(X, Y, qid=QID).model_
        assert model.folded is model


@pytest.mark.parametrize("name", [None, *FEATURE_SCALINGS])
def test_a_file_keeps_it(name, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    ranker = Ranker(normalize=name).fit(X, Y, qid=QID).name_features("abcd"[k] for k in range(4))
    ranker.save(tmp_path / "m.npz")
    again = Ranker.load(tmp_path / "m.npz")
    assert (again.predict(X, qid=QID) == ranker.predict(X, qid=QID)).all()
    assert again.get_params() == ranker.get_params()
    assert again.known_names == ("a", "b", "c", "d")
    assert again.trained_ == ranker.trained_
    assert again.trained_.time == "1970-01-02T00:00:00+00:00"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda a: a.pop("scaling_mean"), "scaling_mean' is missing"),
        (lambda a: a.update(scaling_deviation=np.zeros(4)), "must be above 0"),
        (lambda a: a.update(scaling_mean=np.zeros(3)), "must be float64 of shape"),
        (lambda a: a.update(scaling=np.array('{"name": "other"}')), "unknown scaling 'other'"),
        (lambda a: a.update(scaling=np.array('{"name": "query-min-max", "centered": 2}')), "must be True or False"),
        (
            lambda a: a.update(model=np.array(str(a["model"]).replace('"time": "', '"time": 3, "x": "'))),
            "of texts",
        ),
    ],
)
def test_malformed_files_are_errors(edit, said, tmp_path):
    Ranker(normalize="standard").fit(X, Y, qid=QID).save(tmp_path / "m.npz")
    arrays = dict(read_archive(tmp_path / "m.npz", dict))
    edit(arrays)
    write_archive(tmp_path / "n.npz", arrays)
    with pytest.raises(ModelFileError, match=said):
        Ranker.load(tmp_path / "n.npz")


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", FEATURE_SCALINGS)
@pytest.mark.parametrize("kind", RANKERS)
def test_a_model_that_is_served_normalizes_as_the_estimator(kind, name, sparse, tmp_path):
    ranker = kind(normalize=name).fit(sp.csr_array(X) if sparse else X, Y, qid=QID)
    ranker.save(tmp_path / "m.npz")
    served, loaded = structsvm.load(tmp_path / "m.npz"), kind.load(tmp_path / "m.npz")
    for rows in (X, X.astype(np.float32), sp.csr_array(X)):
        expected = ranker.predict(rows, qid=QID)
        np.testing.assert_allclose(served.predict(rows, qid=QID), expected, atol=1e-5)
        np.testing.assert_array_equal(loaded.predict(rows, qid=QID), expected)
        np.testing.assert_allclose(served.predict(rows[:5]), ranker.predict(rows[:5], qid=np.zeros(5)), atol=1e-5)
        assert served.predict(rows[:0]).shape == ranker.predict(rows[:0]).shape == (0,)
    with pytest.raises(InputError, match="NaN"):
        served.predict(np.full((2, 4), np.nan))


def test_the_most_violated_output_is_of_normalized_features():
    ranker = Ranker(normalize="query-min-max").fit(X, Y, qid=QID)
    one = QID == 0
    given = learn_scaling("query-min-max", X[one]).rows(X[one], None)
    plain = Ranker().fit(learn_scaling("query-min-max", X).rows(X, Queries.of(QID, len(X))), Y, qid=QID)
    np.testing.assert_allclose(
        ranker.most_violated(X[one], Y[one]).hinge, plain.most_violated(given, Y[one]).hinge, atol=1e-9
    )


def test_qid_reaches_predict_and_score_by_metadata_routing():
    with config_context(enable_metadata_routing=True):
        grid = {"ranker__C": [0.1, 1.0]}
        from sklearn.pipeline import Pipeline

        search = GridSearchCV(Pipeline([("ranker", Ranker(normalize="query-z-score"))]), grid, cv=GroupKFold(3))
        search.fit(X, Y, qid=QID, groups=QID)
        result = make_pipeline(Ranker(normalize="query-z-score")).fit(X, Y, qid=QID).predict(X, qid=QID)
    expected = Ranker(normalize="query-z-score").fit(X, Y, qid=QID)
    assert (result == expected.predict(X, qid=QID)).all()
    with pytest.raises(InputError, match="fitted with qid and normalizes by query, so predict needs qid too"):
        expected.predict(X)


def test_refusals():
    with pytest.raises(InputError, match=r"RankSVM\(normalize=...\) must be 'query-min-max' or .*, got 'min'"):
        RankSVM(normalize="min").fit(X, Y, qid=QID)
    with pytest.raises(InputError, match="BinnedMatrix"):
        Ranker(normalize="standard").fit(Thresholds(3).fit_transform(X), Y, qid=QID)
    ranker = Ranker().fit(X, Y, qid=QID)
    for names in (["a"], "abcd", ["a", "b", "c", "a"], [1, 2, 3, 4], None):
        with pytest.raises(InputError):
            ranker.name_features(names)
    with pytest.raises(InputError, match="qid must be one query id per row"):
        ranker.predict(X, qid=[1])


WIDE = X * [1.0, 1e6, 1.0, 1.0]


@pytest.mark.parametrize("kind", [Ranker, RankSVM, MaximumEntropy])
def test_columns_far_apart_in_scale_are_told(kind):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kind().fit(WIDE, Y, qid=QID)
    (told,) = [each for each in caught if each.category is FeatureScaleWarning]
    assert Path(told.filename) == Path(__file__)
    assert "column 1 (1" in str(told.message)
    assert "normalize='query-min-max'" in str(told.message)
    for settings, features in (({"normalize": "standard"}, WIDE), ({}, X)):
        with warnings.catch_warnings():
            warnings.simplefilter("error", FeatureScaleWarning)
            kind(**settings).fit(features, Y, qid=QID)


def test_columns_are_called_by_their_names():
    frame = pd.DataFrame(WIDE, columns=["bm25", "clicks", "age", "length"])
    with pytest.warns(FeatureScaleWarning, match="'clicks' "):
        ranker = Ranker().fit(frame, Y, qid=QID)
    assert ranker.known_names == ("bm25", "clicks", "age", "length")


def test_ranges_of_sparse_columns_count_zeros():
    dense = np.array([[0.0, 2.0, 5.0], [3.0, 0.0, 7.0], [0.0, -1.0, 6.0]])
    np.testing.assert_array_equal(ColumnRanges.of(dense).ranges, [3.0, 3.0, 2.0])
    np.testing.assert_array_equal(ColumnRanges.of(sp.csr_array(dense)).ranges, [3.0, 3.0, 2.0])
    assert not ColumnRanges.of(np.array([[0.0, 1.0], [1e3, 2.0]])).far_apart
    assert ColumnRanges.of(np.array([[0.0, 1.0], [1001.0, 2.0]])).far_apart
    assert not ColumnRanges.of(np.ones((3, 2))).far_apart
    small = ColumnRanges.of(np.array([[0.0, 0.0, 5.0], [400.0, 0.2, 5.0]]))
    assert "2e+03: largest f0 (4e+02), smallest f1 (0.2), median 2e+02" in small.description("f{}".format)


def test_ranges_are_of_rows_spread_evenly():
    wide = np.zeros((50_001, 2))
    wide[:, 0] = np.arange(50_001)
    wide[::7, 1] = 1.0
    for rows in (wide, wide.astype(np.float32), sp.csr_array(wide)):
        first, second = ColumnRanges.of(rows).ranges
        assert 49_900 < first <= 50_000
        assert second == 1.0


@pytest.mark.parametrize("storage", [np.array, sp.csr_array])
@pytest.mark.parametrize(
    "ranker",
    [
        *(kind(normalize="standard") for kind in (Ranker, RankSVM, MaximumEntropy, WeightSearch)),
        Ranker("zero_one", normalize="standard", class_weight="balanced"),
        TreeRanker(normalize="standard"),
    ],
    ids=lambda ranker: f"{type(ranker).__name__}-{getattr(ranker, 'loss', '')}",
)
def test_statistics_of_rows_count_sample_weight(ranker, storage):
    """Weight 0 is equal to no row, and weight k to k copies of the query."""
    weight = np.array([0, 0, 1, 1, 2, 3] * 2)[QID]
    copies = [np.flatnonzero(weight > copy) for copy in range(3)]
    rows, query = np.concatenate(copies), np.concatenate([QID[kept] + 100 * k for k, kept in enumerate(copies)])
    alike = clone(ranker).fit(storage(X[rows]), Y[rows], qid=query).scaling_
    scaling = ranker.fit(storage(X), Y, qid=QID, sample_weight=weight).scaling_
    np.testing.assert_allclose(scaling.mean, alike.mean, atol=1e-12)
    np.testing.assert_allclose(scaling.deviation, alike.deviation, rtol=1e-12)


def test_rank_net_counts_sample_weight_in_its_statistics():
    weight = np.where(QID < 6, 0.0, QID)
    scaling = RankNet(max_iter=1, random_state=0).fit(X, Y, qid=QID, sample_weight=weight).scaling_
    used = np.isin(QID, [q for q in range(6, 12) if len(set(Y[q == QID])) > 1])
    np.testing.assert_allclose(scaling.mean, np.average(X[used], axis=0, weights=weight[used]), atol=1e-12)
