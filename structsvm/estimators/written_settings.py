"""Settings of estimators as JSON: names, numbers, and losses and solvers with their settings."""

import json
from importlib import import_module
from typing import Any

import attrs
import numpy as np

from structsvm.exceptions import InputError, PluginError, UnknownNameError, brief
from structsvm.foundation.settings import (
    is_integer,
    is_number,
    require_choice,
    require_integer,
    require_number,
    require_switch,
)
from structsvm.foundation.storage.archives import require_names
from structsvm.losses.base import StructuredLoss, Wrapper
from structsvm.models.training import read_bounds
from structsvm.registry import Registry, backends, losses, solvers
from structsvm.registry.spelling import joined
from structsvm.training.filling import require_missing

_INNER: dict[str, Registry[Any]] = {"backend": backends, "loss": losses}
"""Registries of the settings that are objects themselves."""


@attrs.frozen(repr=False)
class Unregistered:
    """The text, never a name, of a loss or solver without a registered name: enough to predict, not to fit."""

    text: str

    def __repr__(self) -> str:
        return self.text


def require_object(place: str, thing: Any) -> None:
    """Refuse the text of an object as the value of a parameter, "loss" or "solver"."""
    if isinstance(thing, Unregistered):
        raise InputError(
            f"this model was trained with the {place} {thing.text!r}, whose class is not registered, so its file "
            f"stores only this text: call set_params({place}={thing.text.partition('(')[0]}(...)) first"
        )


@attrs.frozen
class SavedLoss:
    """A file's record of a loss without a registered name; ``settings`` None cannot be restored exactly."""

    title: str
    settings: dict[str, Any] | None

    @classmethod
    def read(cls, written: Any) -> "SavedLoss":
        """Parse the record in a file."""
        if not isinstance(written, dict):
            raise ValueError(f"saved_loss must be a JSON object, got {brief(written)}")
        require_names("saved_loss", written, ("title", "settings"), ("title", "settings"))
        title, settings = written["title"], written["settings"]
        if not isinstance(title, str) or not (settings is None or isinstance(settings, dict)):
            raise ValueError("saved_loss must have a title that is text, and settings that are an object or null")
        return cls(title, settings)

    @classmethod
    def of(cls, loss: Any) -> "SavedLoss":
        """Return the record of a loss; a record stays as it is."""
        if isinstance(loss, SavedLoss):
            return loss
        if isinstance(loss, Wrapper):
            return cls(type(loss).__name__, {"loss": attrs.asdict(cls.of(loss.inner))})
        return cls(type(loss).__name__, _settings_of(loss))

    def restored(self, loss: Any) -> Any:
        """Return the saved loss, given a loss of its class."""
        if not isinstance(loss, StructuredLoss) or type(loss).__name__ != self.title:
            raise InputError(
                f"this model was trained with the loss {self.title}, whose class its file does not store: call "
                f"set_params(loss={self.title}(...)) before predict and score"
            )
        if self.settings is None:
            return loss
        if isinstance(loss, Wrapper):
            return type(loss)(SavedLoss.read(self.settings.get("loss")).restored(loss.inner))  # type: ignore[call-arg]
        try:
            return type(loss)(**_tuples(self.settings))
        except TypeError as error:
            raise InputError(f"the class {self.title} changed after this model was trained: {error}") from None


def written_setting(name: str, value: Any) -> Any:
    """Convert a setting of an estimator to JSON."""
    match name:
        case _ if value is None:
            return None
        case "loss":
            return written_object(losses, value)
        case "solver":
            return written_object(solvers, value)
        case "trees":
            return value if isinstance(value, str | None) else {"text": _described(value)}
        case "C" | "intercept_scaling":
            return float(value)
        case "measure":
            return str(value)
        case "center" | "feature_penalty":
            return np.asarray(value, dtype=np.float64).tolist()
        case "bounds":
            return [None if end is None else _written_end(end) for end in value]
        case "monotonic_cst":
            return {k: int(v) for k, v in value.items()} if isinstance(value, dict) else np.asarray(value).tolist()
        case "random_state":
            return value if is_integer(value) else None
        case "class_weight" if isinstance(value, dict):
            return [[np.asarray(label).item(), float(weight)] for label, weight in value.items()]
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def read_setting(name: str, written: Any) -> Any:
    """Parse and check a setting of an estimator."""
    match name:
        case "loss" | "C" if written is None:
            return None
        case "loss":
            return read_object(losses, written)
        case "solver":
            return read_object(solvers, written)
        case "trees" if _is_text(written):
            return Unregistered(str(written["text"]))
        case "C" | "intercept_scaling" | "tol":
            require_number(name, written, above=0.0, optional=name == "tol")
        case "fit_intercept" | "warm_start":
            require_switch(name, written)
        case "max_iter":
            require_integer(name, written, 1, optional=True)
        case "class_weight" if isinstance(written, list):
            if not all(map(_is_weight, written)):
                raise ValueError(f"class_weight must be pairs of a label and a weight, got {brief(written)}")
            return dict(written)
        case "center" | "feature_penalty" if written is not None:
            if not (isinstance(written, list) and all(map(is_number, written))):
                raise ValueError(f"{name} must be a list of finite numbers, got {brief(written)}")
            return np.array(written, dtype=np.float64)
        case "bounds" if written is not None:
            return read_bounds(written)
        case "monotonic_cst" if written is not None:
            signs = written.values() if isinstance(written, dict) else written if isinstance(written, list) else [None]
            if not all(sign in (-1, 0, 1) for sign in signs):
                raise ValueError(f"monotonic_cst must be 1, 0 or -1 for each feature, got {brief(written)}")
            return written
        case "class_weight":
            require_choice(name, written, ("balanced", None))
        case "missing":
            require_missing(name, written)
        case "measure" | "normalize" if not isinstance(written, str | None):
            raise ValueError(f"{name} must be text or null, got {brief(written)}")
    return written


