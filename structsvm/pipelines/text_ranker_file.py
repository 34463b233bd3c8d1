"""The file of a `TextRanker`: that of its ranker, with what else was fitted, and where its indexes are."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import frozen

from structsvm.estimators import Ranker
from structsvm.exceptions import InputError, ModelFileError
from structsvm.features import Thresholds
from structsvm.pipelines.base_functions import BaseFunctions
from structsvm.protocols import AsGiven, FeatureMap, Indicators, Scores
from structsvm.registry import retrieval_functions
from structsvm.result import require_known_format
from structsvm.storage.archives import finite_numbers, record, require_numbers, shape, texts
from structsvm.storage.files import read_archive, write_archive
from structsvm.storage.records import as_json, from_json

_FORMAT = 1
_KIND = "text_ranker"
_MAPS: Mapping[str, type[FeatureMap]] = {kind.__name__: kind for kind in (Indicators, Scores, AsGiven)}


@frozen
class _SavedIndex:
    """Where an index is, and the digest of what is in it."""

    folder: str
    sha256: str


@frozen
class _SavedMap:
    """A map of features: the name of its class, and its settings."""

    name: str
    settings: dict[str, Any]

    def made(self) -> FeatureMap:
        if self.name not in _MAPS:
            raise ValueError(f"there is no map of features named {self.name!r}")
        return _MAPS[self.name](**self.settings)


@frozen
class _Description:
    """All that is not an array. ``columns`` are the names of the columns that the map of features is given."""

    format: int
    indexes: list[_SavedIndex]
    functions: list[str]
    depth: int
    letor: list[str] | None
    fields: list[str] | None
    query: str | None
    features: _SavedMap
    columns: list[str]
    left_out: dict[str, str]


@frozen
class Saved:
    """What is in a file: the settings, and what was fitted; see `TextRanker`."""

    settings: dict[str, Any]
    base: BaseFunctions
    features: FeatureMap
    transformer: Any
    ranker: Ranker
    columns: tuple[str, ...]
    left_out: dict[str, str]


def write(
    path: str | Path,
    base: BaseFunctions,
    query: str | None,
    features: FeatureMap,
    transformer: Any,
    ranker: Any,
    columns: Iterable[str],
    left_out: Mapping[str, str],
) -> None:
    """Write what was fitted; see `TextRanker.save`."""
    if type(ranker) is not Ranker:
        raise InputError(
            f"files of text rankers hold a Ranker, and the ranker of this one is a {type(ranker).__name__}: save that "
            "by itself (its save), or keep the runs that it makes (structsvm.data.write_run)"
        )
    if type(features) not in _MAPS.values():
        raise InputError(f"a file can hold the maps of features {', '.join(_MAPS)}, and this one is {features!r}")
    description = _Description(
        format=_FORMAT,
        indexes=[
            _SavedIndex(str(_folder(place, each.folder).resolve()), each.sha256)
            for place, each in enumerate(base.indexes)
        ],
        functions=[_spelled(each) for each in base.functions],
        depth=base.depth,
        letor=None if base.letor is None else [_named(each) for each in base.letor],
        fields=None if base.fields is None else list(base.fields),
        query=query,
        features=_SavedMap(type(features).__name__, attrs.asdict(features)),  # type: ignore[arg-type]
        columns=list(columns),
        left_out=dict(left_out),
    )
    arrays = {**ranker.arrays(), _KIND: np.array(as_json(description))}
    if isinstance(transformer, Thresholds):
        sizes = [len(each) for each in transformer.thresholds_]
        arrays["thresholds"] = np.concatenate(transformer.thresholds_).astype(np.float64)
        arrays["thresholds.ptr"] = np.cumsum([0, *sizes], dtype=np.int64)
    write_archive(path, arrays)


def read(path: str | Path, indexes: Any) -> Saved:
    """Read what `write` wrote, and load the indexes; see `TextRanker.load`."""
    description, features, transformer, ranker = read_archive(path, _contents)
    folders = _folders(path, description.indexes, indexes)
    settings: dict[str, Any] = {
        "indexes": [str(folder) for folder in folders],
        "functions": description.functions,
        "depth": description.depth,
        "letor": description.letor,
        "fields": description.fields,
    }
    base = BaseFunctions.of(**settings)
    for each, saved in zip(base.indexes, description.indexes, strict=True):
        if each.sha256 != saved.sha256:
            raise InputError(
                f"the index in {each.folder} is another one than {path} was trained with: name the folder of that one, "
                "TextRanker.load(path, indexes=[...]), or train again"
            )
    settings |= {"query": description.query, "features": features}
    return Saved(settings, base, features, transformer, ranker, tuple(description.columns), description.left_out)


def _folders(path: str | Path, saved: list[_SavedIndex], given: Any) -> list[Path]:
    """Return the folders of the indexes."""
    if given is None:
        folders = [Path(each.folder) for each in saved]
        lacking = next((folder for folder in folders if not folder.is_dir()), None)
        if lacking is not None:
            raise InputError(
                f"the index that {path} was trained with is not in {lacking} any more: say where it is, "
                "TextRanker.load(path, indexes=[...])"
            )
        return folders
    words = "the folder of an index, or a list of these"
    listed = [given] if isinstance(given, str | PathLike) else given
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str | PathLike) for each in listed):
        raise InputError(f"indexes must be {words}, got {given!r}")
    if len(listed) != len(saved):
        raise InputError(f"indexes must name a folder for each index of {path}, {len(saved)}, and names {len(listed)}")
    return [Path(each) for each in listed]


def _contents(arrays: Mapping[str, Any]) -> tuple[_Description, FeatureMap, Any, Ranker]:
    """Return the content of a file, all of which is checked."""
    if _KIND not in arrays and "ranker" in arrays:
        raise ModelFileError("it holds a Ranker alone: read it with Ranker.load")
    require_known_format(record(arrays, _KIND)["format"], _FORMAT)
    description = from_json(str(texts(arrays, _KIND, ())), _Description)
    features = description.features.made()
    ranker = Ranker.from_arrays(arrays)
    n = len(description.columns)
    transformer = features.transformer()
    if isinstance(transformer, Thresholds):
        transformer.thresholds_ = _thresholds(arrays, n)
        transformer.n_features_in_ = n
        n = sum(map(len, transformer.thresholds_))
    else:
        transformer.fit(np.zeros((1, n)))
    if ranker.n_features_in_ != n:
        raise ValueError(f"its ranker has {ranker.n_features_in_} features, and its map of features makes {n}")
    return description, features, transformer, ranker


def _thresholds(arrays: Mapping[str, Any], columns: int) -> list[Any]:
    """Return the thresholds of each column."""
    (n,) = shape(arrays, "thresholds")
    require_numbers(arrays, "thresholds", (n,))
    require_numbers(arrays, "thresholds.ptr", (columns + 1,), np.int64)
    every, ptr = finite_numbers(arrays, "thresholds"), np.asarray(arrays["thresholds.ptr"])
    if ptr[0] != 0 or ptr[-1] != n or (np.diff(ptr) < 0).any():
        raise ValueError("'thresholds.ptr' does not part the thresholds")
    found = [every[first:last] for first, last in pairwise(ptr.tolist())]
    if any((np.diff(each) <= 0.0).any() for each in found):
        raise ValueError("'thresholds' of a column do not ascend")
    return found


def _folder(place: int, folder: Path | None) -> Path:
    if folder is None:
        raise InputError(
            f"indexes[{place}] is an object, and a file says in which folder an index is: write it with "
            "index.save(folder), and give the folder as the index"
        )
    return folder


def _spelled(function: Any) -> str:
    name = retrieval_functions.spell(function)
    if name is None:
        raise InputError(
            f"the function {function!r} has no registered name, which is what a file holds of a function: register it "
            "as an entry point of the group structsvm.retrieval"
        )
    return name


def _named(feature: Any) -> str:
    if not isinstance(feature, str):
        raise InputError(f"a file holds LETOR's features by name, and {feature.name!r} was given as an object")
    return feature
