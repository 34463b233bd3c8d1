"""Read trees from ensembles of LightGBM, XGBoost, CatBoost and scikit-learn, and write new values of their leaves.

The trees are the trees that the ensemble's ``predict`` uses, without the rounds after early stopping. A written
ensemble has no link function and no initial score, so that its ``predict`` returns sums of leaf values: a link such as
a sigmoid would round large scores to equal ones.
"""

import json
import os
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from importlib import import_module
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, NamedTuple

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError, ModelFileError, NotInstalledError, StructSVMError
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import as_path
from structsvm.foundation.types import BoolVector, IntVector, Vector
from structsvm.models.drift import FeatureStatistics
from structsvm.models.leaves import LEFT, NAN_MISSING, ZERO, LeafModel, Trees
from structsvm.models.training import Training
from structsvm.models.trees import TreeModel, fields_of_tree, split_text

_LARGEST = float(np.finfo(np.float64).max)
_OF_SCIKIT_LEARN = (
    *("GradientBoostingRegressor", "GradientBoostingClassifier", "RandomForestRegressor", "ExtraTreesRegressor"),
    *("DecisionTreeRegressor", "ExtraTreeRegressor"),
)
_KINDS = f"a fitted ensemble of LightGBM, XGBoost, CatBoost or scikit-learn ({', '.join(_OF_SCIKIT_LEARN)})"
_CLASSES = "several trees per round, one for each class: a ranker has one score"
_CATEGORIES = (
    "splits by categories, which trees of numbers cannot represent: train it on numbers, such as one-hot columns"
)
_SEVERAL = "several outputs: train it on one"

_LIBRARIES = {
    "treeversion=": "lightgbm",
    "CBM1": "catboost",
    "{L": "xgboost",
    '{"learner"': "xgboost",
    '{"features_info"': "catboost",
}
"""Libraries by the beginnings of their files, without white space."""

_LONGEST_START = 256
_SPLITS = ("split_feature", "threshold", "decision_type", "left_child", "right_child")
"""Columns of splits in LightGBM's text, in the order of `Trees`."""

_WEIGHT = 2.0**20
"""Sum of the weights of the leaves of a tree, unless they are numbers of rows."""


def from_ensemble(model: Any, X: Any = None, qid: ArrayLike | None = None) -> LeafModel:
    """Convert a trained ensemble of LightGBM, XGBoost, CatBoost or scikit-learn, with its trees and leaves as they are.

    The result scores with NumPy alone, and can be explained, calibrated, compared, saved and exported like a ranker of
    this library. Its scores are the scores of the ensemble before a link such as a sigmoid: LightGBM's ``raw_score``,
    XGBoost's ``output_margin``, CatBoost's ``RawFormulaVal`` and scikit-learn's ``decision_function``. It has the trees
    that the ensemble predicts with, so no trees after the best round of early stopping. Absent entries of sparse rows
    are 0; XGBoost counts them as missing.

    Parameters
    ----------
    model : a fitted ensemble of the kinds that `structsvm.rankers.refit` takes; or the path of a file that LightGBM
        (text), XGBoost (JSON or UBJSON) or CatBoost (cbm or JSON) wrote. XGBoost and CatBoost read their files, so use
        only files from sources that you know.
    X, qid : features of the training documents, and their query ids, for `TrainedModel.check`; None: without statistics
        of the features, `check` raises an error.

    Raises
    ------
    InputError : the model is of another kind, or has categories, several outputs or linear functions in its leaves.
    ModelFileError : the file is damaged.
    NotFittedError : the model is not fitted.
    NotInstalledError : XGBoost or CatBoost, which wrote the file, is missing.

    Examples
    --------
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]], [0, 1, 2]
    >>> boosted = GradientBoostingRegressor(n_estimators=5).fit(X, y)
    >>> model = from_ensemble(boosted)
    >>> (model.predict(X) == boosted.predict(X)).tolist()
    [True, True, True]
    """
    with _errors_of(model):
        ensemble = ensemble_of(model)
        trees, values, counts = ensemble.trees()
        constant = ensemble.constant()
    if not np.isfinite(values).all():
        raise InputError(f"the leaves of this {ensemble.title} must be finite: train it on finite labels")
    if constant or not len(values):
        trees = evolve(trees, splits=np.concatenate([[0], trees.splits]))
        values, counts = np.concatenate([[constant], values]), np.concatenate([[0], counts])
    converted = LeafModel(
        trees=trees,
        values=values,
        counts=counts,
        n_features=ensemble.n_features,
        feature_names=ensemble.chosen_names,
        training=Training(ensemble.title),
    )
    if X is None:
        return converted
    rows = converted.checked(X)
    statistics = FeatureStatistics.of(rows)
    if statistics is None:
        return converted
    if qid is not None:
        statistics = statistics.with_queries(Queries.of(qid, rows.shape[0]).sizes)
    return evolve(converted, training=evolve(converted.training, arrays=statistics.arrays()))


