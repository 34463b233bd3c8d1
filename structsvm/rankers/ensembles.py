"""Read trees from ensembles of LightGBM, XGBoost, CatBoost and scikit-learn, and write new values of their leaves.

The trees are the trees that the ensemble's ``predict`` uses, without the rounds after early stopping. A written
ensemble has no link function and no initial score, so that its ``predict`` returns sums of leaf values: a link such as
a sigmoid would round large scores to equal ones.
"""

import json
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import deepcopy
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, NamedTuple

import numpy as np
from attrs import evolve
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from structsvm.exceptions import InputError
from structsvm.foundation.types import BoolVector, Vector
from structsvm.models.leaves import LEFT, NAN_MISSING, ZERO_MISSING, Trees

_LARGEST = float(np.finfo(np.float64).max)
_MISSING = {"None": 0, "Zero": ZERO_MISSING, "NaN": NAN_MISSING}
_OF_SCIKIT_LEARN = (
    *("GradientBoostingRegressor", "GradientBoostingClassifier", "RandomForestRegressor", "ExtraTreesRegressor"),
    *("DecisionTreeRegressor", "ExtraTreeRegressor"),
)
_KINDS = f"a fitted ensemble of LightGBM, XGBoost, CatBoost or scikit-learn ({', '.join(_OF_SCIKIT_LEARN)})"
_CLASSES = "several trees per round, one for each class: a ranker has one score"
_CATEGORIES = "splits by categories, which cannot be refitted: train it on numbers alone"
_SEVERAL = "several outputs: train it on one"


class Split(NamedTuple):
    """A split; children are nodes of the tree."""

    feature: int
    threshold: float
    decision: int
    left: int
    right: int


class Ensemble(ABC):
    """A trained ensemble: the sum of the values of the leaves that a row falls into."""

    absent_is_missing: ClassVar[bool] = False
    """True if the library counts absent entries of sparse rows as missing; False if it counts them as 0."""

    n_features: int

    names: Sequence[str] | None
    """Names of the features, perhaps made by the library; None without names."""

    @property
    def constant_features(self) -> BoolVector:
        """True for features with a single value in the training data, shape (d,); False if unknown."""
        return np.zeros(self.n_features, dtype=np.bool_)

    @abstractmethod
    def trees(self) -> tuple[Trees, Vector]:
        """Return the splits and the values of the leaves, all trees one after another."""

    @abstractmethod
    def with_values(self, values: Vector) -> Any:
        """Return an ensemble of the same kind whose scores are the sums of these values."""

    @abstractmethod
    def scores(self, model: Any, X: Any) -> Vector:
        """Return the library's scores of an ensemble from `with_values`; X is dense or CSR."""


def ensemble_of(model: Any) -> Ensemble:
    """Return the ensemble of a trained model; raise InputError for other kinds, NotFittedError before a fit."""
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    library = type(model).__module__.partition(".")[0]
    if hasattr(model, "booster_") or hasattr(model, "set_leaf_output"):
        return LightGBMEnsemble(getattr(model, "booster_", model))
    if library == "xgboost":
        return XGBoostEnsemble(model)
    if library == "catboost":
        return CatBoostEnsemble(model)
    if library == "sklearn" and type(model).__name__ in _OF_SCIKIT_LEARN:
        return ScikitLearnEnsemble(model)
    raise InputError(f"trees must be {_KINDS}, got {_described(model)}")


def _described(model: Any) -> str:
    """Return the kind of a model that is not a known ensemble, with a way to a known one if there is any."""
    kind = type(model).__name__
    if isinstance(model, str | PathLike):
        return f"{str(model)!r}. Load a file first, as by lightgbm.Booster(model_file={str(model)!r})"
    if isinstance(model, Pipeline):
        return f"{kind}. Give its last step, and X as this step sees it"
    if kind.startswith("HistGradientBoosting"):
        return f"{kind}, whose trees scikit-learn does not publish; LGBMRegressor grows similar ones"
    return kind


