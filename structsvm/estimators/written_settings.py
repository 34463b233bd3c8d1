"""Settings of estimators as JSON has them: names, numbers, and losses and solvers with their settings."""

import json
from typing import Any

import attrs
import numpy as np

from structsvm.exceptions import InputError, PluginError, UnknownNameError
from structsvm.losses.base import StructuredLoss
from structsvm.registry import Registry, backends, losses, solvers
from structsvm.registry.spelling import joined
from structsvm.settings import is_integer, is_number, require_choice, require_integer, require_number, require_switch
from structsvm.storage.archives import require_names


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
        if not isinstance(loss, StructuredLoss) or type(loss).__name__ != self.title:
            raise InputError(
                f"this model was trained with the loss {self.title}, a class that a file does not hold: "
                f"set_params(loss={self.title}(...)) gives it back, before any use of it, such as predict and score"
            )
        if self.settings is None:
            return loss
        try:
            return type(loss)(**_tuples(self.settings))
        except TypeError as error:
            raise InputError(f"the class {self.title} has changed since this model was trained: {error}") from None


def written_setting(name: str, value: Any) -> Any:
    """Return a setting of an estimator as JSON has it."""
    match name:
        case "loss":
            return written_object(losses, value)
        case "solver":
            return written_object(solvers, value)
        case "C" | "intercept_scaling":
            return float(value)
        case "measure":
            return None if value is None else str(value)
        case "centre" | "penalty":
            return np.asarray(value, dtype=np.float64).tolist()
        case "bounds":
            return [None if end is None else _written_end(end) for end in value]
        case "monotonic_cst":
            return {k: int(v) for k, v in value.items()} if isinstance(value, dict) else np.asarray(value).tolist()
        case "random_state":
            return value if is_integer(value) else None
        case "class_weight" if isinstance(value, dict):
            return [[np.asarray(label).item(), float(weight)] for label, weight in value.items()]
    return value


def read_setting(name: str, written: Any) -> Any:
    """Return a setting of an estimator, of the kind that it must be."""
    match name:
        case "loss":
            return read_object(losses, written)
        case "solver":
            return read_object(solvers, written)
        case "C" | "intercept_scaling" | "tol":
            require_number(name, written, above=0.0, optional=name == "tol")
        case "fit_intercept" | "warm_start":
            require_switch(name, written)
        case "max_rounds":
            require_integer(name, written, 1)
        case "class_weight" if isinstance(written, list):
            if not all(map(_is_weight, written)):
                raise ValueError(f"class_weight must be pairs of a label and a weight, got {written!r}")
            return dict(written)
        case "centre" | "penalty":
            if not (isinstance(written, list) and all(map(is_number, written))):
                raise ValueError(f"{name} must be a list of finite numbers, got {written!r}")
            return np.array(written, dtype=np.float64)
        case "bounds" if written is not None:
            if not (isinstance(written, list) and len(written) == 2 and all(map(_is_end, written))):
                raise ValueError(f"bounds must be two ends, each null, a number or a list of these, got {written!r}")
            return tuple(_read_end(end, none) for end, none in zip(written, (-np.inf, np.inf), strict=True))
        case "monotonic_cst" if written is not None:
            signs = written.values() if isinstance(written, dict) else written if isinstance(written, list) else [None]
            if not all(sign in (-1, 0, 1) for sign in signs):
                raise ValueError(f"monotonic_cst must be 1, 0 or -1 for each feature, got {written!r}")
            return written
        case "class_weight":
            require_choice(name, written, ("balanced", None))
        case _ if not isinstance(written, str | None):
            raise ValueError(f"{name} must be text or null, got {written!r}")
    return written


def _written_end(end: Any) -> Any:
    """Return smallest or largest weights as JSON has them: null where there is no bound."""
    values = np.asarray(end, dtype=np.float64)
    return np.where(np.isfinite(values), values.astype(object), np.array(None)).tolist()


def _is_end(written: Any) -> bool:
    each = written if isinstance(written, list) else [written]
    return all(number is None or is_number(number) for number in each)


def _read_end(written: Any, none: float) -> Any:
    """Return smallest or largest weights of a file; null is no bound."""
    if isinstance(written, list):
        return np.array([none if number is None else number for number in written], dtype=np.float64)
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


def written_object(registry: Registry[Any], thing: Any) -> Any:
    """Return a name, a name with settings, or text, marked as such, for what has neither."""
    if isinstance(thing, str):
        return thing
    name = registry.name_of(type(thing))
    text = {"text": _described(thing)}
    if name is None or not attrs.has(type(thing)):
        return text
    settings = {field.name: getattr(thing, field.name) for field in attrs.fields(type(thing)) if field.init}
    if "backend" in settings:
        settings["backend"] = written_object(backends, settings["backend"])
        if _is_text(settings["backend"]):
            return text
    try:
        json.dumps(settings, default=plain_number)
    except TypeError:
        return text
    return {"name": name, "settings": settings}


def read_object(registry: Registry[Any], written: Any) -> Any:
    """Return what `written_object` wrote as an object, or as text where there is no class of that name (any more)."""
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
        settings = {**settings, "backend": read_object(backends, settings["backend"])}
    try:
        made = registry.find(name)
    except (PluginError, UnknownNameError):  # of a package that is not installed: predictions do without it
        return joined(name, {key: value for key, value in settings.items() if value is not None})
    try:
        return made(**settings)
    except Exception as error:  # its author's
        raise ValueError(f"the settings of the {registry.kind} {name!r} are none that it has: {error}") from None


def truncated(loss: Any) -> Any:
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
