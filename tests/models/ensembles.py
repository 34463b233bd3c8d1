"""Ensembles of all libraries: library x objective (and so link) x missing values x sparse rows x early stopping."""

import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from attrs import evolve, field, frozen
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

GROUPS = np.repeat(np.arange(15), 12)


@frozen
class Data:
    """Rows to learn from, and rows that stop the training early, or None."""

    X: Any
    y: Any
    held: "Data | None" = None

    @staticmethod
    def of(seed: int = 0, *, missing: bool = False, sparse: bool = False, whole: bool = False) -> "Data":
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(len(GROUPS), 3))
        y = (X[:, 0] * X[:, 1] > 0.5).astype(int)
        X[rng.random(X.shape) < 0.4] = 0.0
        if missing:
            # The label depends on missing values: a split separates them from all others.
            X[rng.random(X.shape) < 0.2] = np.nan
            y = np.isnan(X[:, 0]) ^ y
        if whole:
            X[:, 0] = np.arange(len(X)) % 7
        return Data(sp.csr_matrix(X) if sparse else X, y)


@frozen
class Case:
    """A cell of the matrix; with ``whole``, feature 0 is a whole number.

    ``refused`` matches the message if `refit` refuses the model.
    """

    library: str
    objective: str
    train: Callable[[Data], Any] = field(repr=False)
    missing: bool = False
    sparse: bool = False
    early: bool = False
    whole: bool = False
    refused: str = ""

    @property
    def name(self) -> str:
        return "-".join(
            [self.library, self.objective, *(a for a in ("missing", "sparse", "early") if getattr(self, a))]
        )


def named(kind: str, settings: dict[str, Any]) -> str:
    return "-".join([kind, *(f"{name}={value}" for name, value in settings.items())])


def of_lightgbm(objective: str, **settings: Any) -> Case:
    def train(data: Data) -> Any:
        import lightgbm

        expected = {"group": [12] * 15} if "rank" in objective else {}

        def rows(part: Data, **more: Any) -> Any:
            y = part.y + (objective == "gamma")
            return lightgbm.Dataset(part.X, y, **expected, **more)

        given = rows(data)
        held: dict[str, Any] = {}
        if data.held is not None:
            held = {"valid_sets": [rows(data.held, reference=given)], "keep_training_booster": True}
            held["callbacks"] = [lightgbm.early_stopping(3, verbose=False)]
        params = {"objective": objective, "verbosity": -1, "num_threads": 1, "num_leaves": 5, "min_data_in_leaf": 5}
        return lightgbm.train(params | settings, given, 12, **held)

    return Case("lightgbm", named(objective, settings), train)


def of_xgboost(objective: str, *, estimator: bool = False, **settings: Any) -> Case:
    def train(data: Data) -> Any:
        import xgboost

        def rows(part: Data) -> Any:
            y = (
                np.stack([part.y, part.y], axis=1)
                if "multi_strategy" in settings
                else part.y + (objective == "reg:gamma")
            )
            result = xgboost.DMatrix(part.X, y, **({"qid": GROUPS} if objective.startswith("rank") else {}))
            if objective == "survival:aft":
                result.set_float_info("label_lower_bound", part.y + 1.0)
                result.set_float_info("label_upper_bound", part.y + 1.0)
            return result

        params = {"objective": objective, "nthread": 1, "max_depth": 3, **settings}
        if estimator:
            held: dict[str, Any] = {}
            if data.held is not None:
                params["early_stopping_rounds"] = 3
                held = {"eval_set": [(data.held.X, data.held.y)], "verbose": False}
            ranks = objective.startswith("rank")
            kind = xgboost.XGBRanker if ranks else xgboost.XGBRegressor
            held |= {"eval_qid": [GROUPS]} if ranks and held else {}
            return kind(n_estimators=12, **params).fit(data.X, data.y, **({"qid": GROUPS} if ranks else {}), **held)
        stop = {} if data.held is None else {"evals": [(rows(data.held), "held")], "early_stopping_rounds": 3}
        return xgboost.train(params, rows(data), 12, verbose_eval=False, **stop)

    return Case("xgboost", named(objective + "-estimator" * estimator, settings), train)


