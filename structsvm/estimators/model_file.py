"""Fitted estimators as arrays in a file."""

import json
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from structsvm.estimators.unregistered import Unregistered
from structsvm.exceptions import InputError, ModelFileError, PluginError, UnknownNameError
from structsvm.registry import Registry, backends, losses, solvers
from structsvm.result import Result

if TYPE_CHECKING:
    from structsvm.estimators.ranker import Ranker
    from structsvm.estimators.structural_svm import StructuralSVM

_FORMAT = 1
_CLASSES = {"ranker": "Ranker", "structural_svm": "StructuralSVM"}


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
    return _arrays("ranker", ranker, settings, fitted)


def read_ranker(arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], Result]:
    """Return the settings, the fitted attributes and the result that `ranker_arrays` wrote.

    Raises
    ------
    ModelFileError : when a newer version wrote them.
    """
    settings, fitted = _contents("ranker", arrays)
    fitted["loss_"] = _read(losses, fitted.get("loss_", settings["loss"]))
    settings["loss"] = _read(losses, settings["loss"])
    settings["solver"] = _read(solvers, settings["solver"])
    if isinstance(settings["class_weight"], list):
        settings["class_weight"] = dict(settings["class_weight"])
    return settings, fitted, Result.from_arrays(arrays)


def svm_arrays(svm: "StructuralSVM") -> dict[str, Any]:
    """Return a fitted structural SVM as arrays.

    Of a loss that no registered name leads to there are the name of the class and, where they can be
    written, the settings: see `SavedLoss`.
    """
    settings = {
        "loss": _written(losses, svm.loss),
        "C": float(svm.C),
        "solver": _written(solvers, svm.solver),
        "tol": svm.tol,
        "fit_intercept": bool(svm.fit_intercept),
        "intercept_scaling": float(svm.intercept_scaling),
        "warm_start": bool(svm.warm_start),
    }
    loss = svm.loss_
    saved = loss if isinstance(loss, SavedLoss) else SavedLoss(type(loss).__name__, _settings_of(loss))
    fitted = {"loss_": _written(losses, loss), "saved_loss": attrs.asdict(saved)}
    for name in ("n_features_in_", "_matrices"):
        if hasattr(svm, name):
            fitted[name] = getattr(svm, name)
    return _arrays("structural_svm", svm, settings, fitted)


def read_svm(arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], Result]:
    """Return the settings, the fitted attributes and the result that `svm_arrays` wrote.

    Raises
    ------
    ModelFileError : when a newer version wrote them.
    """
    settings, fitted = _contents("structural_svm", arrays)
    saved = SavedLoss(**fitted.pop("saved_loss"))
    loss = _read(losses, fitted["loss_"])
    fitted["loss_"] = loss if losses.holds(loss) else saved
    settings["loss"] = _read(losses, settings["loss"])
    settings["solver"] = _read(solvers, settings["solver"])
    return settings, fitted, Result.from_arrays(arrays)


@attrs.frozen
class SavedLoss:
    """What a file keeps of a loss whose class no registered name leads to.

    Parameters
    ----------
    title : the name of the class.
    settings : its attrs fields, with what it learned of the data; None where it is no attrs class,
        or has one that would not come back as it is.
    """

    title: str
    settings: dict[str, Any] | None

    def restored(self, loss: Any) -> Any:
        """Return the loss that was saved, given one of its class.

        Raises
        ------
        InputError : when this is no loss, one of another class, or of a class whose fields have changed.
        """
        if not losses.holds(loss) or type(loss).__name__ != self.title:
            raise InputError(
                f"this model was trained with the loss {self.title}, a class that a file does not hold: "
                f"set_params(loss={self.title}(...)) gives it back, before predict, score and most_violated"
            )
        if self.settings is None:
            return loss
        try:
            return type(loss)(**_tuples(self.settings))
        except TypeError as error:
            raise InputError(f"the class {self.title} has changed since this model was trained: {error}") from None


def _arrays(kind: str, estimator: Any, settings: dict[str, Any], fitted: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps({"format": _FORMAT, "settings": settings, "fitted": fitted}, default=_plain)
    arrays = {kind: np.array(text), **estimator.result_.arrays()}
    if hasattr(estimator, "feature_names_in_"):
        arrays["feature_names_in_"] = np.asarray(estimator.feature_names_in_, dtype=str)
    return arrays


def _contents(kind: str, arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings and the fitted attributes in a file, losses and solvers still as they are written."""
    other = next((name for name in _CLASSES if name != kind and name in arrays), None)
    if other is not None:
        raise ModelFileError(f"it holds a {_CLASSES[other]}: read it with {_CLASSES[other]}.load")
    text = json.loads(str(arrays[kind]))
    if text["format"] > _FORMAT:
        raise ModelFileError("it was written by a newer version of structural-svm: upgrade to read it")
    if "feature_names_in_" in arrays:
        text["fitted"]["feature_names_in_"] = arrays["feature_names_in_"].astype(object)
    return text["settings"], text["fitted"]


def _settings_of(thing: Any) -> dict[str, Any] | None:
    """Return the fields of an attrs object; None where it is none, or one would not come back as it is."""
    if not attrs.has(type(thing)):
        return None
    settings = {field.alias: getattr(thing, field.name) for field in attrs.fields(type(thing)) if field.init}
    try:
        text = json.dumps(settings, default=_plain)
    except TypeError:
        return None
    return settings if _tuples(json.loads(text)) == settings else None


def _tuples(value: Any) -> Any:
    """Return what JSON made of settings with tuples again for the lists."""
    if isinstance(value, dict):
        return {key: _tuples(each) for key, each in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


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
