"""The writing of a ranker in a format."""

from os import PathLike
from typing import Any

import numpy as np

from structsvm.exceptions import InputError
from structsvm.export.base import Form, Format
from structsvm.registry import exports
from structsvm.settings import as_path, require_kind
from structsvm.storage.files import replacement

_ROUNDING = 1e-9


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
    ranker : fitted, and a weighted sum of features: `Ranker`, `RankSVM`, `MaximumEntropy` or `WeightSearch`.
    path : the file, which is replaced if it exists.
    format : "solr" (a model of Solr's Learning To Rank), "elasticsearch" (of the Learning to Rank plugin, and
        OpenSearch's), "svm_rank" (a model file of svm_rank_classify), "onnx", "json" or "numpy" (npz); a name that
        another package registered; or an object.
    feature_names : a name for each feature, which Solr and Elasticsearch need; None: those that the ranker knows.
    model_name : what Solr and Elasticsearch shall call the model; None: the name of the file without its ending.

    Returns
    -------
    What the file does not say of the model, in sentences; nothing where it says all.

    Raises
    ------
    InputError : when the ranker cannot be exported so, or the file cannot be written; it says why, and the way out.
    NotInstalledError : when the package onnx is missing.
    UnknownNameError : when there is no such format.

    Examples
    --------
    >>> import json
    >>> from pathlib import Path
    >>> from structsvm import Ranker
    >>> from structsvm.export import export
    >>> ranker = Ranker().fit([[0.0, 1.0], [1.0, 0.5]], [0, 1])
    >>> export(ranker, "model.json", "solr", feature_names=["bm25", "age"])
    ()
    >>> [each["name"] for each in json.loads(Path("model.json").read_text())["features"]]
    ['bm25', 'age']
    """
    chosen = exports.create(format)
    called = exports.name_of(type(chosen)) or type(chosen).__name__
    target = as_path("path", path)
    name = target.stem if model_name is None else model_name
    require_kind("model_name", name, str, "text")
    if not name.strip():
        raise InputError(f"model_name must be text, got {model_name!r}")
    form = Form.of(ranker, feature_names)
    if not (np.isfinite(form.weights).all() and np.isfinite(form.constant)):
        raise InputError("the weights of features as they are overflow: normalise them before, not in the ranker")
    if form.by_query is not None and not chosen.by_query:
        raise InputError(
            f"{called} scores one document at a time, and this ranker normalises features within a query "
            f"({form.by_query.name}), which needs all of its documents: train with normalise='standard' (--normalise "
            "standard), or export as onnx, json or numpy, which say so"
        )
    with replacement(target) as temporary:
        chosen.write(form, temporary, name)
    left_out = 0.0 if chosen.constant else form.constant_of_normalised
    if abs(left_out) <= _ROUNDING * (abs(form.constant) + abs(form.constant_of_normalised - form.constant)):
        return ()
    return (
        f"{called} adds no constant to scores: those of this model are {left_out:.6g} higher, which changes no ranking",
    )