def of_catboost(loss: str, kind: str = "CatBoostRegressor", **settings: Any) -> Case:
    def train(data: Data) -> Any:
        import catboost

        ranks = {"group_id": GROUPS} if loss in ("YetiRank", "QueryRMSE") else {}
        categories = settings.pop("cat_features", [])

        def pool(part: Data) -> Any:
            X = part.X.astype(int) if categories else part.X
            return catboost.Pool(X, part.y, cat_features=categories, **ranks)

        quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
        model = getattr(catboost, kind)(loss_function=loss, iterations=12, depth=3, **quiet, **settings)
        stop = {} if data.held is None else {"eval_set": pool(data.held), "early_stopping_rounds": 3}
        return model.fit(pool(data), **stop)

    return Case("catboost", named(loss, settings), train)


def of_scikit_learn(model: Any, **settings: Any) -> Case:
    return Case(
        "sklearn",
        named(type(model).__name__, settings),
        lambda data: pickle.loads(pickle.dumps(model)).fit(data.X, data.y),
    )


SMALL: Any = {"n_estimators": 8, "max_depth": 3, "random_state": 0}
BOOSTED: Any = SMALL | {"n_estimators": 12}
TREE = DecisionTreeRegressor(max_depth=2)


def crossed(case: Case, axes: tuple[str, ...] = ("missing", "sparse", "early")) -> Iterator[Case]:
    """Yield the case with all combinations of the axes."""
    for chosen in range(2 ** len(axes)):
        yield evolve(case, **{axis: bool(chosen >> k & 1) for k, axis in enumerate(axes)})


def matrix() -> Iterator[Case]:
    for objective in (
        *("binary", "poisson", "gamma", "tweedie", "cross_entropy", "cross_entropy_lambda"),
        *("quantile", "mape", "huber", "fair"),
    ):
        yield of_lightgbm(objective)
    for objective in ("regression", "lambdarank"):
        yield from crossed(of_lightgbm(objective))
    yield from crossed(of_lightgbm("regression", zero_as_missing=True), ("missing", "sparse"))
    yield evolve(of_lightgbm("regression", use_missing=False), missing=True)
    yield of_lightgbm("regression", reg_sqrt=True)
    yield of_lightgbm("regression", boost_from_average=False)
    yield of_lightgbm("regression", min_data_in_leaf=1000)
    yield of_lightgbm("regression", data_sample_strategy="goss")
    yield of_lightgbm("regression", boosting="dart")
    sampled = {"bagging_freq": 1, "bagging_fraction": 0.6}
    yield from crossed(of_lightgbm("binary", boosting="rf", **sampled), ("missing", "sparse", "early"))
    yield evolve(of_lightgbm("regression", linear_tree=True), refused="linear functions in its leaves")
    yield evolve(
        of_lightgbm("regression", categorical_feature=[0], min_data_per_group=1), refused="by categories", whole=True
    )
    yield evolve(of_lightgbm("multiclass", num_class=2), refused="several trees per round")

    for objective in (
        *("count:poisson", "reg:tweedie", "reg:gamma", "reg:logistic", "binary:logistic", "binary:logitraw"),
        *("binary:hinge", "survival:cox", "survival:aft", "rank:ndcg", "rank:map", "rank:pairwise"),
        *("reg:pseudohubererror", "reg:absoluteerror"),
    ):
        yield of_xgboost(objective)
    yield of_xgboost("reg:quantileerror", quantile_alpha=0.5)
    for objective, base in (("reg:squarederror", 2.0), ("binary:logistic", 0.9), ("count:poisson", 5.0)):
        yield of_xgboost(objective, base_score=base)
    yield of_xgboost("count:poisson", num_parallel_tree=3)
    yield of_xgboost("reg:squarederror", tree_method="exact", gamma=0.5)
    for estimator in (False, True):
        yield from crossed(of_xgboost("rank:ndcg", estimator=estimator))
        yield from crossed(of_xgboost("binary:logistic", estimator=estimator, num_parallel_tree=2))
    yield of_xgboost("reg:squarederror", booster="dart", rate_drop=0.4)
    yield evolve(of_xgboost("reg:squarederror", booster="gblinear"), refused="'gblinear'")
    categories = {"estimator": True, "feature_types": ["c", "q", "q"], "enable_categorical": True}
    yield evolve(of_xgboost("reg:squarederror", **categories), refused="by categories", whole=True)
    yield evolve(of_xgboost("reg:squarederror", estimator=True, missing=0.0), refused="counts 0 as missing")
    yield evolve(of_xgboost("reg:quantileerror", quantile_alpha=[0.1, 0.9]), refused="several outputs")
    yield evolve(of_xgboost("reg:squarederror", multi_strategy="multi_output_tree"), refused="several outputs")
    yield evolve(of_xgboost("multi:softprob", num_class=2), refused="several trees per round")

    for loss in ("Poisson", "Tweedie:variance_power=1.5", "Quantile", "MAE", "Huber:delta=1"):
        yield of_catboost(loss)
    for loss in ("Logloss", "CrossEntropy"):
        yield of_catboost(loss, "CatBoostClassifier")
    yield from crossed(of_catboost("RMSE"))
    yield of_catboost("RMSE", boost_from_average=False)
    yield from crossed(of_catboost("YetiRank", "CatBoostRanker"), ("missing", "sparse"))
    yield evolve(of_catboost("RMSEWithUncertainty"), refused="several trees per round")
    yield evolve(of_catboost("RMSE", cat_features=[0]), refused="by categories", whole=True)
    yield evolve(of_catboost("RMSE", grow_policy="Lossguide"), refused="not symmetric")

    for settings in (
        {"loss": "squared_error"},
        {"loss": "huber"},
        {"loss": "quantile"},
        {"init": "zero"},
        {"init": TREE},
        {"n_iter_no_change": 2, "validation_fraction": 0.4},
    ):
        for sparse in (False, True):
            yield evolve(of_scikit_learn(GradientBoostingRegressor(**BOOSTED, **settings), **settings), sparse=sparse)
    for loss in ("log_loss", "exponential"):
        yield of_scikit_learn(GradientBoostingClassifier(**BOOSTED, loss=loss), loss=loss)
    for kind in (RandomForestRegressor, ExtraTreesRegressor):
        for case in crossed(of_scikit_learn(kind(**SMALL)), ("missing", "sparse")):
            if not (case.missing and case.sparse):
                yield case
        yield of_scikit_learn(kind(**SMALL, criterion="poisson"), criterion="poisson")
    for tree in (DecisionTreeRegressor(max_depth=3), ExtraTreeRegressor(max_depth=3)):
        yield from (evolve(of_scikit_learn(tree), missing=missing) for missing in (False, True))
    yield evolve(of_scikit_learn(HistGradientBoostingRegressor(max_iter=2)), refused="scikit-learn does not publish")
    yield evolve(of_scikit_learn(BaggingRegressor(n_estimators=2)), refused="got BaggingRegressor")
    yield evolve(of_scikit_learn(RandomForestClassifier(2)), refused="got RandomForestClassifier")
    yield evolve(of_scikit_learn(Ridge()), refused="trees must be a fitted ensemble of LightGBM, .*got Ridge")
    yield evolve(of_scikit_learn(make_pipeline(Ridge())), refused="got Pipeline. Give its last step")