class LightGBMEnsemble(Ensemble):
    """A ``lightgbm.Booster``."""

    def __init__(self, booster: Any) -> None:
        self.booster = booster
        # By default, LightGBM returns the trees up to the best iteration, as it predicts with them.
        self._dump = booster.dump_model()
        if self._dump["num_tree_per_iteration"] != 1:
            raise InputError(f"the LightGBM model has {_CLASSES}")
        self.n_features, self.names = int(booster.num_feature()), booster.feature_name()

    @property
    def constant_features(self) -> BoolVector:
        return np.array([name not in self._dump["feature_infos"] for name in self._dump["feature_names"]])

    @property
    def _scale(self) -> int:
        """Number by which LightGBM divides the sum of the trees."""
        return len(self._dump["tree_info"]) if self._dump.get("average_output") else 1

    def trees(self) -> tuple[Trees, Vector]:
        trees, values = _joined([_of_lightgbm(info["tree_structure"]) for info in self._dump["tree_info"]])
        return trees, values / self._scale

    def with_values(self, values: Vector) -> Any:
        text = re.sub(r"(?m)^objective=.*$", "objective=lambdarank", self.booster.model_to_string(), count=1)
        refitted = type(self.booster)(model_str=text)
        rest = iter(values.tolist())
        for tree, info in enumerate(self._dump["tree_info"]):
            for leaf in range(info["num_leaves"]):
                refitted.set_leaf_output(tree, leaf, next(rest) * self._scale)
        return refitted

    def scores(self, model: Any, X: Any) -> Vector:
        return np.asarray(model.predict(X))


def _of_lightgbm(root: dict[str, Any]) -> tuple[list[Split], list[float]]:
    """Return splits, in which a child below 0 is ``−1 − leaf``, and the values of leaves."""
    splits: dict[int, Split] = {}
    values: dict[int, float] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if "split_index" not in node:
            if "leaf_const" in node:
                raise InputError(
                    "the LightGBM model has linear functions in its leaves (linear_tree), which cannot be refitted: "
                    "train it with linear_tree=False"
                )
            values[node.get("leaf_index", 0)] = float(node["leaf_value"])
            continue
        if node["decision_type"] != "<=":
            raise InputError(f"the LightGBM model has {_CATEGORIES}")
        children = (node["left_child"], node["right_child"])
        left, right = (child.get("split_index", -1 - child.get("leaf_index", 0)) for child in children)
        decision = _MISSING[node["missing_type"]] + LEFT * bool(node["default_left"])
        splits[node["split_index"]] = Split(node["split_feature"], float(node["threshold"]), decision, left, right)
        waiting += children
    return [splits[k] for k in sorted(splits)], [values[k] for k in sorted(values)]


class XGBoostEnsemble(Ensemble):
    """An ``xgboost.Booster`` of trees; it rounds features and sums to float32."""

    absent_is_missing: ClassVar[bool] = True

    def __init__(self, model: Any) -> None:
        missing = getattr(model, "missing", None)
        if missing is not None and not np.isnan(missing):
            raise InputError(
                f"the {type(model).__name__} counts {missing:g} as missing, which the refitted Booster would not: "
                "replace this value by NaN in X, and train with missing=np.nan"
            )
        self.booster = model.get_booster() if hasattr(model, "get_booster") else model
        # Estimators predict with the rounds up to the best one, a Booster with all.
        best = getattr(model, "best_iteration", None) if self.booster is not model else None
        learner = self._read(self.booster)
        name = learner["gradient_booster"]["name"]
        if name != "gbtree":
            raise InputError(f"the XGBoost model is {name!r}: train it with booster='gbtree'")
        if int(learner["learner_model_param"]["num_class"]) > 1:
            raise InputError(f"the XGBoost model has {_CLASSES}")
        if int(learner["learner_model_param"].get("num_target", 1)) > 1:
            raise InputError(f"the XGBoost model has {_SEVERAL}")
        if best is not None:
            self._read(self.booster[: best + 1])
        self.n_features, self.names = int(learner["learner_model_param"]["num_feature"]), self.booster.feature_names

    def _read(self, booster: Any) -> Any:
        self._text = json.loads(bytes(booster.save_raw("json")))
        return self._text["learner"]

    def trees(self) -> tuple[Trees, Vector]:
        listed = self._text["learner"]["gradient_booster"]["model"]["trees"]
        trees, values = _joined([self._one(tree) for tree in listed])
        return evolve(trees, single=True), values

    def with_values(self, values: Vector) -> Any:
        text = deepcopy(self._text)
        learner = text["learner"]
        rest = iter(values.astype(np.float32).tolist())
        for tree in learner["gradient_booster"]["model"]["trees"]:
            for node, left in enumerate(tree["left_children"]):
                if left == -1:
                    tree["split_conditions"][node] = tree["base_weights"][node] = next(rest)
        param = learner["learner_model_param"]
        param["base_score"] = "[0E0]" if param["base_score"].startswith("[") else "0E0"
        if not learner["objective"]["name"].startswith("rank:"):
            learner["objective"] = {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}}
        # An estimator that loads a model with these attributes predicts with its first rounds.
        for name in ("best_iteration", "best_score"):
            learner["attributes"].pop(name, None)
        refitted = type(self.booster)()
        refitted.load_model(bytearray(json.dumps(text).encode()))
        return refitted

    def scores(self, model: Any, X: Any) -> Vector:
        import xgboost

        return np.asarray(model.predict(xgboost.DMatrix(X), validate_features=False))

    @staticmethod
    def _one(tree: dict[str, Any]) -> tuple[list[Split], list[float]]:
        if any(tree["split_type"]):
            raise InputError(f"the XGBoost model has {_CATEGORIES}")
        # XGBoost goes left below a threshold, not at it.
        below = np.nextafter(np.asarray(tree["split_conditions"], np.float32), np.float32(-np.inf)).tolist()
        decisions = [NAN_MISSING + LEFT * bool(left) for left in tree["default_left"]]
        return _of_nodes(
            tree["left_children"],
            tree["right_children"],
            tree["split_indices"],
            below,
            decisions,
            tree["split_conditions"],
        )


