"""Write linear models and trees for Learning to Rank in Solr, Elasticsearch and OpenSearch, which compute in float32.

https://solr.apache.org/guide/solr/latest/query-guide/learning-to-rank.html and
https://elasticsearch-learning-to-rank.readthedocs.io/en/latest/training-models.html.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.features.scaling.scalings import StandardScaling
from structsvm.models import LinearModel
from structsvm.models.export.base import Format, names_for, require_float32, write_json
from structsvm.models.leaves import LeafModel, largest_float32

_SLACK = np.float32(1e-6)
"""Number that Solr adds to thresholds."""


class Solr(Format):
    """JSON of a ``LinearModel`` for Solr's model store, whose features have the names in the feature store.

    With ``normalize="standard"``, each feature has a ``StandardNormalizer``, whose numbers Solr reads as text.
    """

    constant = False
    standard = True
    missing = False

    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        require_float32("Solr", model.coef)
        names = names_for("Solr", model)
        features: list[dict[str, Any]] = [{"name": name} for name in names]
        if isinstance(model.scaling, StandardScaling):
            for feature, mean, deviation in zip(features, *model.scaling.listed, strict=True):
                params = {"avg": repr(mean), "std": repr(deviation)}
                feature["norm"] = {"class": "org.apache.solr.ltr.norm.StandardNormalizer", "params": params}
        weights = dict(zip(names, model.coef.tolist(), strict=True))
        self._write(path, model_name, "LinearModel", features, {"weights": weights})

    def write_trees(self, model: LeafModel, path: Path, model_name: str) -> None:
        """Write a ``MultipleAdditiveTreesModel``, whose numbers are text, as old versions of Solr need."""
        names = _require_leaves_alone("Solr", model)
        below = largest_float32(model.trees.threshold)
        thresholds = below - _SLACK
        for _ in range(2):
            thresholds = np.where(thresholds + _SLACK > below, np.nextafter(thresholds, -np.inf), thresholds)
            with np.errstate(over="ignore"):
                up = np.nextafter(thresholds, np.float32(np.inf))
            thresholds = np.where(up + _SLACK <= below, up, thresholds)
        trees = [{"weight": "1", "root": root} for root in self._roots(model, names, thresholds)]
        features = [{"name": name} for name in names]
        self._write(path, model_name, "MultipleAdditiveTreesModel", features, {"trees": trees})

    @staticmethod
    def _write(path: Path, name: str, kind: str, features: list[dict[str, Any]], params: dict[str, Any]) -> None:
        kind = f"org.apache.solr.ltr.model.{kind}"
        write_json(path, {"class": kind, "name": name, "features": features, "params": params})

    @staticmethod
    def _roots(model: LeafModel, names: tuple[str, ...], thresholds: NDArray[np.float32]) -> list[Any]:
        def split(node: int, left: Any, right: Any) -> Any:
            feature, threshold = names[model.trees.feature[node]], str(thresholds[node])
            return {"feature": feature, "threshold": threshold, "left": left, "right": right}

        return _nested(model, lambda _number, value: {"value": str(np.float32(value))}, split)


class Elasticsearch(Format):
    """JSON of a ``model/linear``, a body for ``_createmodel`` of a feature set with the same names.

    With ``normalize="standard"``, each feature has the feature normalizer ``standard``.
    """

    constant = False
    standard = True
    missing = False

    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        require_float32("Elasticsearch", model.coef)
        names = names_for("Elasticsearch", model)
        content: dict[str, Any] = {"type": "model/linear"}
        if isinstance(model.scaling, StandardScaling):
            content["feature_normalizers"] = {
                name: {"standard": {"mean": mean, "standard_deviation": deviation}}
                for name, mean, deviation in zip(names, *model.scaling.listed, strict=True)
            }
        content["definition"] = json.dumps(dict(zip(names, model.coef.tolist(), strict=True)))
        write_json(path, {"model": {"name": model_name, "model": content}})

    def write_trees(self, model: LeafModel, path: Path, model_name: str) -> None:
        """Write a ``model/xgboost+json``, whose splits go left below a threshold, not at it."""
        names, trees = _require_leaves_alone("Elasticsearch", model), model.trees
        with np.errstate(over="ignore"):
            above = np.nextafter(largest_float32(trees.threshold), np.float32(np.inf))
        above = np.minimum(above, np.finfo(np.float32).max)
        missing_left, depths = trees.missing_left, trees.depths()

        def split(node: int, left: Any, right: Any) -> Any:
            first = left if missing_left[node] else right
            return {
                "nodeid": node,
                "depth": int(depths[node]),
                "split": names[trees.feature[node]],
                "split_condition": float(above[node]),
                "yes": left["nodeid"],
                "no": right["nodeid"],
                "missing": first["nodeid"],
                "children": [left, right],
            }

        splits = len(trees.feature)
        roots = _nested(model, lambda number, value: {"nodeid": splits + number, "leaf": float(value)}, split)
        content = {"type": "model/xgboost+json", "definition": json.dumps(roots)}
        write_json(path, {"model": {"name": model_name, "model": content}})


def _require_leaves_alone(format: str, model: LeafModel) -> tuple[str, ...]:
    """Return the names of the features; refuse models that the format of trees cannot represent."""
    if model.linear is not None:
        raise InputError(
            f"{format} takes trees or weights of features, and this {model.title} has both: train with features=False "
            '(--ranker "trees(features=False)"), or export as lightgbm or onnx'
        )
    if model.trees.zeros_apart.any():
        raise InputError(f"{format} compares zeros with thresholds, and this model counts them as missing")
    require_float32(format, model.values)
    return names_for(format, model)


def _nested(model: LeafModel, leaf: Callable[[int, float], Any], split: Callable[[int, Any, Any], Any]) -> list[Any]:
    """Return the root of each tree, made of its leaves, numbered through all trees, and of its splits."""
    trees = model.trees
    first = trees.offsets[trees.tree_of_split()].tolist()
    left, right = trees.left.tolist(), trees.right.tolist()
    subtrees: dict[int, Any] = {}

    def below(node: int, child: int) -> Any:
        number = first[node] - 1 - child
        return subtrees.pop(child) if child >= 0 else leaf(number, model.values[number])

    # A child comes after its parent.
    for node in range(len(left) - 1, -1, -1):
        subtrees[node] = split(node, below(node, left[node]), below(node, right[node]))
    return [
        subtrees[root] if root < end else leaf(number, model.values[number])
        for root, end, number in zip(
            *(array.tolist() for array in (trees.splits[:-1], trees.splits[1:], trees.offsets[:-1])), strict=True
        )
    ]
