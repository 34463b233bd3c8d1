"""Fitted estimators: each stores a trained model, which files keep and from which the estimator is restored."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.written_settings import SavedLoss, read_object, read_setting, written_object, written_setting
from structsvm.exceptions import ModelFileError
from structsvm.foundation.settings import checked_names, require_integer, require_number, require_switch
from structsvm.foundation.storage.archives import finite_numbers, require_names
from structsvm.foundation.storage.files import read_archive
from structsvm.foundation.types import Vector
from structsvm.models.base import TrainedModel
from structsvm.models.drift import FeatureStatistics
from structsvm.models.files import read_model
from structsvm.models.training import Trained, Training
from structsvm.registry import losses
from structsvm.result import Result

_NOT_SAVED = ("n_jobs",)
Arrays: TypeAlias = Mapping[str, NDArray[Any] | None]
NONE: Arrays = MappingProxyType({})


class TrainedEstimator(BaseEstimator):
    """Base of estimators whose ``fit`` sets ``model_`` with a record by `_training`; subclasses extend `_restore`."""

    _saved_as: ClassVar[str]
    """Class name in files: the name of the estimator or of a base class."""

    _kept: ClassVar[Mapping[str, Any]]
    """Attributes of ``fit`` that files store, with types: ``float``, ``bool``, or the least value of an integer."""

    _form: ClassVar[type[TrainedModel]]
    """Class of ``model_``."""

    _restores_loss: ClassVar[bool] = False
    """True if files store a loss without registered name as `SavedLoss`."""

    _statistics: FeatureStatistics | None = None
    """Statistics of the training features, which `TrainedModel.check` needs; set by the check of the arguments."""

    model_: TrainedModel
    loss_: Any

    @property
    def trained_(self) -> Trained | None:
        """When the model was trained, and by which version."""
        return self.model_.training.trained

    @trained_.setter
    def trained_(self, trained: Trained) -> None:
        self.model_ = attrs.evolve(self.model_, training=attrs.evolve(self.model_.training, trained=trained))

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file (npz without pickles); an existing file is replaced atomically.

        Settings are stored as text and numbers: the text of an object of an unregistered class, and nothing for a
        ``numpy.random.RandomState``. After `load`, ``set_params(loss=...)`` restores the loss.
        """
        check_is_fitted(self, "model_")
        self.model_.save(path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote.

        Raises
        ------
        ModelFileError : the file is not a model of this class, is damaged, or has another format.
        """
        return read_archive(path, lambda arrays: cls.from_model(read_model(arrays)))

    @classmethod
    def from_model(cls, model: TrainedModel) -> Self:
        """Make the estimator that trained a model.

        Raises
        ------
        ModelFileError : another estimator trained it.
        KeyError, ValueError : the record of its training is malformed.
        """
        training = model.training
        if training.estimator != cls._saved_as:
            way = f"{training.estimator}.load or structsvm.load" if training.estimator else "structsvm.load"
            raise ModelFileError(f"it holds a {model.title}: read it with {way}")
        require_names("the file", training.settings, cls._saved_parameters())
        estimator = cls(**{name: read_setting(name, written) for name, written in training.settings.items()})
        estimator._require_settings()
        fitted = dict(training.fitted)
        estimator._restore_loss(fitted)
        require_names("the record of fit", fitted, cls._kept, cls._kept)
        for name, value in fitted.items():
            estimator._restore_one(name, value)
        if model.n_features:
            estimator.n_features_in_ = model.n_features
        if model.feature_names is not None:
            estimator.feature_names_in_ = np.array(model.feature_names, dtype=object)
        if not isinstance(model, cls._form):
            raise ValueError(f"{cls._saved_as} has no model of the form {model.form!r}")
        estimator.model_ = model
        estimator._restore()
        return estimator

    def _training(self, result: Result | None, arrays: Arrays) -> Training:
        """Return the record of a fit that ends now; `_restore` reads ``arrays`` again, None values left out."""
        parameters = self.get_params(deep=False)
        saved = [name for name in self._saved_parameters() if name not in _NOT_SAVED]
        settings = {name: written_setting(name, parameters[name]) for name in saved}
        fitted: dict[str, Any] = {}
        if hasattr(self, "loss_"):
            fitted["loss_"] = written_object(losses, self.loss_)
            if self._restores_loss:
                fitted["saved_loss"] = attrs.asdict(SavedLoss.of(self.loss_))
        fitted |= {name: getattr(self, name) for name in self._kept}
        kept = {name: array for name, array in arrays.items() if array is not None}
        if self._statistics is not None:
            kept |= self._statistics.arrays()
        return Training(self._saved_as, settings, fitted, Trained.now(), result, kept)

    def _require_settings(self) -> None:
        """Raise InputError for invalid settings, before a fit and after reading a file."""

    def _restore(self) -> None:
        """Set and check the other attributes of ``fit``; raise KeyError or ValueError if the file is malformed."""

    def _restore_loss(self, fitted: dict[str, Any]) -> None:
        """Remove the loss from the fitted values and set ``loss_``."""
        if "loss_" not in fitted:
            return
        loss = read_object(losses, fitted.pop("loss_"))
        saved = SavedLoss.read(fitted.pop("saved_loss")) if "saved_loss" in fitted else None
        self.loss_ = loss if saved is None or losses.holds(loss) else saved

    def _restore_one(self, name: str, value: Any) -> None:
        kind = self._kept[name]
        if kind is bool:
            require_switch(name, value)
        elif kind is float:
            require_number(name, value)
        elif kind is tuple:
            value = None if value is None else checked_names(name, value, len(value))
        else:
            require_integer(name, value, kind)
        setattr(self, name, value)

    @classmethod
    def _saved_parameters(cls) -> list[str]:
        """Return the names of the parameters in files."""
        home: Any = next(each for each in cls.__mro__ if "_saved_as" in vars(each))
        names: list[str] = home._get_param_names()
        return names


class CertifiedEstimator(TrainedEstimator):
    """An estimator whose fit ends in a `Result`."""

    warm_start: bool = False

    @property
    def _start(self) -> Result | None:
        """The result that a fit starts from: the last one with ``warm_start``; else None."""
        return self.result_ if self.warm_start and hasattr(self, "result_") else None

    @property
    def result_(self) -> Result:
        """`Result` with both bounds, status and history."""
        result = self.model_.training.result
        if result is None:
            raise AttributeError("result_")
        return result

    def _restore(self) -> None:
        super()._restore()
        result, d = self.model_.training.result, self.model_.n_features
        if result is None:
            raise ValueError("it has no result")
        if result.columns is not None and result.columns[-1] >= d:
            raise ValueError(f"a weight is for feature {result.columns[-1] + 1}, but the model has {d} features")


def curve(arrays: Mapping[str, Any], name: str, steps: int | None = None) -> Vector | None:
    """Return a file's figure for each step of training, checked for ``steps`` if given; None if it is absent."""
    if name not in arrays:
        return None
    return finite_numbers(arrays, name, (steps,))