class CatBoostEnsemble(Ensemble):
    """A model of CatBoost with symmetric trees: all nodes of a level have the same split. Features are float32."""

    def __init__(self, model: Any) -> None:
        self.model = model
        if not model.is_fitted():
            raise NotFittedError(f"this {type(model).__name__} is not fitted yet: call its fit first")
        if model.get_cat_feature_indices():
            raise InputError(f"the CatBoost model has {_CATEGORIES}")
        if model.get_text_feature_indices() or model.get_embedding_feature_indices():
            raise InputError("the CatBoost model has features of texts or embeddings: train it on numbers alone")
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.json")
            model.save_model(str(path), format="json")
            self._text = json.loads(path.read_bytes())
        if "oblivious_trees" not in self._text:
            raise InputError("the CatBoost model has trees that are not symmetric: train it with SymmetricTree")
        if len(self._text["scale_and_bias"][1]) > 1:
            raise InputError(f"the CatBoost model has {_CLASSES}")
        self.n_features, self.names = len(model.feature_names_), model.feature_names_

    def trees(self) -> tuple[Trees, Vector]:
        features = {
            feature["feature_index"]: feature for feature in self._text["features_info"].get("float_features", ())
        }
        trees, values = _joined([self._one(tree, features) for tree in self._text["oblivious_trees"]])
        return evolve(trees, single=True), values * self._text["scale_and_bias"][0]

    def with_values(self, values: Vector) -> Any:
        text = deepcopy(self._text)
        rest = iter(values.tolist())
        for tree in text["oblivious_trees"]:
            tree["leaf_values"] = [next(rest) for _ in tree["leaf_values"]]
        text["scale_and_bias"] = [1.0, [0.0]]
        # A classifier needs its loss to predict classes; other models predict by its link.
        if not hasattr(self.model, "predict_proba"):
            text["model_info"]["params"]["flat_params"]["loss_function"] = "RMSE"
        refitted = type(self.model)()
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.json")
            path.write_text(json.dumps(text))
            refitted.load_model(str(path), format="json")
        return refitted

    def scores(self, model: Any, X: Any) -> Vector:
        raw = {"prediction_type": "RawFormulaVal"} if hasattr(model, "predict_proba") else {}
        return np.asarray(model.predict(X, **raw))

    @staticmethod
    def _one(tree: dict[str, Any], features: dict[int, dict[str, Any]]) -> tuple[list[Split], list[float]]:
        levels = tree["splits"] or []
        splits = []
        for level, split in enumerate(levels):
            about = features[split["float_feature_index"]]
            decision = NAN_MISSING + LEFT * (about["nan_value_treatment"] != "AsTrue")
            for node in range(2**level):
                children = [2 ** (level + 1) - 1 + 2 * node + right for right in (0, 1)]
                if level == len(levels) - 1:
                    # The first split is the lowest bit of a leaf's number.
                    children = [-1 - int(f"{2 * node + right:0{level + 1}b}"[::-1], 2) for right in (0, 1)]
                splits.append(Split(about["flat_feature_index"], float(split["border"]), decision, *children))
        return splits, [float(value) for value in tree["leaf_values"]]


