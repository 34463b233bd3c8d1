"""Write a ranker in a format of another program."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from attrs import evolve

from structsvm.exceptions import InputError, brief, first_of
from structsvm.features.scaling.scalings import QueryScaling
from structsvm.foundation.settings import as_path, require_kind
from structsvm.foundation.storage.files import replacement
from structsvm.foundation.types import Vector
from structsvm.models import LinearModel, TrainedModel
from structsvm.models.base import model_of
from structsvm.models.ensembles import from_ensemble
from structsvm.models.leaves import LEFT, NAN_MISSING, LeafModel, Trees
from structsvm.models.network import NetworkModel
from structsvm.models.stumps import StumpModel
from structsvm.models.trees import TreeModel
from structsvm.registry.built_in import exports

_LARGEST = float(np.finfo(np.float32).max)


class Format(ABC):
    r"""Base class of formats in which rankers are exported. Derive from it and write `write`.

    An entry point in the group ``structsvm.exports`` gives it a name.

    Examples
    --------
    >>> from pathlib import Path
    >>> from structsvm import Ranker
    >>> from structsvm.models.export import export
    >>> class Weights(Format):
    ...     def write(self, model, path, model_name):
    ...         path.write_text("\n".join(f"{weight:g}" for weight in model.coef))
    >>> ranker = Ranker(C=100.0).fit([[0.0, 1.0], [2.0, 1.0]], [0, 1], qid=[1, 1])
    >>> export(ranker, "weights.txt", Weights())
    ()
    >>> Path("weights.txt").read_text().split()
    ['0.125', '0']
    """

    by_query: ClassVar[bool] = False
    """True if the format can represent normalization of features by query."""

    standard: ClassVar[bool] = False
    """True if the format can represent standardization of features; if False, it is merged into the weights."""

    constant: ClassVar[bool] = True
    """True if the format can represent an intercept."""

    named: ClassVar[bool] = True
    """True if the format stores the name of the model."""

    fills: ClassVar[bool] = False
    """True if the format can represent the replacements of missing features, other than 0."""

    missing: ClassVar[bool] = True
    """True if trees in this format can send missing features to either side; if False, missing features count as 0."""

    zero_based: ClassVar[bool] = False
    """True if the program counts features from 0 when it reads a text file itself."""

    @abstractmethod
    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        """Write a file; raise InputError if the format cannot represent the model.

        Parameters
        ----------
        model : the model; it has a ``scaling`` only if `by_query` or `standard` allows it.
        path : an empty file to fill.
        model_name : name of the model, for formats that store one.

        Raises
        ------
        NotInstalledError : a package is missing.
        """

    def write_trees(self, model: LeafModel, path: Path, model_name: str) -> None:
        """Write a file for a model of trees; parameters and errors are as in `write`."""
        raise InputError(
            f"{_called(self)} stores weighted sums of features, but this {model.title} has trees: export it as "
            "lightgbm or onnx, or as solr or elasticsearch if it has no weights of features"
        )

    def write_network(self, model: NetworkModel, path: Path, model_name: str) -> None:
        """Write a file for a model of `RankNet` with a hidden layer; parameters and errors are as in `write`."""
        raise InputError(
            f"{_called(self)} cannot represent the hidden layer of this {model.title}: export it as onnx, or train it "
            "with hidden_layer_sizes=0"
        )


def export(
    ranker: Any,
    path: str | PathLike[str],
    format: str | Format,
    *,
    feature_names: Any = None,
    model_name: str | None = None,
) -> tuple[str, ...]:
    """Write a trained ranker for another program, whole or not at all.

    Parameters
    ----------
    ranker : a fitted ranker, or its model, such as `structsvm.load` and `structsvm.models.from_ensemble` return.
    path : the file, which is replaced if it exists.
    format : "solr" (a model of Solr's Learning To Rank), "elasticsearch" (of the Learning to Rank plugin, also in
        OpenSearch), "svm_rank" (a model file of svm_rank_classify), "lightgbm" (a model file of LightGBM), "onnx",
        "json" or "numpy" (npz). Or the name of another package's format, or an object. Weighted sums of features have
        every format. Trees (`TreeRanker`, `LambdaMART`, `RankBoost`, converted ensembles) have "lightgbm", "onnx" and,
        without weights of features, "solr" and "elasticsearch". A `RankNet` with a hidden layer has "onnx" only.
    feature_names : a name for each feature, needed by Solr and Elasticsearch; None: the names of the ranker.
    model_name : name of the model in Solr and Elasticsearch; None: the name of the file without its suffix.

    Returns
    -------
    Notes on the parts of the model that the file cannot hold.

    Raises
    ------
    NotInstalledError : the package onnx is missing.
    UnknownNameError : the format is unknown.

    Examples
    --------
    >>> import json
    >>> from pathlib import Path
    >>> from structsvm import Ranker
    >>> ranker = Ranker().fit([[0.0, 1.0], [1.0, 0.5]], [0, 1], qid=[1, 1])
    >>> export(ranker, "model.json", "solr", feature_names=["bm25", "age"])
    ()
    >>> [each["name"] for each in json.loads(Path("model.json").read_text())["features"]]
    ['bm25', 'age']
    """
    writer = exports.create(format)
    called = _called(writer)
    target = as_path("path", path)
    name = target.stem if model_name is None else model_name
    require_kind("model_name", name, str, "text")
    if not name.strip():
        raise InputError(f"model_name must be text, got {brief(model_name)}")
    model = _written_form(model_of(ranker).named(feature_names))
    left_out = [] if model.calibration is None else [f"{called} stores scores, not the probabilities of this model"]
    if model.categories:
        columns = first_of(model.categories)
        left_out.append(
            f"{called} takes features of 0 and 1, named column=value, for the columns of categories: {columns}. "
            "model.checked(frame) makes them"
        )
    if writer.zero_based:
        left_out.append(
            f"{called} counts features from 0 when it reads a text file itself: for such files, train with "
            "zero_based=True (--zero-based); arrays need no shift"
        )
    with replacement(target) as temporary:
        if isinstance(model, NetworkModel):
            writer.write_network(model, temporary, name)
        elif isinstance(model, LeafModel):
            linear = None if model.linear is None else _prepared(model.linear, writer)
            writer.write_trees(evolve(model, linear=linear), temporary, name)
            if not writer.missing and (model.trees.missing_left != (model.trees.threshold >= 0.0)).any():
                left_out.append(f"{called} counts a missing feature as 0, which some splits of this model do not")
        else:
            linear = _prepared(model, writer)
            writer.write(linear, temporary, name)
            if linear.intercept and not writer.constant:
                added = f"this model adds {linear.intercept:.6g}; rankings are the same"
                left_out.append(f"{called} adds no constant to scores, but {added}")
    return tuple(left_out)


def _written_form(model: TrainedModel) -> LinearModel | LeafModel | NetworkModel:
    """Return an equal model of a form that formats write."""
    common = {name: getattr(model, name) for name in ("n_features", "feature_names", "training", "calibration")}
    if isinstance(model, TreeModel):
        return evolve(from_ensemble(model), **common)
    if isinstance(model, StumpModel):
        empty = not len(model.alphas)
        return LinearModel(coef=np.zeros(model.n_features), **common) if empty else _trees_of_stumps(model, common)
    if isinstance(model, NetworkModel) and not model.hidden:
        return LinearModel(coef=model.weights, scaling=model.scaling, **common)
    if not isinstance(model, LinearModel | LeafModel | NetworkModel):
        raise InputError(
            f"export writes models that score rows, but this {model.title} predicts outputs of another kind: use "
            "structsvm.load and predict"
        )
    return model


def _trees_of_stumps(model: StumpModel, common: Mapping[str, Any]) -> LeafModel:
    """Return a tree of one split for each weak ranker, whose leaf 1 has its weight."""
    rounds = len(model.alphas)
    # All numbers are above −inf, so they go left of the largest number, to leaf 1.
    swapped = np.isneginf(model.thresholds)
    left, right = np.where(swapped, -2, -1), np.where(swapped, -1, -2)
    trees = Trees(
        splits=np.arange(rounds + 1),
        feature=model.features,
        threshold=np.where(swapped, np.finfo(np.float64).max, model.thresholds),
        decision=(NAN_MISSING + LEFT * (model.missing == swapped)).astype(np.uint8),
        left=left,
        right=right,
    )
    values = np.column_stack([np.zeros(rounds), model.alphas]).ravel()
    return LeafModel(trees=trees, values=values, counts=np.ones(2 * rounds, dtype=np.int64), **common)


def _called(writer: Format) -> str:
    """Return the name of a format for messages."""
    return exports.name_of(type(writer)) or type(writer).__name__


def _prepared(model: LinearModel, writer: Format) -> LinearModel:
    """Return a model whose scaling the format can represent."""
    if isinstance(model.scaling, QueryScaling) and not writer.by_query:
        raise InputError(
            f"{_called(writer)} scores one document at a time, but this ranker normalizes features within a query "
            f"({model.scaling.name}). Train with normalize='standard' (--normalize standard), or export to a format "
            "that has queries: onnx, or for a weighted sum json or numpy"
        )
    if not writer.fills and model.fill is not None and model.fill.any():
        raise InputError(
            f"{_called(writer)} counts missing features as 0, and this ranker was trained with other replacements "
            f"(missing={model.training.settings.get('missing')!r}). Train with missing=0 (--missing 0), or export to a "
            "format that replaces them: onnx, lightgbm, json or numpy"
        )
    if not writer.standard:
        model = model.folded
    if not (np.isfinite(model.coef).all() and np.isfinite(model.intercept)):
        raise InputError("the weights of the original features overflow: normalize the features before training")
    return model


def write_json(path: Path, content: Any) -> None:
    """Write indented JSON."""
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def names_for(format: str, model: TrainedModel) -> tuple[str, ...]:
    """Return the names of the features for a format that needs them; refuse a model without names."""
    if model.feature_names is None:
        raise InputError(
            f"{format} needs names of features, and this model has {model.n_features} features without names: pass "
            "feature_names=[...] (--feature-names FILE, one name per line, on the command line)"
        )
    return model.feature_names


def require_float32(format: str, weights: Vector) -> None:
    """Refuse weights that overflow to infinity in float32."""
    largest = float(np.abs(weights).max(initial=0.0))
    if largest > _LARGEST:
        raise InputError(
            f"{format} reads weights as float32, and the largest of this model is {largest:.3g}: scale the features "
            "up, or train with normalize='standard'"
        )
