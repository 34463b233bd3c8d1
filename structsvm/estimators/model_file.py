"""Fitted estimators as arrays in a file."""

import json
import math
import os
import time
from abc import abstractmethod
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Self

import attrs
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from structsvm.exceptions import InputError, PluginError, UnknownNameError
from structsvm.normalisation import Normalisation, read_normaliser
from structsvm.registry import Registry, backends, losses, solvers
from structsvm.registry.spelling import is_whole, joined
from structsvm.result import Result
from structsvm.serving.kinds import FORMAT, contents
from structsvm.settings import (
    checked_names,
    is_integer,
    is_number,
    require_choice,
    require_integer,
    require_number,
    require_switch,
)
from structsvm.storage.archives import record, require_names, require_numbers, shape, texts
from structsvm.storage.files import read_archive, write_archive

_COUNTS = {"n_features_in_": (1,), "n_examples_": (0,), "n_left_out_": (0,)}
"""The least value of what is kept and is a number; all else is True or False."""
_SETTINGS = (
    *("loss", "C", "solver", "tol", "fit_intercept", "intercept_scaling", "class_weight", "measure"),
    *("normalise", "warm_start"),
)


@attrs.frozen
class Trained:
    """When a model was trained, and with what.

    Parameters
    ----------
    version : of structural-svm.
    time : when training ended, in UTC as ISO 8601 writes it; with SOURCE_DATE_EPOCH in the environment, the time
        that this gives, as reproducible builds have it.
    """

    version: str
    time: str

    @classmethod
    def now(cls) -> Self:
        """Return what is written of a model that was trained just now."""
        seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
        moment = datetime.fromtimestamp(int(seconds) if is_whole(seconds) else time.time(), UTC)
        return cls(version("structural-svm"), moment.isoformat(timespec="seconds"))

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Self:
        """Return what a file says."""
        require_names("the record of training", written, ("version", "time"), ("version", "time"))
        if not all(isinstance(text, str) for text in written.values()):
            raise ValueError("the record of training must be texts")
        return cls(**written)


_NAMES = {"feature_names_in_": "feature_names_in_", "feature_names_": "feature_names"}
"""Attributes with names of features, and what files call them."""


class Saved(BaseEstimator):
    """An estimator that can be written to a file once it is fitted, and read again.

    Derive from it and write `arrays` and `from_arrays`.
    """

    _kind: ClassVar[str]
    """What files call the estimator."""

    normaliser_: Normalisation | None = None

    trained_: Trained | None = None
    """When, and with which version; None where the file is older than that."""

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file (npz, nothing pickled); an existing file is replaced at once or not at all.

        What the file holds of settings is text and numbers: of an object of a class of your own its text, and of a
        ``numpy.random.RandomState`` nothing.

        Raises
        ------
        InputError : when the file cannot be written.
        """
        check_is_fitted(self)
        write_archive(path, self.arrays())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote.

        Raises
        ------
        ModelFileError : when the file is not one, is damaged, or comes from a newer version.
        """
        return read_archive(path, cls.from_arrays)

    @abstractmethod
    def arrays(self) -> dict[str, Any]:
        """Return the fitted estimator as arrays, those of its file."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """Make an estimator of what `arrays` returned, which may come from a file: nothing in it is believed.

        Raises
        ------
        ModelFileError : when it is another estimator, or a newer version wrote it.
        KeyError, ValueError : when something is missing, or is not what it can be.
        """


class SavedEstimator(Saved):
    """An estimator with a loss and a `Result`.

    Derive from it, say what there is to keep, and write `_take`.
    """

    _kept: ClassVar[tuple[str, ...]]
    """The attributes set by `fit` that are kept, those that it did set, beside ``result_`` and ``loss_``."""

    _needed: ClassVar[tuple[str, ...]] = ()
    """Those among them that every fit sets."""

    _restores_loss: ClassVar[bool] = False
    """Whether the settings of a loss whose class has no registered name are kept as well, as `SavedLoss`."""

    loss_: Any
    result_: Result

    @abstractmethod
    def _number_of_weights(self, columns: int) -> int | None:
        """Return the length that w must have by all else that was fitted; None where no more than the loss knows it.

        Parameters
        ----------
        columns : how many columns of features it is of.

        Raises
        ------
        ValueError : when the loss is none that the estimator learns.
        """

    @abstractmethod
    def _take(self, result: Result) -> None:
        """Set ``result_``, and the weights that are in it."""

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file (npz, nothing pickled); an existing file is replaced at once or not at all.

        A loss or solver of a class of your own is not written, only its text: after `load`, ``set_params(loss=...)``
        gives it back to `fit` and to `most_violated`, and to all that a `StructuralSVM` does.

        Raises
        ------
        InputError : when the file cannot be written.
        """
        super().save(path)

    def arrays(self) -> dict[str, Any]:
        parameters = self.get_params(deep=False)
        settings = {name: written_setting(name, parameters[name]) for name in _SETTINGS if name in parameters}
        fitted = {"loss_": _written(losses, self.loss_)}
        if self._restores_loss:
            fitted["saved_loss"] = attrs.asdict(SavedLoss.of(self.loss_))
        fitted |= {name: getattr(self, name) for name in self._kept if hasattr(self, name)}
        written = {"format": FORMAT, "settings": settings, "fitted": fitted}
        arrays = {self._kind: np.array(json.dumps(written, default=plain_number)), **self.result_.arrays()}
        return arrays | beside(self)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        text = contents(cls._kind, arrays)
        settings, fitted = text["settings"], text["fitted"]
        require_names("the file", settings, cls._get_param_names(), ["loss"])
        loss = _read(losses, fitted.pop("loss_", settings["loss"]))
        meant = _truncated if text["format"] == 1 else lambda loss: loss
        saved = SavedLoss.read(fitted.pop("saved_loss")) if "saved_loss" in fitted else None
        require_names("what was fitted", fitted, cls._kept, cls._needed)
        estimator = cls(**{name: read_setting(name, written) for name, written in settings.items()})
        estimator.loss = meant(estimator.loss)
        estimator.loss_ = meant(loss) if saved is None or losses.holds(loss) else saved
        for name, value in fitted.items():
            (require_integer if name in _COUNTS else require_switch)(name, value, *_COUNTS.get(name, ()))
            setattr(estimator, name, value)
        features = getattr(estimator, "n_features_in_", None)
        known = math.prod(shape(arrays, "columns")) if "columns" in arrays else features
        size = None if known is None else estimator._number_of_weights(known)
        if size is not None:
            require_numbers(arrays, "w", (size,))
        result = Result.from_arrays(arrays)
        if result.columns is not None and (features is None or result.columns[-1] >= features):
            raise ValueError(f"its weights are of feature {result.columns[-1] + 1}, and it has {features}")
        estimator._take(result)
        take_beside(estimator, arrays)
        return estimator