def native(model: Any, X: Any) -> Any:
    """Return the scores that a program with this library gets."""
    library = type(model).__module__.partition(".")[0]
    if library == "xgboost" and hasattr(model, "num_boosted_rounds"):
        return model.predict(sys.modules["xgboost"].DMatrix(X))
    if library == "catboost" and hasattr(model, "predict_proba"):
        return model.predict(X, prediction_type="RawFormulaVal")
    return getattr(model, "decision_function", model.predict)(X)


def reloaded(model: Any, folder: Path) -> Iterator[Any]:
    """Yield the model as other processes load it."""
    library = type(model).__module__.partition(".")[0]
    if library in ("lightgbm", "xgboost", "catboost"):
        path = str(folder / "model.json")
        model.save_model(path, **({"format": "json"} if library == "catboost" else {}))
        module = sys.modules[library]
        if library == "lightgbm":
            yield module.Booster(model_file=path)
        elif library == "xgboost":
            for kind in (module.Booster, module.XGBRanker, module.XGBRegressor):
                other = kind()
                other.load_model(path)
                yield other
        else:
            yield type(model)().load_model(path, format="json")
    yield pickle.loads(pickle.dumps(model))


def cases() -> list[Any]:
    """Return the cases as parameters of tests; `make test` tries one for each objective, and the refused ones."""
    return [
        pytest.param(
            case,
            marks=[pytest.mark.slow]
            * (not case.refused and (case.missing or case.sparse or case.early or "=" in case.objective)),
            id=case.name,
        )
        for case in matrix()
    ]


def trained(case: Case) -> tuple[Any, Data]:
    """Return the ensemble of a case, and its data."""
    pytest.importorskip(case.library)
    shape = {"missing": case.missing, "sparse": case.sparse, "whole": case.whole}
    held = Data.of(1, **shape)
    data = evolve(Data.of(0, **shape), held=evolve(held, y=1 - held.y) if case.early else None)
    return case.train(data), data