class Ensemble(ABC):
    """A trained ensemble: the sum of the values of the leaves that a row falls into."""

    absent_is_missing: ClassVar[bool] = False
    """True if the library counts absent entries of sparse rows as missing; False if it counts them as 0."""

    n_features: int

    names: Sequence[str] | None
    """Names of the features, perhaps made by the library; None without names."""

    title: str = "lightgbm.Booster"
    """Name of the kind of the ensemble, with its library."""

    @property
    def chosen_names(self) -> tuple[str, ...] | None:
        """Names that the user chose; None if the library numbered the features."""
        numbers = [name.removeprefix("Column_") for name in self.names or ()]
        return None if numbers == [str(k) for k in range(len(numbers))] else tuple(self.names or ())

    @property
    def constant_features(self) -> BoolVector:
        """True for features with a single value in the training data, shape (d,); False if unknown."""
        return np.zeros(self.n_features, dtype=np.bool_)

    @abstractmethod
    def trees(self) -> tuple[Trees, Vector, IntVector]:
        """Return the splits, and the values and numbers of training rows of the leaves, all trees one after another."""

    def constant(self) -> float:
        """Return the number that the library adds to the sums of values."""
        return 0.0

    @abstractmethod
    def with_values(self, values: Vector) -> Any:
        """Return an ensemble of the same kind whose scores are the sums of these values."""

    @abstractmethod
    def scores(self, model: Any, X: Any) -> Vector:
        """Return the library's scores of an ensemble from `with_values`; X is dense or CSR."""


@contextmanager
def _errors_of(model: Any) -> Iterator[None]:
    """Turn errors of libraries, and of malformed trees, into ModelFileError if the model is a file."""
    try:
        yield
    except StructSVMError:
        raise
    # Libraries have own classes of errors.
    except Exception as error:
        if not isinstance(model, str | PathLike):
            raise
        first = str(error).partition("\n")[0]
        raise ModelFileError(f"{model} is damaged, or from an unknown version: {first}") from error


def ensemble_of(model: Any) -> Ensemble:
    """Return the ensemble of a trained model or of a file; raise InputError for others, NotFittedError before a fit."""
    if isinstance(model, str | PathLike):
        with _errors_of(model):
            return _of_file(as_path("trees", model))
    if isinstance(model, TreeModel):
        return LightGBMEnsemble(model.text, model.trees)
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    kind = type(model)
    library = kind.__module__.partition(".")[0]
    if hasattr(model, "booster_") or hasattr(model, "set_leaf_output"):
        # By default, LightGBM returns the trees up to the best iteration, as it predicts with them.
        ensemble: Ensemble = LightGBMEnsemble(getattr(model, "booster_", model).model_to_string())
    elif library == "xgboost":
        ensemble = XGBoostEnsemble(model)
    elif library == "catboost":
        ensemble = CatBoostEnsemble(model)
    elif library == "sklearn" and kind.__name__ in _OF_SCIKIT_LEARN:
        ensemble = ScikitLearnEnsemble(model)
    else:
        raise InputError(f"trees must be {_KINDS}, got {_described(kind.__name__)}")
    ensemble.title = f"{library}.{kind.__name__}"
    return ensemble


