"""Give estimators the results of fits, write their models to files, and restore estimators from models."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import attrs
import numpy as np
from attrs import evolve, frozen
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.written_settings import SavedLoss, read_object, read_setting, written_object, written_setting
from structsvm.exceptions import ModelFileError
from structsvm.foundation.settings import checked_names, require_integer, require_number, require_switch
from structsvm.foundation.storage.archives import finite_numbers, require_names
from structsvm.foundation.storage.files import read_archive
from structsvm.foundation.types import Vector
from structsvm.models.base import TrainedModel, read_model
from structsvm.models.drift import FeatureStatistics
from structsvm.models.joint import JointModel
from structsvm.models.training import Trained, Training
from structsvm.registry import losses
from structsvm.result import Result
from structsvm.training.objective import NONE, Fit

Estimator = TypeVar("Estimator", bound=Any)

_NOT_SAVED = ("n_jobs",)


def _nothing(_estimator: Any) -> None:
    """Restore nothing beside the facts."""


@frozen
class Stored:
    """The contents of files of an estimator's class: its name, the form of its model, and the facts of a fit.

    Parameters
    ----------
    facts : attributes of ``fit`` with types: ``float``, ``bool``, ``tuple`` of names, or the least value of an integer.
    restore : sets and checks other attributes after loading; raises KeyError or ValueError if the file is malformed.
    any_loss : files store a loss without registered name as `SavedLoss`.
    """

    name: str
    form: type[TrainedModel]
    facts: Mapping[str, Any] = NONE
    restore: Callable[[Any], None] = _nothing
    any_loss: bool = False


def set_features(estimator: Any, n_features: int | None, names: Any, categories: Sequence[str] = ()) -> None:
    """Set or remove ``n_features_in_`` and ``feature_names_in_``, and set the columns of categories."""
    for name in ("n_features_in_", "feature_names_in_", "_categories"):
        estimator.__dict__.pop(name, None)
    if categories:
        estimator._categories = tuple(categories)
    if n_features is not None:
        estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def adopt(estimator: Estimator, fit: Fit, *, recorded: bool = True) -> Estimator:
    """Give an estimator the attributes of a fit; ``recorded`` adds the record of training that files need."""
    model = fit.model
    set_features(estimator, model.n_features or None, model.feature_names, model.categories)
    for name, value in fit.facts.items():
        setattr(estimator, name, value)
    if recorded:
        training = record(estimator, fit.arrays, fit.objective.statistics(), fit.result)
        model = evolve(model, training=training)
    else:
        model = evolve(model, training=Training(result=fit.result))
    estimator.model_ = _owned(estimator, model)
    return estimator


def record(
    estimator: Any, arrays: Mapping[str, Any], statistics: FeatureStatistics | None, result: Result | None = None
) -> Training:
    """Return the record of a fit that ends now; arrays that are None are left out."""
    if statistics is not None:
        arrays = {**arrays, **statistics.arrays()}
    stored: Stored = estimator.stored
    parameters = estimator.get_params(deep=False)
    settings = {
        name: written_setting(name, parameters[name])
        for name in _saved_parameters(type(estimator))
        if name not in _NOT_SAVED
    }
    fitted: dict[str, Any] = {}
    if hasattr(estimator, "loss_"):
        fitted["loss_"] = written_object(losses, estimator.loss_)
        if stored.any_loss:
            fitted["saved_loss"] = attrs.asdict(SavedLoss.of(estimator.loss_))
    fitted |= {name: getattr(estimator, name) for name in stored.facts}
    present = {name: array for name, array in arrays.items() if array is not None}
    return Training(stored.name, settings, fitted, Trained.now(), result, present)


def add_facts(estimator: Any, **facts: Any) -> None:
    """Add facts such as ``choice`` to the record of how the model of an estimator was trained."""
    model: TrainedModel = estimator.model_
    trained: Any = model.training.trained
    estimator.model_ = evolve(model, training=evolve(model.training, trained=evolve(trained, **facts)))


def save(self: Any, path: str | Path) -> None:
    """Write the fitted model to a file (npz without pickles); an existing file is replaced atomically.

    Settings are stored as text and numbers. For an object of an unregistered class, the file has only its text; after
    `load`, ``set_params(loss=...)`` restores a loss. A ``numpy.random.RandomState`` is not stored.
    """
    check_is_fitted(self, "model_")
    self.model_.save(path)


def chosen_model(self: Any) -> TrainedModel:
    """The model of ``estimator_``."""
    model: TrainedModel = self.estimator_.model_
    return model


def result(self: Any) -> Result:
    """`Result` with both bounds, status and history."""
    stored: Result | None = self.model_.training.result
    if stored is None:
        raise AttributeError("result_")
    return stored


def trained(self: Any) -> Trained | None:
    """When the model was trained, and by which version."""
    facts: Trained | None = self.model_.training.trained
    return facts


def save_chosen(self: Any, path: str | Path) -> None:
    """Write ``estimator_`` to a file; see `Ranker.save`."""
    check_is_fitted(self, "estimator_")
    self.estimator_.save(path)


def load(cls: type[Estimator], path: str | Path) -> Estimator:
    """Read the estimator of a class from a file."""
    return read_archive(path, lambda arrays: from_model(cls, read_model(arrays)))


def from_model(cls: type[Estimator], model: TrainedModel) -> Estimator:
    """Make the estimator of a class that trained a model."""
    training = model.training
    stored: Stored | None = getattr(cls, "stored", None)
    if stored is None or training.estimator != stored.name:
        way = f"{training.estimator}.load or structsvm.load" if training.estimator else "structsvm.load"
        raise ModelFileError(f"it holds a {model.title}: read it with {way}")
    require_names("the file", training.settings, _saved_parameters(cls))
    estimator: Any = cls(**{name: read_setting(name, written) for name, written in training.settings.items()})
    fitted = dict(training.fitted)
    _restore_loss(estimator, fitted)
    require_names("the record of fit", fitted, stored.facts, stored.facts)
    for name, value in fitted.items():
        setattr(estimator, name, _fact(name, value, stored.facts[name]))
    set_features(estimator, model.n_features or None, model.feature_names, model.categories)
    if not isinstance(model, stored.form):
        raise ValueError(f"{stored.name} has no model of the form {model.form!r}")
    estimator.model_ = _owned(estimator, model)
    stored.restore(estimator)
    restored: Estimator = estimator
    return restored


def _owned(estimator: Any, model: TrainedModel) -> TrainedModel:
    """Return a model that knows how to restore its estimator, if it predicts by it."""
    return evolve(model, estimator_of=partial(from_model, type(estimator))) if isinstance(model, JointModel) else model


def result_of(estimator: Any) -> Any:
    """Return the result of a model from a file; refuse a model without one, or with weights of absent features."""
    result, d = estimator.model_.training.result, estimator.model_.n_features
    if result is None:
        raise ValueError("it has no result")
    if result.columns is not None and result.columns[-1] >= d:
        raise ValueError(f"a weight is for feature {result.columns[-1] + 1}, but the model has {d} features")
    return result


def curve(arrays: Mapping[str, Any], name: str, steps: int | None = None) -> Vector | None:
    """Return the values of the training steps in a file, ``steps`` of them unless None; None without values."""
    if name not in arrays:
        return None
    return finite_numbers(arrays, name, (steps,))


def _restore_loss(estimator: Any, fitted: dict[str, Any]) -> None:
    """Remove the loss from the fitted values and set ``loss_``."""
    if "loss_" not in fitted:
        return
    loss = read_object(losses, fitted.pop("loss_"))
    saved = SavedLoss.read(fitted.pop("saved_loss")) if "saved_loss" in fitted else None
    estimator.loss_ = loss if saved is None or losses.holds(loss) else saved


def _fact(name: str, value: Any, kind: Any) -> Any:
    """Return a checked fact of a file."""
    if kind is bool:
        require_switch(name, value)
    elif kind is float:
        require_number(name, value)
    elif kind is tuple:
        return None if value is None else checked_names(name, value, len(value))
    else:
        require_integer(name, value, kind)
    return value


def _saved_parameters(kind: Any) -> list[str]:
    """Return the names of the parameters in files: of the class that has ``stored`` in its body."""
    home: Any = next(base for base in kind.__mro__ if "stored" in vars(base))
    names: list[str] = home._get_param_names()
    return names