def _written_end(end: Any) -> Any:
    """Convert smallest or largest weights to JSON; null means no bound."""
    values = np.asarray(end, dtype=np.float64)
    return np.where(np.isfinite(values), values.astype(object), np.array(None)).tolist()


def _is_weight(pair: Any) -> bool:
    """Return True for a pair of a label and its weight."""
    if not isinstance(pair, list) or len(pair) != 2:
        return False
    return isinstance(pair[0], str | int | float) and is_number(pair[1], at_least=0.0)


def _settings_of(thing: Any) -> dict[str, Any] | None:
    """Return the fields of an attrs object; None for another object, or if JSON would change a field."""
    if not attrs.has(type(thing)):
        return None
    settings = {field.alias: getattr(thing, field.name) for field in attrs.fields(type(thing)) if field.init}
    try:
        text = json.dumps(settings, default=plain_number)
    except TypeError:
        return None
    return settings if _tuples(json.loads(text)) == settings else None


def _tuples(value: Any) -> Any:
    """Convert lists in parsed JSON back to tuples."""
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def written_object(registry: Registry[Any], thing: Any) -> Any:
    """Convert an object to its name, its name with settings, or else marked text."""
    if isinstance(thing, str):
        return thing
    name = registry.name_of(type(thing)) or _public_name(registry, type(thing))
    spelled = registry.spell(thing) if registry.holds(thing) else None
    text = {"text": spelled or _described(thing)}
    if name is None or not attrs.has(type(thing)):
        return text
    settings = {field.alias: getattr(thing, field.name) for field in attrs.fields(type(thing)) if field.init}
    for inner, of_inner in _INNER.items():
        if inner in settings:
            settings[inner] = written_object(of_inner, settings[inner])
            if _is_text(settings[inner]):
                return text
    try:
        json.dumps(settings, default=plain_number)
    except TypeError:
        return text
    return {"name": name, "settings": settings, **text}


def read_object(registry: Registry[Any], written: Any) -> Any:
    """Restore an object from `written_object`; return text if no class has its name (any more)."""
    if isinstance(written, str):
        return written
    if not isinstance(written, dict):
        raise ValueError(f"a {registry.kind} must be text or a JSON object, got {brief(written)}")
    if _is_text(written):
        require_names(f"the {registry.kind}", written, ("text",))
        return Unregistered(str(written["text"]))
    require_names(f"the {registry.kind}", written, ("name", "settings", "text"), ("name", "settings", "text"))
    name, settings = written["name"], written["settings"]
    if not isinstance(name, str) or not isinstance(settings, dict):
        raise ValueError(f"a {registry.kind} must have a name that is text, and settings that are an object")
    settings |= {
        inner: read_object(of_inner, settings[inner]) for inner, of_inner in _INNER.items() if inner in settings
    }
    try:
        kind: Any = _public_class(registry, name) or registry.find(name)
    except (PluginError, UnknownNameError):
        # The class is in a package that is not installed. Predictions do not need it.
        return joined(name, {key: value for key, value in settings.items() if value is not None})
    try:
        return kind(**_tuples(settings))
    except Exception as error:
        # A class of a plugin may raise anything.
        raise ValueError(f"the settings of the {registry.kind} {name!r} are invalid: {error}") from None


def _public_name(registry: Registry[Any], kind: type) -> str | None:
    """Return the name of a public class of this package that has no registered name, such as a wrapper of losses."""
    return kind.__name__ if _public_class(registry, kind.__name__) is kind else None


def _public_class(registry: Registry[Any], name: str) -> type | None:
    """Return the public class of this name among the objects of a registry."""
    home = import_module(next(iter(registry.built_in.values())).partition(":")[0])
    kind = getattr(home, name, None) if name in home.__all__ else None
    return kind if isinstance(kind, type) and attrs.has(kind) else None


def _described(thing: Any) -> str:
    try:
        text = repr(thing)
    except Exception:
        # A user-defined repr may raise anything.
        text = "<"
    return f"{type(thing).__name__}(...)" if text.startswith("<") else text


def _is_text(written: Any) -> bool:
    return isinstance(written, dict) and "text" in written and "name" not in written


def plain_number(value: Any) -> Any:
    """Convert a NumPy scalar to a Python number."""
    if isinstance(value, np.generic):
        # Python has no long double.
        return float(value) if isinstance(value, np.longdouble) else value.item()
    raise TypeError(f"{value!r} cannot be stored in a model file")
