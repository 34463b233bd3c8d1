"""The parameter ``missing``: a fit replaces NaN, the model stores the replacements, and exports hold them."""

import numpy as np
import pytest
import scipy.sparse as sp

from structsvm import Ranker, load
from structsvm.estimators import RankerCV
from structsvm.exceptions import InputError
from structsvm.models.export import export
from structsvm.rankers import MaximumEntropy, RankNet, RankSVM, WeightSearch

RNG = np.random.default_rng(0)
X = RNG.normal([0.0, 0.0, 0.0, 5.0], size=(120, 4))
Y = (X[:, 0] + RNG.normal(size=120) > 0.5).astype(float)
QID = np.repeat(np.arange(12), 10)
X[RNG.random(X.shape) < 0.2] = np.nan
REPLACED = {"median": np.nanmedian(X, axis=0), "mean": np.nanmean(X, axis=0), 3: np.full(4, 3.0)}


@pytest.mark.parametrize("missing", REPLACED)
@pytest.mark.parametrize("normalize", [None, "standard", "query-min-max"])
@pytest.mark.parametrize("ranker", [Ranker(), RankSVM(), MaximumEntropy(), WeightSearch()])
def test_a_fit_with_missing_values_equals_a_fit_to_replaced_values(tmp_path, ranker, normalize, missing):
    ranker = type(ranker)(normalize=normalize, missing=missing).fit(X, Y, qid=QID)
    np.testing.assert_allclose(ranker.model_.fill, REPLACED[missing])
    full = np.where(np.isnan(X), ranker.model_.fill, X)
    same = type(ranker)(normalize=normalize).fit(full, Y, qid=QID)
    np.testing.assert_array_equal(same.predict(full, QID), ranker.predict(X, QID))
    ranker.save(tmp_path / "model.npz")
    model = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(model.predict(X, QID), ranker.predict(X, QID))
    assert type(ranker).load(tmp_path / "model.npz").missing == missing
    explained = model.explain(X, QID)
    np.testing.assert_allclose(explained.contributions.sum(axis=1) + explained.base, ranker.predict(X, QID))


def test_a_network_replaces_missing_values_of_training_and_validation():
    ranker = RankNet(missing="median", random_state=0).fit(X, Y, qid=QID, validation=(X, Y, QID))
    full = np.where(np.isnan(X), REPLACED["median"], X)
    same = RankNet(random_state=0).fit(full, Y, qid=QID, validation=(full, Y, QID))
    np.testing.assert_array_equal(same.predict(full), ranker.predict(X))
    np.testing.assert_array_equal(list(ranker.staged_predict(X))[-1], ranker.predict(X))


def test_missing_entries_of_sparse_rows_are_replaced():
    dense = Ranker(missing="median").fit(X, Y, qid=QID)
    sparse = Ranker(missing="median").fit(sp.csr_matrix(X), Y, qid=QID)
    np.testing.assert_allclose(sparse.predict(sp.csr_matrix(X)), dense.predict(X), atol=1e-9)


@pytest.mark.parametrize("ranker", [Ranker(missing="median"), MaximumEntropy(missing="median")])
def test_the_choice_of_C_takes_missing_values(ranker):
    for arguments in ({}, {"validation": (X, Y, QID)}):
        assert np.isfinite(RankerCV(ranker, [0.1, 1.0], cv=2).fit(X, Y, qid=QID, **arguments).predict(X)).all()
    assert ranker.__sklearn_tags__().input_tags.allow_nan


@pytest.mark.parametrize("missing", REPLACED)
def test_exports_replace_missing_values(tmp_path, missing):
    lightgbm, onnxruntime = pytest.importorskip("lightgbm"), pytest.importorskip("onnxruntime")
    ranker = Ranker(missing=missing, normalize="standard").fit(X, Y, qid=QID)
    scores = ranker.predict(X)
    export(ranker, tmp_path / "model.onnx", "onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    np.testing.assert_allclose(session.run(None, {"features": X})[0], scores, atol=1e-9)
    export(ranker, tmp_path / "model.txt", "lightgbm")
    np.testing.assert_allclose(lightgbm.Booster(model_file=tmp_path / "model.txt").predict(X), scores, atol=1e-9)
    with pytest.raises(
        InputError, match=r"solr counts missing features as 0, .* \(missing=.*\)\. Train with missing=0"
    ):
        export(ranker, tmp_path / "model.json", "solr", feature_names=list("abcd"))
    export(Ranker(missing=0).fit(X, Y, qid=QID), tmp_path / "model.json", "solr", feature_names=list("abcd"))


def test_missing_values_that_cannot_be_replaced_are_an_error():
    with pytest.raises(InputError, match=r"Ranker\(missing=...\) must be 'median', 'mean', a finite number or None"):
        Ranker(missing="most_frequent").fit(X, Y, qid=QID)
    with pytest.raises(InputError, match=r"X has only missing values in column 4, .* \(missing=0, or --missing 0"):
        Ranker(missing="mean").fit(np.column_stack([X, np.full(len(X), np.nan)]), Y, qid=QID)