def library_of(path: Path) -> str | None:
    """Return the library that wrote a file of trees; None for other files, and for files that cannot be read."""
    # An open call would wait for the writer of a pipe.
    if not path.is_file() or not os.access(path, os.R_OK):
        return None
    with path.open("rb") as file:
        start = "".join(file.read(_LONGEST_START).decode("latin-1").split())
    return next((library for beginning, library in _LIBRARIES.items() if start.startswith(beginning)), None)


def _of_file(path: Path) -> Ensemble:
    """Return the ensemble in a file; XGBoost and CatBoost read their own files."""
    library = library_of(path)
    if library is None:
        formats = "LightGBM (text), XGBoost (JSON, UBJSON) or CatBoost (cbm, JSON)"
        raise InputError(
            f"{path} must be a model file of {formats}: give the path of such a file, or a fitted ensemble"
        )
    content = path.read_bytes()
    if library == "lightgbm":
        return LightGBMEnsemble(content.decode())
    try:
        module = import_module(library)
    except ImportError as error:
        raise NotInstalledError(f"{path} is a model of {library}, which reads it: pip install {library}") from error
    if library == "catboost":
        form = "cbm" if content.startswith(b"CBM1") else "json"
        return ensemble_of(module.CatBoost().load_model(str(path), format=form))
    booster = module.Booster(model_file=bytearray(content))
    best = booster.attributes().get("best_iteration")
    if best is not None and int(best) + 1 < booster.num_boosted_rounds():
        raise InputError(
            f"{path} has {booster.num_boosted_rounds()} rounds; XGBRanker and XGBRegressor predict with the first "
            f"{int(best) + 1}, and Booster with all: load it with the class that you score with, and pass the result "
            "to structsvm.models.from_ensemble"
        )
    return ensemble_of(booster)


def _described(kind: str) -> str:
    """Return the kind of a model that is not a known ensemble, with a way to a known one if there is any."""
    if kind == "Pipeline":
        return f"{kind}. Give its last step, and X as this step sees it"
    if kind.startswith("HistGradientBoosting"):
        return f"{kind}, whose trees scikit-learn does not publish; LGBMRegressor grows similar ones"
    return kind


class LightGBMEnsemble(Ensemble):
    """A model in LightGBM's text, which is parsed here: LightGBM's parser does not validate its input."""

    def __init__(self, text: str, rounds: int | None = None) -> None:
        """Parse the first trees of a text, None: all."""
        self._text = text = text.replace("\r\n", "\n")
        self._head, texts = split_text(text)
        if self._head["num_tree_per_iteration"] != "1":
            raise InputError(f"the LightGBM model has {_CLASSES}")
        if re.search(r"(?m)^num_cat=[1-9]", text):
            raise InputError(f"the LightGBM model has {_CATEGORIES}")
        if re.search(r"(?m)^is_linear=1", text):
            raise InputError(
                "the LightGBM model has linear functions in its leaves (linear_tree), which have no single value: "
                "train it with linear_tree=False"
            )
        self.n_features, self.names = int(self._head["max_feature_idx"]) + 1, self._head["feature_names"].split(" ")
        # Other fields, such as gains, may be infinite.
        names = (*_SPLITS, "leaf_value", "leaf_count", "shrinkage")
        self._trees = [
            fields_of_tree(text, number, self.n_features, names) for number, text in enumerate(texts[:rounds])
        ]

    @property
    def constant_features(self) -> BoolVector:
        return np.array([info == "none" for info in self._head["feature_infos"].split(" ")])

    @property
    def _scale(self) -> int:
        """Number by which LightGBM divides the sum of the trees."""
        return len(self._trees) if "average_output" in self._head else 1

    def trees(self) -> tuple[Trees, Vector, IntVector]:
        trees, values, counts = _joined([self._one(leaves, fields) for leaves, fields in self._trees])
        # LightGBM reads values up to ZERO as 0.
        threshold = np.where(trees.threshold >= 0.0, np.maximum(trees.threshold, ZERO), trees.threshold)
        threshold = np.where(threshold < 0.0, np.minimum(threshold, np.nextafter(-ZERO, -1.0)), threshold)
        return evolve(trees, threshold=threshold), values / self._scale, counts

    @staticmethod
    def _one(leaves: int, fields: dict[str, Any]) -> "_Tree":
        splits = [fields[name] if leaves > 1 else np.zeros(0) for name in _SPLITS]
        return _Tree._make([*splits, fields["leaf_value"], fields.get("leaf_count", np.zeros(leaves))])

    def with_values(self, values: Vector) -> Any:
        from lightgbm import Booster

        refitted = Booster(model_str=re.sub(r"(?m)^objective=.*$", "objective=lambdarank", self._text, count=1))
        rest = iter(values.tolist())
        for tree, (leaves, _) in enumerate(self._trees):
            for leaf in range(leaves):
                refitted.set_leaf_output(tree, leaf, next(rest) * self._scale)
        return refitted

    def scores(self, model: Any, X: Any) -> Vector:
        return np.asarray(model.predict(X))


