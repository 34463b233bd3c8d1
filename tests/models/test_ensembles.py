"""Converted ensembles, their files and their exports have the scores of the library, also beside thresholds."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.exceptions import NotFittedError

import structsvm
from structsvm.exceptions import InputError, ModelFileError, NotInstalledError
from structsvm.foundation.types import Matrix, Vector
from structsvm.models import from_ensemble
from structsvm.models.export import export
from structsvm.models.leaves import ZERO, Trees
from tests.models.ensembles import GROUPS, Case, Data, cases, of_catboost, of_lightgbm, of_xgboost, trained


def margins(model: Any, X: Matrix) -> Vector:
    """Return the library's scores without a link."""
    library = type(model).__module__.partition(".")[0]
    if library == "lightgbm":
        dump = model.dump_model()
        return model.predict(X, raw_score=True) / (len(dump["tree_info"]) if dump.get("average_output") else 1)
    if library == "xgboost":
        booster = hasattr(model, "num_features")
        return model.predict(sys.modules["xgboost"].DMatrix(X) if booster else X, output_margin=True)
    if library == "catboost":
        return sys.modules["catboost"].CatBoost.predict(model, X, prediction_type="RawFormulaVal")
    return getattr(model, "decision_function", model.predict)(X)


def beside_thresholds(trees: Trees, X: Matrix) -> Matrix:
    """Return rows with values of X, thresholds, and the numbers beside and between them in float32 and float64."""
    rng = np.random.default_rng(0)
    columns = []
    for k, column in enumerate(X.T):
        single = trees.threshold[(trees.feature == k) & (np.abs(trees.threshold) < 1e38)].astype(np.float32)
        beside = [np.nextafter(single, np.float32(end)) for end in (-np.inf, np.inf)]
        centers = np.concatenate(
            [
                trees.threshold[trees.feature == k],
                *(single.astype(float), *beside),
                *((single.astype(float) + other) / 2.0 for other in beside),
                [0.0, -0.0, ZERO, 1e-36, 1e-300, 3e38],
            ]
        )
        pool = np.concatenate([np.nextafter(centers, end) for end in (-np.inf, np.inf)] + [centers, -centers])
        pool = pool[np.abs(pool) < 3.4e38]
        columns.append(np.concatenate([column, rng.choice(np.concatenate([pool, column]), 500)]))
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("case", cases())
@pytest.mark.filterwarnings("ignore")
def test_the_converted_model_scores_as_the_library(case: Case, tmp_path: Path) -> None:
    model, data = trained(case)
    begins = "init=DecisionTreeRegressor" in case.objective
    if case.refused or begins:
        refused = r"adds predictions of a DecisionTreeRegressor \(init=\) to its trees" if begins else case.refused
        with pytest.raises((InputError, NotFittedError), match=refused):
            from_ensemble(model)
        return
    converted = from_ensemble(model)
    X = beside_thresholds(converted.trees, data.X.toarray() if case.sparse else data.X)
    values = np.maximum.reduceat(np.abs(converted.values), converted.trees.offsets[:-1]).sum()
    # XGBoost adds in float32.
    bound = (2e-6 if case.library == "xgboost" else 1e-13) * values
    for rows in (X, X.astype(np.float32)):
        np.testing.assert_allclose(converted.predict(rows), margins(model, rows), rtol=0.0, atol=bound)
    scores, close = converted.predict(X), {"rtol": 0.0, "atol": 1e-13 * values}
    explained = converted.explain(X)
    np.testing.assert_allclose(explained.contributions.sum(axis=1) + explained.base, scores, **close)
    converted.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(structsvm.load(tmp_path / "model.npz").predict(X), scores)
    export(converted, tmp_path / "model.onnx", "onnx")
    session = pytest.importorskip("onnxruntime").InferenceSession(tmp_path / "model.onnx")
    np.testing.assert_allclose(session.run(None, {"features": X})[0], scores, **close)
    export(converted, tmp_path / "model.txt", "lightgbm")
    # LightGBM reads values up to ZERO as 0.
    rows = np.where(np.abs(X) <= ZERO, 0.0, X)
    exported = pytest.importorskip("lightgbm").Booster(model_file=tmp_path / "model.txt").predict(rows)
    np.testing.assert_allclose(exported, converted.predict(rows), **close)


@pytest.mark.parametrize(
    ("case", "name"),
    [
        (of_lightgbm("lambdarank"), "model.txt"),
        (of_xgboost("rank:ndcg"), "model.json"),
        (of_xgboost("rank:ndcg"), "model.ubj"),
        (of_xgboost("rank:ndcg", estimator=True), "model.json"),
        (of_catboost("RMSE"), "model.json"),
        (of_catboost("RMSE"), "model.cbm"),
    ],
)
def test_load_converts_the_files_of_the_libraries(case: Case, name: str, tmp_path: Path) -> None:
    model, data = trained(case)
    path = tmp_path / name
    model.save_model(str(path), **({"format": path.suffix[1:]} if case.library == "catboost" else {}))
    loaded, expected = structsvm.load(path), from_ensemble(model, data.X, GROUPS)
    # CatBoost rounds numbers in JSON.
    np.testing.assert_allclose(loaded.predict(data.X), expected.predict(data.X), rtol=1e-14, atol=1e-15)
    assert loaded.feature_names is None
    assert loaded.title.startswith(case.library)
    assert "no feature" in str(expected.check(data.X, GROUPS))
    with pytest.raises(InputError, match=f"this {case.library}.* has no statistics of its training features"):
        loaded.check(data.X)
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(ModelFileError, match=f"{name} is damaged, or from an unknown version: "):
        structsvm.load(path)


def test_a_file_with_rounds_after_the_best_is_refused(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    X, y = Data.of().X, Data.of().y
    ranker = xgboost.XGBRegressor(n_estimators=20, early_stopping_rounds=3, n_jobs=1)
    ranker.fit(X, y, eval_set=[(X, 1 - y)], verbose=False)
    ranker.save_model(tmp_path / "model.json")
    with pytest.raises(InputError, match=r"XGBRegressor predict with the first 1, and Booster with all: load it with"):
        structsvm.load(tmp_path / "model.json")


def test_names_of_features_are_those_that_the_user_chose() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(Data.of().X, columns=["bm25", "age", "clicks"])
    model = from_ensemble(GradientBoostingRegressor(n_estimators=2).fit(frame, Data.of().y), frame)
    assert model.feature_names == ("bm25", "age", "clicks")
    np.testing.assert_array_equal(model.predict(frame[["clicks", "age", "bm25"]]), model.predict(frame))


def test_files_of_lightgbm_need_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = trained(of_lightgbm("lambdarank"))
    text = re.sub(r"split_gain=...", "split_gain=inf", model.model_to_string())
    (tmp_path / "model.txt").write_bytes(text.replace("\n", "\r\n").encode())
    expected = model.predict(data.X)
    for name in ("lightgbm", "xgboost"):
        monkeypatch.setitem(sys.modules, name, None)
    np.testing.assert_array_equal(structsvm.load(tmp_path / "model.txt").predict(data.X), expected)
    with pytest.raises(ModelFileError, match=r"is a model file of LightGBM: read it with structsvm\.load"):
        structsvm.Ranker.load(tmp_path / "model.txt")
    (tmp_path / "model.json").write_text('{"learner": {}}')
    with pytest.raises(NotInstalledError, match=r"model.json is a model of xgboost.*pip install xgboost"):
        structsvm.load(tmp_path / "model.json")
