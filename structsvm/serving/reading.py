"""The model in a file, of whatever kind."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from structsvm.exceptions import ModelFileError
from structsvm.result import require_known_format
from structsvm.serving.kinds import FORMAT, KINDS, STRUCTURAL, UNNAMED, WHOLE, contents
from structsvm.serving.linear import LinearScorer, weights_and_intercept, weights_of_path, weights_of_result
from structsvm.serving.network import NetworkScorer
from structsvm.serving.scorer import Description, Scorer
from structsvm.serving.stumps import StumpScorer
from structsvm.serving.trees import TreeScorer
from structsvm.settings import require_integer, require_number, require_switch
from structsvm.storage.archives import record, texts
from structsvm.storage.files import read_archive


def load(path: str | Path) -> Any:
    """Read a model from a file that `save` of an estimator or ``structsvm train`` wrote, whatever it holds.

    A ranker comes back as a `Scorer`, which scores documents and needs no more than NumPy: neither numba nor
    scikit-learn is loaded for it. ``Ranker.load(path)``, or ``load`` of another class, reads the estimator from the
    same file, with `score`, its settings and all that `fit` left.

    Parameters
    ----------
    path : the file.

    Returns
    -------
    A `Scorer`. Of a `StructuralSVM` and a `LatentStructuralSVM`, whose outputs need their loss, and of a
    ``TextRanker``, which has indexes, the object that was saved.

    Raises
    ------
    ModelFileError : when the file is not a model, is damaged, or comes from a newer version.

    Examples
    --------
    >>> import structsvm
    >>> structsvm.Ranker(C=10.0).fit([[1.0, 0.0], [3.0, 1.0]], [0, 1]).save("model.npz")
    >>> model = structsvm.load("model.npz")
    >>> other, relevant = model.predict([[0.0, 0.0], [2.0, 1.0]])
    >>> bool(relevant > other)
    True
    """
    read = read_archive(path, _read)
    if isinstance(read, Scorer):
        return read
    return class_at(WHOLE[read]).load(path)


def kind_in(path: str | Path) -> str:
    """Return what the file of a model calls its kind; see `load`."""
    read = read_archive(path, _read)
    return read.about.kind if isinstance(read, Scorer) else read


def load_scorer(path: str | Path) -> Scorer:
    """Read a model that scores documents; see `load`.

    Raises
    ------
    ModelFileError : when the file holds a model of another kind, or none.
    """
    read = read_archive(path, _read)
    if isinstance(read, Scorer):
        return read
    raise scores_no_rows(path, read)


def scores_no_rows(path: str | Path, kind: str) -> ModelFileError:
    """Return the error that says how a model of a kind in `WHOLE` is read."""
    name = WHOLE[kind].partition(":")[2]
    way = f"read it with {name}.load"
    if kind in STRUCTURAL:
        way += ", which predicts with its loss. Of commands, structsvm show reads it"
    return ModelFileError(f"{path}: it holds a {name}: {way}")


def class_at(target: str) -> Any:
    """Return the class at a place, such as ``structsvm.estimators:StructuralSVM``."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def _read(arrays: Mapping[str, Any]) -> Scorer | str:
    """Return the scorer in a file, or the kind of a model that is read as a whole."""
    whole = next((kind for kind in WHOLE if kind in arrays), None)
    if whole is not None:
        return whole
    titles = KINDS | {name: target.partition(":")[2] for name, target in UNNAMED.items()}
    kind = next((kind for kind in titles if kind in arrays), None)
    if kind is None:
        if "result" in arrays:
            raise ModelFileError("it holds a Result alone: read it with Result.load")
        raise ValueError("it holds no model that is known here")
    text = contents(kind, arrays)
    require_known_format(text["format"], FORMAT)
    fitted = text["fitted"]
    require_integer("n_features_in_", fitted["n_features_in_"], 1)
    d = int(fitted["n_features_in_"])
    names = tuple(texts(arrays, "feature_names", (d,)).tolist()) if "feature_names" in arrays else None
    known = {"settings": text["settings"], "fitted": fitted}
    if "result" in arrays:
        known["result"] = {name: value for name, value in record(arrays, "result").items() if name != "history"}
    if "trained" in arrays:
        known["trained"] = record(arrays, "trained")
    return _SCORERS[kind](Description(kind, titles[kind], d, names, known), arrays)


def _ranker(about: Description, arrays: Mapping[str, Any]) -> Scorer:
    settings = about.record["settings"]
    for name in ("fit_intercept", "intercept_scaling"):
        (require_switch if name == "fit_intercept" else require_number)(name, settings[name])
    scaling = float(settings["intercept_scaling"]) if settings["fit_intercept"] else 0.0
    return LinearScorer.of(about, arrays, *weights_of_result(arrays, about.n_features, scaling))


def _rank_svm(about: Description, arrays: Mapping[str, Any]) -> Scorer:
    return LinearScorer.of(about, arrays, *weights_of_result(arrays, about.n_features, 0.0))


def _maximum_entropy(about: Description, arrays: Mapping[str, Any]) -> Scorer:
    return LinearScorer.of(about, arrays, *weights_and_intercept(arrays, about.n_features, about.record["fitted"]))


def _weight_search(about: Description, arrays: Mapping[str, Any]) -> Scorer:
    return LinearScorer.of(about, arrays, weights_of_path(arrays, about.n_features)[0][-1].copy())


def _rank_boost(about: Description, arrays: Mapping[str, Any]) -> Scorer:
    return StumpScorer.of(about, arrays, _count(about, "best_iteration_", 0))


def _rank_net(about: Description, arrays: Mapping[str, Any]) -> Scorer:
    return NetworkScorer.of(about, arrays, _count(about, "hidden_", 0), _count(about, "best_iteration_", 1))


def _lambda_mart(about: Description, arrays: Mapping[str, Any]) -> Scorer:
    return TreeScorer.of(about, arrays, _count(about, "best_iteration_", 1))


def _count(about: Description, name: str, least: int) -> int:
    value = about.record["fitted"][name]
    require_integer(name, value, least)
    return int(value)


_SCORERS: dict[str, Callable[[Description, Mapping[str, Any]], Scorer]] = {
    "ranker": _ranker,
    "ramp_ranker": _ranker,
    "rank_svm": _rank_svm,
    "maximum_entropy": _maximum_entropy,
    "weight_search": _weight_search,
    "rank_boost": _rank_boost,
    "rank_net": _rank_net,
    "lambda_mart": _lambda_mart,
}