class XGBoostEnsemble(Ensemble):
    """An ``xgboost.Booster`` of trees; it rounds features and sums to float32."""

    absent_is_missing: ClassVar[bool] = True

    def __init__(self, model: Any) -> None:
        missing = getattr(model, "missing", None)
        if missing is not None and not np.isnan(missing):
            raise InputError(
                f"the {type(model).__name__} counts {missing:g} as missing, which its trees do not: replace this value "
                "by NaN in X, and train with missing=np.nan"
            )
        self.booster = model.get_booster() if hasattr(model, "get_booster") else model
        # Estimators predict with the rounds up to the best one, a Booster with all.
        best = getattr(model, "best_iteration", None) if self.booster is not model else None
        learner = self._read(self.booster)
        if learner["gradient_booster"]["name"] == "gblinear":
            raise InputError("the XGBoost model is 'gblinear', a weighted sum: train a Ranker, or booster='gbtree'")
        if int(learner["learner_model_param"]["num_class"]) > 1:
            raise InputError(f"the XGBoost model has {_CLASSES}")
        if int(learner["learner_model_param"].get("num_target", 1)) > 1:
            raise InputError(f"the XGBoost model has {_SEVERAL}")
        if best is not None:
            self._read(self.booster[: best + 1])
        self.n_features, self.names = int(learner["learner_model_param"]["num_feature"]), self.booster.feature_names

    def _read(self, booster: Any) -> Any:
        self._text: dict[str, Any] = json.loads(bytes(booster.save_raw("json")))
        return self._text["learner"]

    @staticmethod
    def _grown(text: dict[str, Any]) -> tuple[dict[str, Any], list[float] | None]:
        """Return the model of trees, and the factors of trees that "dart" dropped; None without such factors."""
        grower = text["learner"]["gradient_booster"]
        grown: dict[str, Any] = grower.get("gbtree", grower)["model"]
        return grown, grower.get("weight_drop")

    def trees(self) -> tuple[Trees, Vector, IntVector]:
        grown, factors = self._grown(self._text)
        listed = [self._one(tree) for tree in grown["trees"]]
        trees, values, counts = _joined(listed)
        if factors is not None:
            values = values * np.repeat(factors, [len(tree.value) for tree in listed])
        return evolve(trees, single=True), values, counts

    def constant(self) -> float:
        """Return the margin of the base score, which the library computes, as it depends on the objective."""
        _, values, _ = self.trees()
        row = np.zeros((1, self.n_features))
        return float(self._scores(self._loaded(self._text_with(0.0 * values)), row, output_margin=True)[0])

    def _text_with(self, values: Vector) -> dict[str, Any]:
        """Return the text of the model with other values of leaves, without factors of trees."""
        text = deepcopy(self._text)
        grown, factors = self._grown(text)
        if factors is not None:
            factors[:] = [1.0] * len(factors)
        rest = iter(values.astype(np.float32).tolist())
        for tree in grown["trees"]:
            for node in _nodes_of(tree["left_children"], tree["right_children"]):
                if tree["left_children"][node] == -1:
                    tree["split_conditions"][node] = tree["base_weights"][node] = next(rest)
        return text

    def with_values(self, values: Vector) -> Any:
        text = self._text_with(values)
        learner = text["learner"]
        param = learner["learner_model_param"]
        param["base_score"] = "[0E0]" if param["base_score"].startswith("[") else "0E0"
        if not learner["objective"]["name"].startswith("rank:"):
            learner["objective"] = {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}}
        # An estimator that loads a model with these attributes predicts with its first rounds.
        for name in ("best_iteration", "best_score"):
            learner["attributes"].pop(name, None)
        return self._loaded(text)

    def _loaded(self, text: dict[str, Any]) -> Any:
        return type(self.booster)(model_file=bytearray(json.dumps(text).encode()))

    def scores(self, model: Any, X: Any) -> Vector:
        return self._scores(model, X)

    @staticmethod
    def _scores(model: Any, X: Any, **settings: Any) -> Vector:
        import xgboost

        return np.asarray(model.predict(xgboost.DMatrix(X), validate_features=False, **settings))

    @staticmethod
    def _one(tree: dict[str, Any]) -> "_Tree":
        if any(tree["split_type"]):
            raise InputError(f"the XGBoost model has {_CATEGORIES}")
        # XGBoost goes left below a threshold, not at it.
        below = np.nextafter(np.asarray(tree["split_conditions"], np.float32), np.float32(-np.inf))
        return _of_nodes(
            np.array(tree["left_children"]),
            np.array(tree["right_children"]),
            np.array(tree["split_indices"]),
            below,
            NAN_MISSING + LEFT * np.array(tree["default_left"]),
            np.array(tree["split_conditions"]),
            np.array(tree["sum_hessian"]),
        )