@attrs.frozen(repr=False)
class Unregistered:
    """The text of a loss or solver whose class has no registered name: enough to predict, not to fit.

    It is not a name, whatever it looks like: a class ``MRR`` of one's own is not the built-in loss "mrr".

    Parameters
    ----------
    text : what ``repr`` said of the object, or its class with ``(...)`` behind where that was an address.
    """

    text: str

    def __repr__(self) -> str:
        return self.text


def require_object(place: str, thing: Any) -> None:
    """Refuse the text of an object in the place of the object.

    Parameters
    ----------
    place : parameter of the estimator that it is for, "loss" or "solver".
    thing : its value.

    Raises
    ------
    InputError : when it is `Unregistered`; it names the class and the way out.
    """
    if isinstance(thing, Unregistered):
        raise InputError(
            f"this model was trained with the {place} {thing.text!r}, whose class is not registered, so that its file "
            f"has no more than this text: set_params({place}={thing.text.partition('(')[0]}(...)) first"
        )


@attrs.frozen
class SavedLoss:
    """What a file keeps of a loss whose class no registered name leads to.

    Parameters
    ----------
    title : the name of the class.
    settings : its attrs fields, with what it learned of the data; None where it is not an attrs class,
        or has one that would not come back as it is.
    """

    title: str
    settings: dict[str, Any] | None

    @classmethod
    def read(cls, written: Any) -> "SavedLoss":
        """Return what a file says was kept."""
        if not isinstance(written, dict):
            raise ValueError(f"saved_loss must be a JSON object, got {written!r}")
        require_names("saved_loss", written, ("title", "settings"), ("title", "settings"))
        title, settings = written["title"], written["settings"]
        if not isinstance(title, str) or not (settings is None or isinstance(settings, dict)):
            raise ValueError("saved_loss must have a title that is text, and settings by name or none")
        return cls(title, settings)

    @classmethod
    def of(cls, loss: Any) -> "SavedLoss":
        """Return what is kept of a loss; of one that was loaded and not given back since, what there is."""
        return loss if isinstance(loss, SavedLoss) else cls(type(loss).__name__, _settings_of(loss))

    def restored(self, loss: Any) -> Any:
        """Return the loss that was saved, given one of its class.

        Raises
        ------
        InputError : when this is not a loss, one of another class, or of a class whose fields have changed.
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


def beside(estimator: Any) -> dict[str, Any]:
    """Return what the files of all models may have, as arrays: names of features, a normalisation, and `Trained`."""
    arrays: dict[str, Any] = {}
    for attribute, name in _NAMES.items():
        names = getattr(estimator, attribute, None)
        if names is not None:
            arrays[name] = np.asarray(names, dtype=str)
    if getattr(estimator, "normaliser_", None) is not None:
        arrays |= estimator.normaliser_.arrays()
    if estimator.trained_ is not None:
        arrays["trained"] = np.array(json.dumps(attrs.asdict(estimator.trained_)))
    return arrays


def take_beside(estimator: Any, arrays: Mapping[str, Any]) -> None:
    """Set what `beside` returned, of arrays that may come from a file."""
    for attribute, name in _NAMES.items():
        if name in arrays:
            names = texts(arrays, name, (estimator.n_features_in_,))
            given = names.astype(object) if attribute == name else checked_names(name, names.tolist(), len(names))
            setattr(estimator, attribute, given)
    if "normaliser" in arrays:
        estimator.normaliser_ = read_normaliser(arrays, estimator.n_features_in_)
    elif "normalise" in estimator.get_params(deep=False):
        estimator.normaliser_ = None
    estimator.trained_ = Trained.read(record(arrays, "trained")) if "trained" in arrays else None


def written_setting(name: str, value: Any) -> Any:
    """Return a setting of an estimator as JSON has it."""
    match name:
        case "loss":
            return _written(losses, value)
        case "solver":
            return _written(solvers, value)
        case "C" | "intercept_scaling":
            return float(value)
        case "measure":
            return None if value is None else str(value)
        case "random_state":
            return value if is_integer(value) else None
        case "class_weight" if isinstance(value, dict):
            return [[np.asarray(label).item(), float(weight)] for label, weight in value.items()]
    return value


def read_setting(name: str, written: Any) -> Any:
    """Return a setting of an estimator, of the kind that it must be."""
    match name:
        case "loss":
            return _read(losses, written)
        case "solver":
            return _read(solvers, written)
        case "C" | "intercept_scaling" | "tol":
            require_number(name, written, above=0.0, optional=name == "tol")
        case "fit_intercept" | "warm_start":
            require_switch(name, written)
        case "class_weight" if isinstance(written, list):
            if not all(map(_is_weight, written)):
                raise ValueError(f"class_weight must be pairs of a label and a weight, got {written!r}")
            return dict(written)
        case "class_weight":
            require_choice(name, written, ("balanced", None))
        case _ if not isinstance(written, str | None):
            raise ValueError(f"{name} must be text or null, got {written!r}")
    return written


def _is_weight(pair: Any) -> bool:
    """Say whether it is a label with its weight."""
    return (
        isinstance(pair, list)
        and len(pair) == 2
        and isinstance(pair[0], str | int | float)
        and is_number(pair[1], at_least=0.0)
    )


def _settings_of(thing: Any) -> dict[str, Any] | None:
    """Return the fields of an attrs object; None where it is not one, or one would not come back as it is."""
    if not attrs.has(type(thing)):
        return None
    settings = {field.alias: getattr(thing, field.name) for field in attrs.fields(type(thing)) if field.init}
    try:
        text = json.dumps(settings, default=plain_number)
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
        json.dumps(settings, default=plain_number)
    except TypeError:
        return text
    return {"name": name, "settings": settings}


def _read(registry: Registry[Any], written: Any) -> Any:
    """Return what `_written` wrote as an object, or as text where there is no class of that name (any more)."""
    if isinstance(written, str):  # a name; in files of old, it may be the text of an object
        return written
    if not isinstance(written, dict):
        raise ValueError(f"a {registry.kind} must be text or a JSON object, got {written!r}")
    if _is_text(written):
        require_names(f"the {registry.kind}", written, ("text",))
        return Unregistered(str(written["text"]))
    require_names(f"the {registry.kind}", written, ("name", "settings"), ("name", "settings"))
    name, settings = written["name"], written["settings"]
    if not isinstance(name, str) or not isinstance(settings, dict):
        raise ValueError(f"a {registry.kind} must have a name that is text, and settings by name")
    if "backend" in settings:
        settings = {**settings, "backend": _read(backends, settings["backend"])}
    try:
        made = registry.find(name)
    except (PluginError, UnknownNameError):  # of a package that is not installed: predictions do without it
        return joined(name, {key: value for key, value in settings.items() if value is not None})
    try:
        return made(**settings)
    except Exception as error:  # its author's
        raise ValueError(f"the settings of the {registry.kind} {name!r} are none that it has: {error}") from None


def _truncated(loss: Any) -> Any:
    """Return a loss with a cut-off, or the name of one, as files of format 1 mean it."""
    try:
        made = losses.create(loss) if isinstance(loss, str) else loss
    except (InputError, PluginError):  # of a package that is not installed, or the text of an object
        return loss
    if getattr(made, "k", None) is None or not hasattr(made, "truncated"):
        return loss
    made = attrs.evolve(made, truncated=True)
    return losses.spell(made) if isinstance(loss, str) else made


def _described(thing: Any) -> str:
    text = repr(thing)
    return f"{type(thing).__name__}(...)" if text.startswith("<") else text


def _is_text(written: Any) -> bool:
    return isinstance(written, dict) and "text" in written


def plain_number(value: Any) -> Any:
    """Return a NumPy scalar as the Python number that it is."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written to a model file")
