"""A fitted ranker as arrays in a file."""

import json
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from structsvm.estimators.unregistered import Unregistered
from structsvm.exceptions import ModelFileError, PluginError, UnknownNameError
from structsvm.registry import Registry, backends, losses, solvers
from structsvm.result import Result

if TYPE_CHECKING:
    from structsvm.estimators.ranker import Ranker

_FORMAT = 1


def ranker_arrays(ranker: "Ranker") -> dict[str, Any]:
    """Return a fitted ranker as arrays.

    A loss or solver that no registered name leads to is kept as text, `Unregistered`: enough to predict and
    to score, and `fit` will say which object it needs.
    """
    settings = {
        "loss": _written(losses, ranker.loss),
        "C": float(ranker.C),
        "solver": _written(solvers, ranker.solver),
        "tol": ranker.tol,
        "fit_intercept": bool(ranker.fit_intercept),
        "intercept_scaling": float(ranker.intercept_scaling),
        "class_weight": _pairs(ranker.class_weight),
        "measure": None if ranker.measure is None else str(ranker.measure),
        "warm_start": bool(ranker.warm_start),
    }
    fitted = {
        "loss_": _written(losses, ranker.loss_),
        "n_features_in_": ranker.n_features_in_,
        "n_examples_": ranker.n_examples_,
        "n_left_out_": ranker.n_left_out_,
        "_fitted_with_qid": ranker._fitted_with_qid,
    }
    text = json.dumps({"format": _FORMAT, "settings": settings, "fitted": fitted}, default=_plain)
    arrays = {"ranker": np.array(text), **ranker.result_.arrays()}
    if hasattr(ranker, "feature_names_in_"):
        arrays["feature_names_in_"] = np.asarray(ranker.feature_names_in_, dtype=str)
    return arrays


def read_ranker(arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], Result]:
    """Return the settings, the fitted attributes and the result that `ranker_arrays` wrote.

    Raises
    ------
    ModelFileError : when a newer version wrote them.
    """
    text = json.loads(str(arrays["ranker"]))
    if text["format"] > _FORMAT:
        raise ModelFileError("it was written by a newer version of structural-svm: upgrade to read it")
    fitted, settings = text["fitted"], text["settings"]
    fitted["loss_"] = _read(losses, fitted.get("loss_", settings["loss"]))
    settings["loss"] = _read(losses, settings["loss"])
    settings["solver"] = _read(solvers, settings["solver"])
    if isinstance(settings["class_weight"], list):
        settings["class_weight"] = dict(settings["class_weight"])
    if "feature_names_in_" in arrays:
        fitted["feature_names_in_"] = arrays["feature_names_in_"].astype(object)
    return settings, fitted, Result.from_arrays(arrays)


def _written(registry: Registry[Any], thing: Any) -> Any:
    """Return a name, a name with settings, or text, marked as such, for what has neither."""
    if isinstance(thing, str):
        return thing
    name = registry.name_of(type(thing))
    text = {"text": _described(thing)}
    if name is None or not attrs.has(type(thing)):
        return text
    settings = {field.name: getattr(thing, field.name) for field in attrs.fields(type(thing)) if field.init}
    if "backend" in settings:
        settings["backend"] = _written(backends, settings["backend"])
        if _is_text(settings["backend"]):
            return text
    try:
        json.dumps(settings, default=_plain)
    except TypeError:
        return text
    return {"name": name, "settings": settings}


def _read(registry: Registry[Any], written: Any) -> Any:
    """Return what `_written` wrote as an object, or as text where there is no class of that name (any more)."""
    if not isinstance(written, dict):  # a name; in files of old, it may be the text of an object
        return written
    if _is_text(written):
        return Unregistered(written["text"])
    settings = written["settings"]
    if "backend" in settings:
        settings["backend"] = _read(backends, settings["backend"])
    try:
        made = registry.find(written["name"])
    except (PluginError, UnknownNameError):  # of a package that is not installed: predictions do without it
        return _text(written["name"], settings)
    return made(**settings)


def _described(thing: Any) -> str:
    text = repr(thing)
    return f"{type(thing).__name__}(...)" if text.startswith("<") else text


def _is_text(written: Any) -> bool:
    return isinstance(written, dict) and "text" in written


def _text(name: str, settings: dict[str, Any]) -> str:
    """Return a name with settings as `Registry.create` reads it."""
    cutoff = settings.get("k")
    options = ",".join(f"{key}={value}" for key, value in settings.items() if key != "k" and value is not None)
    return name + (f"@{cutoff}" if cutoff is not None else "") + (f"({options})" if options else "")


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as the Python number that it is."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written to a model file")


def _pairs(class_weight: dict[Any, float] | str | None) -> Any:
    if not isinstance(class_weight, dict):
        return class_weight
    return [[np.asarray(label).item(), float(weight)] for label, weight in class_weight.items()]