class ScikitLearnEnsemble(Ensemble):
    """A forest, gradient boosting with exact splits, or a single tree, for one output; features become float32."""

    def __init__(self, model: Any) -> None:
        self.model = model
        stages = np.ravel(model.estimators_).tolist() if hasattr(model, "estimators_") else [model]
        if np.ndim(getattr(model, "estimators_", ())) == 2 and model.estimators_.shape[1] > 1:
            raise InputError(f"the {type(model).__name__} has {_CLASSES}")
        if any(stage.tree_.value.shape[1:] != (1, 1) for stage in stages):
            raise InputError(f"the {type(model).__name__} has {_SEVERAL}")
        self.stages: Sequence[Any] = stages
        self.n_features = int(model.n_features_in_)
        self.names = list(map(str, model.feature_names_in_)) if hasattr(model, "feature_names_in_") else None
        # A tree's value counts by this factor in the scores.
        self._rate = float(getattr(model, "learning_rate", 1.0 / len(stages)))

    def trees(self) -> tuple[Trees, Vector]:
        listed = []
        for stage in self.stages:
            tree = stage.tree_
            lost = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count, dtype=np.uint8))
            decisions = [NAN_MISSING + LEFT * bool(left) for left in lost]
            listed.append(
                _of_nodes(
                    tree.children_left, tree.children_right, tree.feature, tree.threshold, decisions, tree.value.ravel()
                )
            )
        trees, values = _joined(listed)
        return evolve(trees, single=True), values * self._rate

    def with_values(self, values: Vector) -> Any:
        refitted = deepcopy(self.model)
        if hasattr(refitted, "init_"):
            refitted.init_ = "zero"
        stages = np.ravel(refitted.estimators_).tolist() if hasattr(refitted, "estimators_") else [refitted]
        rest = iter((values / self._rate).tolist())
        for stage in stages:
            tree = stage.tree_
            for node in np.flatnonzero(tree.children_left == -1).tolist():
                tree.value[node, 0, 0] = next(rest)
        return refitted

    def scores(self, model: Any, X: Any) -> Vector:
        with warnings.catch_warnings():
            # X has no names of features, which scikit-learn would report.
            warnings.simplefilter("ignore", UserWarning)
            return np.asarray(getattr(model, "decision_function", model.predict)(X))


def _of_nodes(
    left: Iterable[int],
    right: Iterable[int],
    feature: Sequence[int],
    threshold: Sequence[float],
    decision: Sequence[int],
    value: Sequence[float],
) -> tuple[list[Split], list[float]]:
    """Return splits and values of a tree whose nodes are splits and leaves (child −1), parents first."""
    lefts, rights = (np.asarray(ends).tolist() for ends in (left, right))
    numbers, splits, leaves = [], 0, 0
    for child in lefts:
        numbers.append(splits if child != -1 else -1 - leaves)
        splits, leaves = splits + (child != -1), leaves + (child == -1)
    inner = [node for node, child in enumerate(lefts) if child != -1]
    trees = [
        Split(int(feature[k]), float(threshold[k]), decision[k], numbers[lefts[k]], numbers[rights[k]]) for k in inner
    ]
    return trees, [float(value[k]) for k, child in enumerate(lefts) if child == -1]


def _joined(listed: Sequence[tuple[list[Split], list[float]]]) -> tuple[Trees, Vector]:
    """Return one set of trees from the splits and values of each tree."""
    splits = np.cumsum([0, *(len(one) for one, _ in listed)]).astype(np.int64)
    moved = [
        split._replace(**{side: child + first for side in ("left", "right") if (child := getattr(split, side)) >= 0})
        for (one, _), first in zip(listed, splits.tolist(), strict=False)
        for split in one
    ]
    columns = [list(column) for column in zip(*moved, strict=True)] or [[], [], [], [], []]
    trees = Trees(
        splits,
        np.array(columns[0], dtype=np.int64),
        # scikit-learn separates missing values from all others by an infinite threshold.
        np.clip(np.array(columns[1], dtype=np.float64), -_LARGEST, _LARGEST),
        np.array(columns[2], dtype=np.uint8),
        np.array(columns[3], dtype=np.int64),
        np.array(columns[4], dtype=np.int64),
    )
    return trees, np.array([value for _, values in listed for value in values])
