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

from structsvm.estimators.written_settings import (
    SavedLoss,
    plain_number,
    read_object,
    read_setting,
    truncated,
    written_object,
    written_setting,
)
from structsvm.normalisation import Normalisation, read_normaliser
from structsvm.registry import losses
from structsvm.registry.spelling import is_whole
from structsvm.result import Result
from structsvm.serving.kinds import FORMAT, contents
from structsvm.settings import require_integer, require_number, require_switch
from structsvm.storage.archives import record, require_names, require_numbers, shape, texts
from structsvm.storage.files import read_archive, write_archive

_COUNTS = {"n_features_in_": (1,), "n_examples_": (0,), "n_left_out_": (0,)}
"""The least value of what is kept and is a whole number."""
_NUMBERS = ("objective_",)
"""What is kept and is any number; all else is True or False."""
_SETTINGS = (
    *("loss", "C", "solver", "tol", "fit_intercept", "intercept_scaling", "class_weight", "measure"),
    *("normalise", "warm_start"),
)
_WHERE_GIVEN = ("centre", "penalty", "bounds", "monotonic_cst")
"""Settings that are written where they are not None: earlier versions know none of them."""


@attrs.frozen
class Trained:
    """When a model was trained, and with what.

    Parameters
    ----------
    version : of structural-svm.
    time : when training ended, in UTC as ISO 8601 writes it; with SOURCE_DATE_EPOCH in the environment, the time
        that this gives, as reproducible builds have it.
    choice : how a setting was chosen by held-out queries, in words; None where none was, and in earlier files.
    """

    version: str
    time: str
    choice: str | None = None

    @classmethod
    def now(cls) -> Self:
        """Return what is written of a model that was trained just now."""
        seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
        moment = datetime.fromtimestamp(int(seconds) if is_whole(seconds) else time.time(), UTC)
        return cls(version("structural-svm"), moment.isoformat(timespec="seconds"))

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Self:
        """Return what a file says."""
        require_names("the record of training", written, ("version", "time", "choice"), ("version", "time"))
        if not all(isinstance(text, str) for text in written.values()):
            raise ValueError("the record of training must be texts")
        return cls(**written)


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
        """Make an estimator from what `arrays` returned, which may come from a file and is checked.

        Raises
        ------
        ModelFileError : when it is another estimator, or a newer version wrote it.
        KeyError, ValueError : when something is missing, or is not what it can be.
        """


class SavedEstimator(Saved):
    """An estimator with a loss and a `Result`.

    Derive from it, say what there is to keep, and write `_take`.
    """

    _former_kind: ClassVar[str | None] = None
    """What files of earlier versions call it, where that is another kind."""

    _kept: ClassVar[tuple[str, ...]]
    """The attributes set by `fit` that are kept, those that it did set, beside ``result_`` and ``loss_``."""

    _needed: ClassVar[tuple[str, ...]] = ()
    """Those among them that every fit sets."""

    _more_settings: ClassVar[tuple[str, ...]] = ()
    """The parameters that are kept beside those that all estimators have."""

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
        given = [name for name in _WHERE_GIVEN if parameters.get(name) is not None]
        kept = [name for name in (*_SETTINGS, *self._more_settings) if name in parameters]
        settings = {name: written_setting(name, parameters[name]) for name in (*kept, *given)}
        fitted = {"loss_": written_object(losses, self.loss_)}
        if self._restores_loss:
            fitted["saved_loss"] = attrs.asdict(SavedLoss.of(self.loss_))
        fitted |= {name: getattr(self, name) for name in self._kept if hasattr(self, name)}
        written = {"format": FORMAT, "settings": settings, "fitted": fitted}
        arrays = {self._kind: np.array(json.dumps(written, default=plain_number)), **self.result_.arrays()}
        return arrays | common_arrays(self)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        former = cls._former_kind
        text = contents(cls._kind if former is None or former not in arrays else former, arrays)
        settings, fitted = text["settings"], text["fitted"]
        require_names("the file", settings, cls._get_param_names(), ["loss"])
        loss = read_object(losses, fitted.pop("loss_", settings["loss"]))
        meant = truncated if text["format"] == 1 else lambda loss: loss
        saved = SavedLoss.read(fitted.pop("saved_loss")) if "saved_loss" in fitted else None
        require_names("what was fitted", fitted, cls._kept, cls._needed)
        estimator = cls(**{name: read_setting(name, written) for name, written in settings.items()})
        estimator.loss = meant(estimator.loss)
        estimator.loss_ = meant(loss) if saved is None or losses.holds(loss) else saved
        for name, value in fitted.items():
            if name in _NUMBERS:
                require_number(name, value)
            else:
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
        take_common(estimator, arrays)
        return estimator


def common_arrays(estimator: Any) -> dict[str, Any]:
    """Return what the files of all models may have, as arrays: names of features, a normalisation, and `Trained`."""
    arrays: dict[str, Any] = {}
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        arrays["feature_names"] = np.asarray(names, dtype=str)
    if getattr(estimator, "normaliser_", None) is not None:
        arrays |= estimator.normaliser_.arrays()
    if estimator.trained_ is not None:
        known = attrs.asdict(estimator.trained_, filter=lambda _, value: value is not None)
        arrays["trained"] = np.array(json.dumps(known))
    return arrays


def take_common(estimator: Any, arrays: Mapping[str, Any]) -> None:
    """Set what `common_arrays` returned, of arrays that may come from a file."""
    if "feature_names" in arrays:
        estimator.feature_names_in_ = texts(arrays, "feature_names", (estimator.n_features_in_,)).astype(object)
    if "normaliser" in arrays:
        estimator.normaliser_ = read_normaliser(arrays, estimator.n_features_in_)
    elif "normalise" in estimator.get_params(deep=False):
        estimator.normaliser_ = None
    estimator.trained_ = Trained.read(record(arrays, "trained")) if "trained" in arrays else None
