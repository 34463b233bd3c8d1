"""Read trees from ensembles of LightGBM, XGBoost, CatBoost and scikit-learn, and write new values of their leaves."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import deepcopy
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from attrs import evolve
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector
from structsvm.models.leaves import LEFT, NAN_MISSING, ZERO_MISSING, Trees

_MISSING = {"None": 0, "Zero": ZERO_MISSING, "NaN": NAN_MISSING}
_OF_SCIKIT_LEARN = (
    *("GradientBoostingRegressor", "GradientBoostingClassifier", "RandomForestRegressor", "ExtraTreesRegressor"),
    *("DecisionTreeRegressor", "ExtraTreeRegressor"),
)
_KINDS = f"a fitted ensemble of LightGBM, XGBoost, CatBoost or scikit-learn ({', '.join(_OF_SCIKIT_LEARN)})"
_CLASSES = "several trees per round, one for each class: a ranker has one score"
_CATEGORIES = "splits by categories, which cannot be refitted: train it on numbers alone"


class Split(NamedTuple):
    """A split; children are nodes of the tree."""

    feature: int
    threshold: float
    decision: int
    left: int
    right: int


class Ensemble(ABC):
    """A trained ensemble: the sum of the values of the leaves that a row falls into."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features."""

    @abstractmethod
    def trees(self) -> tuple[Trees, Vector]:
        """Return the splits and the values of the leaves, all trees one after another."""

    @abstractmethod
    def with_values(self, values: Vector) -> Any:
        """Return an ensemble of the same kind whose scores are the sums of these values."""


def ensemble_of(model: Any) -> Ensemble:
    """Return the ensemble of a trained model; raise InputError for other kinds, NotFittedError before a fit."""
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    library = type(model).__module__.partition(".")[0]
    if hasattr(model, "booster_") or hasattr(model, "set_leaf_output"):
        return LightGBMEnsemble(getattr(model, "booster_", model))
    if library == "xgboost":
        return XGBoostEnsemble(model.get_booster() if hasattr(model, "get_booster") else model)
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

    @property
    def n_features(self) -> int:
        return int(self.booster.num_feature())

    def trees(self) -> tuple[Trees, Vector]:
        dump = self.booster.dump_model()
        if dump["num_tree_per_iteration"] != 1:
            raise InputError(f"the LightGBM model has {_CLASSES}")
        listed = [_of_lightgbm(info["tree_structure"]) for info in dump["tree_info"]]
        scale = 1.0 / len(listed) if dump.get("average_output") else 1.0
        trees, values = _joined(listed)
        return trees, values * scale

    def with_values(self, values: Vector) -> Any:
        text = self.booster.model_to_string(num_iteration=-1)
        made = type(self.booster)(model_str=text)
        scale = made.num_trees() if made.dump_model(num_iteration=1).get("average_output") else 1
        place = 0
        for tree, info in enumerate(self.booster.dump_model()["tree_info"]):
            for leaf in range(info["num_leaves"]):
                made.set_leaf_output(tree, leaf, float(values[place]) * scale)
                place += 1
        return made


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
        left, right = (each.get("split_index", -1 - each.get("leaf_index", 0)) for each in children)
        decision = _MISSING[node["missing_type"]] + LEFT * bool(node["default_left"])
        splits[node["split_index"]] = Split(node["split_feature"], float(node["threshold"]), decision, left, right)
        waiting += children
    return [splits[k] for k in sorted(splits)], [values[k] for k in sorted(values)]


