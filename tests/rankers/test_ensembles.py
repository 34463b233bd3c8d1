"""Trees of other libraries: leaves and scores agree with the library, with its values and with new ones."""

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    AdaBoostRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from structsvm.exceptions import InputError
from structsvm.foundation.types import Matrix, Vector
from structsvm.rankers import refit
from structsvm.rankers.ensembles import ensemble_of


def data(holes: bool = True) -> tuple[Matrix, Vector]:
    """Products of features, with zeros, and with NaN if ``holes``."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    X[rng.random(X.shape) < 0.2] = 0.0
    if holes:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


def require_equal(ensemble: Any, X: Matrix, scores: Any, rtol: float = 1e-12) -> None:
    """Compare sums of leaf values with the library's scores, up to a constant, also for new values."""
    trees, values = ensemble.trees()
    leaves = trees.leaves(X) + trees.offsets[:-1]
    assert np.ptp(values[leaves].sum(axis=1) - scores(None)) < 1e3 * rtol
    others = np.random.default_rng(1).normal(size=len(values))
    np.testing.assert_allclose(scores(ensemble.with_values(others)), others[leaves].sum(axis=1), rtol=0, atol=50 * rtol)
    assert np.ptp(values[leaves].sum(axis=1) - scores(None)) < 1e3 * rtol  # the model is not changed


@pytest.mark.parametrize("settings", [{}, {"zero_as_missing": True}, {"use_missing": False}, {"boosting": "rf"}])
def test_lightgbm(settings: dict[str, Any]) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    X, y = data()
    sampled = {"bagging_fraction": 0.6, "bagging_freq": 1} if settings.get("boosting") == "rf" else {}
    given = {"objective": "regression", "verbosity": -1, "num_threads": 1, "num_leaves": 9, **settings, **sampled}
    booster = lightgbm.train(given, lightgbm.Dataset(X, y), 12)
    ensemble = ensemble_of(booster)
    np.testing.assert_array_equal(ensemble.trees()[0].leaves(X), booster.predict(X, pred_leaf=True))
    # The raw score of a random forest of LightGBM is the sum of its trees, the prediction their mean.
    raw = settings.get("boosting") != "rf"
    require_equal(ensemble, X, lambda other: (other or booster).predict(X, raw_score=raw))


def test_lightgbm_refuses_categories_and_classes() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    X, y = data(holes=False)
    X[:, 0] = np.round(X[:, 0] * 3 + 20)
    y = y + (X[:, 0] % 3 == 1) * 5
    quiet = {"verbosity": -1, "num_threads": 1}
    booster = lightgbm.train({"objective": "regression", **quiet}, lightgbm.Dataset(X, y, categorical_feature=[0]), 5)
    with pytest.raises(InputError, match="LightGBM model has splits by categories"):
        ensemble_of(booster).trees()
    linear = lightgbm.train({"objective": "regression", "linear_tree": True, **quiet}, lightgbm.Dataset(X, y), 2)
    with pytest.raises(InputError, match="linear functions in its leaves"):
        ensemble_of(linear).trees()
    several = lightgbm.train(
        {"objective": "multiclass", "num_class": 3, **quiet}, lightgbm.Dataset(X, np.digitize(y, [0, 2])), 2
    )
    with pytest.raises(InputError, match="several trees per round"):
        ensemble_of(several).trees()


@pytest.mark.parametrize("method", ["hist", "exact"])
def test_xgboost(method: str) -> None:
    xgboost = pytest.importorskip("xgboost")
    X, y = data()
    model = xgboost.XGBRegressor(n_estimators=12, max_depth=4, tree_method=method, n_jobs=1).fit(X, y)
    rows = xgboost.DMatrix(X)
    require_equal(
        ensemble_of(model),
        X,
        lambda other: (other or model.get_booster()).predict(rows, output_margin=True),
        rtol=1e-7,
    )


@pytest.mark.slow
@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
def test_catboost(nan_mode: str) -> None:
    catboost = pytest.importorskip("catboost")
    X, y = data()
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostRegressor(iterations=12, depth=4, nan_mode=nan_mode, **quiet).fit(X, y)
    ensemble = ensemble_of(model)
    np.testing.assert_array_equal(ensemble.trees()[0].leaves(X), model.calc_leaf_indexes(X))
    require_equal(ensemble, X, lambda other: (other or model).predict(X))
    lossguide = catboost.CatBoostRegressor(iterations=2, grow_policy="Lossguide", **quiet).fit(X, y)
    with pytest.raises(InputError, match="trees that are not symmetric"):
        ensemble_of(lossguide)
    with pytest.raises(NotFittedError, match="call its fit first"):
        ensemble_of(catboost.CatBoostRanker())


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingRegressor(n_estimators=8, max_leaf_nodes=6),
        GradientBoostingClassifier(n_estimators=8),
        RandomForestRegressor(8, max_depth=4),
        ExtraTreesRegressor(8, max_depth=4),
        DecisionTreeRegressor(max_depth=4),
    ],
    ids=lambda model: type(model).__name__,
)
def test_scikit_learn(model: Any) -> None:
    boosted = "Boosting" in type(model).__name__
    X, y = data(holes=not boosted)
    classes = hasattr(model, "classes_") or "Classifier" in type(model).__name__
    score = "decision_function" if classes else "predict"
    model.fit(X, y > 0 if classes else y)
    require_equal(ensemble_of(model), X, lambda other: getattr(other or model, score)(X))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Ridge(), "trees must be a fitted ensemble of LightGBM, XGBoost, CatBoost or scikit-learn .*got Ridge"),
        (HistGradientBoostingRegressor(max_iter=2), "got HistGradientBoostingRegressor, whose trees scikit-learn does"),
        (RandomForestClassifier(2), "got RandomForestClassifier"),
        (AdaBoostRegressor(n_estimators=2), "got AdaBoostRegressor"),
        (make_pipeline(Ridge()), "got Pipeline. Give its last step"),
        (GradientBoostingClassifier(n_estimators=2), "GradientBoostingClassifier has several trees per round"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_models_are_refused(model: Any, message: str) -> None:
    X, y = data(holes=False)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ensemble_of(model)
    with pytest.raises(InputError, match=message):
        ensemble_of(model.fit(X, np.digitize(y, [0.0, 2.0])))


def test_other_arguments_are_refused() -> None:
    X, y = data(holes=False)
    with pytest.raises(InputError, match=r"Load a file first, as by lightgbm.Booster\(model_file='model.txt'\)"):
        refit("model.txt", X, y > 0)
    several = RandomForestRegressor(2).fit(X, np.stack([y, y], axis=1))
    with pytest.raises(InputError, match="RandomForestRegressor has several outputs"):
        refit(several, X, y > 0)
    with pytest.raises(InputError, match="features must not be True"):
        refit(several, X, y > 0, features=True)