class CatBoostEnsemble(Ensemble):
    """A model of CatBoost with symmetric trees: all nodes of a level have the same split. Features are float32."""

    def __init__(self, model: Any) -> None:
        self.model = model
        if not model.is_fitted():
            from sklearn.exceptions import NotFittedError

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

    def trees(self) -> tuple[Trees, Vector, IntVector]:
        features = {
            feature["feature_index"]: feature for feature in self._text["features_info"].get("float_features", ())
        }
        trees, values, counts = _joined([self._one(tree, features) for tree in self._text["oblivious_trees"]])
        return evolve(trees, single=True), values * self._text["scale_and_bias"][0], counts

    def constant(self) -> float:
        return float(self._text["scale_and_bias"][1][0])

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
    def _one(tree: dict[str, Any], features: dict[int, dict[str, Any]]) -> "_Tree":
        levels = tree["splits"] or []
        depth, numbers = len(levels), np.arange(2 ** len(levels))
        about = [features[split["float_feature_index"]] for split in levels]
        columns = (
            [feature["flat_feature_index"] for feature in about],
            [split["border"] for split in levels],
            [NAN_MISSING + LEFT * (feature["nan_value_treatment"] != "AsTrue") for feature in about],
        )
        # The first split is the lowest bit of a leaf's number.
        leaf = (numbers[:, None] >> np.arange(depth) & 1) @ (1 << np.arange(depth)[::-1])
        ends = np.concatenate([numbers[:-1], -1 - leaf])
        left, right = ends[2 * numbers[:-1] + 1], ends[2 * numbers[:-1] + 2]
        leaves = np.array(tree["leaf_values"]), np.array(tree.get("leaf_weights", np.zeros(len(numbers))))
        return _Tree._make([*(np.repeat(column, 2 ** np.arange(depth)) for column in columns), left, right, *leaves])


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

    def trees(self) -> tuple[Trees, Vector, IntVector]:
        listed = []
        for stage in self.stages:
            tree = stage.tree_
            lost = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count, dtype=np.uint8))
            listed.append(
                _of_nodes(
                    tree.children_left,
                    tree.children_right,
                    tree.feature,
                    tree.threshold,
                    NAN_MISSING + LEFT * (lost != 0),
                    tree.value.ravel(),
                    tree.weighted_n_node_samples,
                )
            )
        trees, values, counts = _joined(listed)
        return evolve(trees, single=True), values * self._rate, counts

    def constant(self) -> float:
        init = getattr(self.model, "init_", "zero")
        if isinstance(init, str):
            return 0.0
        if type(init).__name__ not in ("DummyRegressor", "DummyClassifier"):
            raise InputError(
                f"the {type(self.model).__name__} adds predictions of a {type(init).__name__} (init=) to its trees: "
                "train it with init=None or init='zero'"
            )
        initial = copy(self.model)
        initial.learning_rate = 0.0
        return float(self.scores(initial, np.zeros((1, self.n_features)))[0])

    def with_values(self, values: Vector) -> Any:
        refitted = deepcopy(self.model)
        if hasattr(refitted, "init_"):
            refitted.init_ = "zero"
        stages = np.ravel(refitted.estimators_).tolist() if hasattr(refitted, "estimators_") else [refitted]
        rest = iter((values / self._rate).tolist())
        for stage in stages:
            tree = stage.tree_
            for node in _nodes_of(tree.children_left.tolist(), tree.children_right.tolist()):
                if tree.children_left[node] == -1:
                    tree.value[node, 0, 0] = next(rest)
        return refitted

    def scores(self, model: Any, X: Any) -> Vector:
        with warnings.catch_warnings():
            # X has no names of features, which scikit-learn would report.
            warnings.simplefilter("ignore", UserWarning)
            return np.asarray(getattr(model, "decision_function", model.predict)(X))