class XGBoostEnsemble(Ensemble):
    """An ``xgboost.Booster`` of trees; it rounds features and sums to float32."""

    def __init__(self, booster: Any) -> None:
        self.booster = booster
        self._text = json.loads(bytes(booster.save_raw("json")))
        learner = self._text["learner"]
        if learner["gradient_booster"]["name"] != "gbtree":
            raise InputError(f"the XGBoost model is {learner['gradient_booster']['name']!r}: it must be 'gbtree'")
        if int(learner["learner_model_param"]["num_class"]) > 1:
            raise InputError(f"the XGBoost model has {_CLASSES}")

    @property
    def n_features(self) -> int:
        return int(self._text["learner"]["learner_model_param"]["num_feature"])

    @property
    def _trees(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self._text["learner"]["gradient_booster"]["model"]["trees"]
        return listed

    def trees(self) -> tuple[Trees, Vector]:
        trees, values = _joined([self._one(tree) for tree in self._trees])
        return evolve(trees, single=True), values

    def with_values(self, values: Vector) -> Any:
        text = deepcopy(self._text)
        place = 0
        for tree in text["learner"]["gradient_booster"]["model"]["trees"]:
            for node, left in enumerate(tree["left_children"]):
                if left == -1:
                    tree["split_conditions"][node] = tree["base_weights"][node] = float(np.float32(values[place]))
                    place += 1
        param = text["learner"]["learner_model_param"]
        param["base_score"] = "[0E0]" if param["base_score"].startswith("[") else "0E0"
        made = type(self.booster)()
        made.load_model(bytearray(json.dumps(text).encode()))
        return made

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
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.json")
            model.save_model(str(path), format="json")
            self._text = json.loads(path.read_bytes())
        if "oblivious_trees" not in self._text:
            raise InputError("the CatBoost model has trees that are not symmetric: train it with SymmetricTree")
        if len(self._text["scale_and_bias"][1]) > 1:
            raise InputError(f"the CatBoost model has {_CLASSES}")

    @property
    def n_features(self) -> int:
        return len(self.model.feature_names_)

    def trees(self) -> tuple[Trees, Vector]:
        features = {each["feature_index"]: each for each in self._text["features_info"].get("float_features", ())}
        trees, values = _joined([self._one(tree, features) for tree in self._text["oblivious_trees"]])
        return evolve(trees, single=True), values * self._text["scale_and_bias"][0]

    def with_values(self, values: Vector) -> Any:
        text = deepcopy(self._text)
        place = 0
        for tree in text["oblivious_trees"]:
            leaves = len(tree["leaf_values"])
            tree["leaf_values"] = np.asarray(values[place : place + leaves]).tolist()
            place += leaves
        text["scale_and_bias"] = [1.0, [0.0]]
        made = type(self.model)()
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.json")
            path.write_text(json.dumps(text))
            made.load_model(str(path), format="json")
        return made

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
            raise InputError(f"the {type(model).__name__} has several outputs: train it on one")
        self.stages: Sequence[Any] = stages

    @property
    def n_features(self) -> int:
        return int(self.model.n_features_in_)

    @property
    def _rate(self) -> float:
        """Factor of a tree's value in the scores."""
        return float(getattr(self.model, "learning_rate", 1.0 / len(self.stages)))

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
        made = deepcopy(self.model)
        stages = np.ravel(made.estimators_).tolist() if hasattr(made, "estimators_") else [made]
        place = 0
        for stage in stages:
            tree = stage.tree_
            for node in np.flatnonzero(tree.children_left == -1).tolist():
                tree.value[node, 0, 0] = values[place] / self._rate
                place += 1
        return made


def _of_nodes(
    left: Iterable[int],
    right: Iterable[int],
    feature: Sequence[int],
    threshold: Sequence[float],
    decision: Sequence[int],
    value: Sequence[float],
) -> tuple[list[Split], list[float]]:
    """Return splits and values of a tree whose nodes are splits and leaves (child −1), parents first."""
    lefts, rights = (np.asarray(each).tolist() for each in (left, right))
    numbers, splits, leaves = [], 0, 0
    for child in lefts:
        numbers.append(splits if child != -1 else -1 - leaves)
        splits, leaves = splits + (child != -1), leaves + (child == -1)
    inner = [node for node, child in enumerate(lefts) if child != -1]
    made = [
        Split(int(feature[k]), float(threshold[k]), decision[k], numbers[lefts[k]], numbers[rights[k]]) for k in inner
    ]
    return made, [float(value[k]) for k, child in enumerate(lefts) if child == -1]


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
        np.array(columns[1], dtype=np.float64),
        np.array(columns[2], dtype=np.uint8),
        np.array(columns[3], dtype=np.int64),
        np.array(columns[4], dtype=np.int64),
    )
    return trees, np.array([value for _, values in listed for value in values])
