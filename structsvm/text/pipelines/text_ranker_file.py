"""Write and read the file of a `TextRanker`: its ranker, other fitted attributes, and the paths of its indexes."""

import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import frozen

from structsvm.estimators import Ranker
from structsvm.exceptions import InputError, ModelFileError, brief
from structsvm.features import Thresholds
from structsvm.foundation.storage.archives import record, text_array
from structsvm.foundation.storage.files import read_archive, write_archive
from structsvm.foundation.storage.records import from_json, to_json
from structsvm.models.base import read_model
from structsvm.protocols import AsGiven, FeatureMap, Indicators, Scores
from structsvm.registry import retrieval_functions
from structsvm.result import require_format
from structsvm.text.pipelines.base_functions import BaseFunctions, NamedIndex

TEXT_RANKER = "text_ranker"
"""Name of the description's array, by which `structsvm.load` recognizes the file."""

_FORMAT = 1
_MAPS: Mapping[str, type[FeatureMap]] = {kind.__name__: kind for kind in (Indicators, Scores, AsGiven)}


@frozen(eq=False)
class Fitted:
    """State of a fitted `TextRanker`; ``columns`` are the names of the feature map's input."""

    base: BaseFunctions
    query: str | None
    features: FeatureMap
    transformer: Any
    ranker: Any
    columns: tuple[str, ...]
    left_out: dict[str, str]


@frozen
class _Description:
    """Content of the file besides the ranker; ``indexes`` has paths and digests, ``features`` a name in `_MAPS`."""

    format: int
    indexes: list[tuple[str, str]]
    functions: list[str]
    depth: int
    letor: list[str] | None
    fields: list[str] | None
    query: str | None
    features: str
    settings: dict[str, Any]
    thresholds: list[list[float]] | None
    columns: list[str]
    left_out: dict[str, str]


def write_text_ranker(path: str | Path, fitted: Fitted) -> None:
    """Write the fitted attributes, see `TextRanker.save`."""
    base, ranker, features, transformer = fitted.base, fitted.ranker, fitted.features, fitted.transformer
    if type(ranker) is not Ranker:
        raise InputError(
            f"the file of a TextRanker stores a Ranker, got a {type(ranker).__name__}: save the ranker itself, "
            "or write its runs with structsvm.data.write_run"
        )
    if type(features) not in _MAPS.values():
        raise InputError(f"features must be one of {', '.join(_MAPS)} to be saved, got {brief(features)}")
    thresholds = transformer.thresholds_ if isinstance(transformer, Thresholds) else None
    description = _Description(
        format=_FORMAT,
        indexes=[(_path(place, opened), opened.digest) for place, opened in enumerate(base.indexes)],
        functions=[_spelled(function) for function in base.functions],
        depth=base.depth,
        letor=None if base.letor is None else [_named(feature) for feature in base.letor],
        fields=None if base.fields is None else list(base.fields),
        query=fitted.query,
        features=type(features).__name__,
        settings=attrs.asdict(features),  # type: ignore[arg-type]
        thresholds=None if thresholds is None else [cuts.tolist() for cuts in thresholds],
        columns=list(fitted.columns),
        left_out=fitted.left_out,
    )
    write_archive(path, {**ranker.model_.arrays(), TEXT_RANKER: np.array(to_json(description))})


def read_text_ranker(path: str | Path, indexes: Any) -> Fitted:
    """Read a file and load its indexes, see `TextRanker.load`."""
    description, features, transformer, ranker = read_archive(path, _contents)
    base = BaseFunctions.of(
        _index_paths(path, [saved for saved, _ in description.indexes], indexes),
        description.functions,
        description.depth,
        description.letor,
        description.fields,
    )
    for opened, (_, digest) in zip(base.indexes, description.indexes, strict=True):
        if opened.digest != digest:
            raise InputError(
                f"the index {opened.path} differs from the index that {path} was trained with: pass the file of the "
                "original index, TextRanker.load(path, indexes=[...]), or train again"
            )
    columns = tuple(description.columns)
    return Fitted(base, description.query, features, transformer, ranker, columns, description.left_out)


def _index_paths(path: str | Path, saved: list[str], indexes: Any) -> list[str | PathLike[str]]:
    if indexes is None:
        lacking = next((file for file in saved if not Path(file).is_file()), None)
        if lacking is not None:
            raise InputError(
                f"the index {lacking}, with which {path} was trained, does not exist: pass its current path, "
                "TextRanker.load(path, indexes=[...])"
            )
        return list(saved)
    listed = [indexes] if isinstance(indexes, str | PathLike) else indexes
    if not isinstance(listed, list | tuple) or not all(isinstance(file, str | PathLike) for file in listed):
        raise InputError(f"indexes must be the file of an index, or a list of files, got {brief(indexes)}")
    if len(listed) != len(saved):
        raise InputError(f"indexes must name a file for each of the {len(saved)} indexes of {path}, got {len(listed)}")
    return list(listed)


def _contents(arrays: Mapping[str, Any]) -> tuple[_Description, FeatureMap, Any, Ranker]:
    """Return the checked content of a file."""
    if TEXT_RANKER not in arrays:
        raise ModelFileError(f"the file contains a {read_model(arrays).title}: read it with structsvm.load")
    require_format(record(arrays, TEXT_RANKER)["format"], _FORMAT)
    description = from_json(str(text_array(arrays, TEXT_RANKER, ())), _Description)
    if description.features not in _MAPS:
        raise ValueError(f"unknown map of features {description.features!r}")
    features = _MAPS[description.features](**description.settings)
    ranker = Ranker.from_model(read_model({name: arrays[name] for name in arrays if name != TEXT_RANKER}))
    n = len(description.columns)
    transformer = features.transformer()
    if isinstance(transformer, Thresholds):
        transformer.thresholds_ = [np.array(cuts) for cuts in description.thresholds or []]
        if len(transformer.thresholds_) != n:
            raise ValueError(f"it has thresholds of {len(transformer.thresholds_)} columns instead of {n}")
        if any((np.diff(cuts) <= 0.0).any() for cuts in transformer.thresholds_):
            raise ValueError("the thresholds of a column do not ascend")
        transformer.n_features_in_ = n
        n = sum(map(len, transformer.thresholds_))
    else:
        transformer.fit(np.zeros((1, n)))
    if ranker.n_features_in_ != n:
        raise ValueError(f"its ranker has {ranker.n_features_in_} features, but its feature map makes {n}")
    return description, features, transformer, ranker


def _path(place: int, index: NamedIndex) -> str:
    if index.path is None:
        raise InputError(
            f"indexes[{place}] is an object, but a file stores the paths of indexes: write the index with "
            "index.save(path), and pass the path instead"
        )
    return os.path.realpath(index.path)


def _spelled(function: Any) -> str:
    name = retrieval_functions.spell(function)
    if name is None:
        raise InputError(
            f"the function {function!r} has no registered name, and a file stores functions by name: register it as an "
            "entry point of the group structsvm.retrieval"
        )
    return name


def _named(feature: Any) -> str:
    if not isinstance(feature, str):
        raise InputError(
            f"a file stores LETOR's features by name: name the feature {feature.name!r} instead of passing an object"
        )
    return feature