class _Tree(NamedTuple):
    """Columns of the splits of a tree, as in `Trees`; values of its leaves, and weights of their training rows."""

    feature: NDArray[Any]
    threshold: NDArray[Any]
    decision: NDArray[Any]
    left: NDArray[Any]
    right: NDArray[Any]
    value: NDArray[Any]
    weight: NDArray[Any]


def _nodes_of(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """Return the nodes of a tree, parents first, without the pruned nodes that XGBoost stores as well."""
    nodes = [0]
    for node in nodes:
        if left[node] != -1:
            nodes += [left[node], right[node]]
    return nodes


def _of_nodes(left: NDArray[Any], right: NDArray[Any], *columns: NDArray[Any]) -> _Tree:
    """Return a tree whose nodes are splits and leaves (child −1); columns are as in `_Tree`."""
    nodes = _nodes_of(left.tolist(), right.tolist())
    numbers = np.zeros(len(left), dtype=np.int64)
    left, right, *splits, value, weight = (column[nodes] for column in (left, right, *columns))
    inner = left != -1
    numbers[nodes] = np.where(inner, np.cumsum(inner) - 1, -np.cumsum(~inner))
    children = [numbers[ends[inner]] for ends in (left, right)]
    return _Tree._make([*(column[inner] for column in splits), *children, value[~inner], weight[~inner]])


def _joined(listed: Sequence[_Tree]) -> tuple[Trees, Vector, IntVector]:
    """Return one set of trees, with the values and counts of all leaves."""
    sizes = [len(tree.feature) for tree in listed]
    splits = np.cumsum([0, *sizes]).astype(np.int64)
    listed = [tree._replace(weight=_counts(tree.weight)) for tree in listed]
    columns = [np.concatenate([np.zeros(0), *column]) for column in zip(*listed, strict=True)] or [np.zeros(0)] * 7
    feature, threshold, decision, left, right, values, counts = columns
    first = np.repeat(splits[:-1], sizes)
    left, right = (np.where(ends >= 0, ends + first, ends).astype(np.int64) for ends in (left, right))
    # An infinite threshold separates missing values from all others.
    threshold = np.clip(threshold, -_LARGEST, _LARGEST)
    trees = Trees(splits, feature.astype(np.int64), threshold, decision.astype(np.uint8), left, right)
    return trees, values, counts.astype(np.int64)


def _counts(weights: NDArray[Any]) -> Vector:
    """Return whole numbers in proportion to the weights of leaves; numbers of rows stay."""
    # Sums of second derivatives of a custom objective may be negative or NaN.
    weights = np.nan_to_num(np.maximum(weights, 0.0))
    if (weights != np.rint(weights)).any():
        weights = weights * (_WEIGHT / weights.sum())
    return np.asarray(np.rint(weights))
