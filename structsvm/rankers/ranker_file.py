"""Fitted rankers as arrays in a file."""

import json
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from structsvm.estimators.model_file import Saved, common_arrays, take_common
from structsvm.estimators.written_settings import plain_number, read_setting, written_setting
from structsvm.exceptions import InputError
from structsvm.serving.kinds import FORMAT, KINDS, contents
from structsvm.serving.scorer import Description
from structsvm.settings import require_integer, require_number, require_switch
from structsvm.storage.archives import finite_numbers, require_names, require_numbers, shape
from structsvm.types import Vector

_CHECKED_AS_READ = ("C", "tol", "solver", "measure", "class_weight")


class SavedRanker(Saved):
    """A ranker that can be written to a file once it is fitted, and read again.

    Derive from it, say which numbers there are to keep, and write `_state`, `_restore` and `_require_settings`.
    """

    _counts: ClassVar[Mapping[str, int]] = {"n_examples_": 1, "n_left_out_": 0}
    """Attributes set by `fit` that are whole numbers, each with the least that it can be, beside ``n_features_in_``."""

    _figures: ClassVar[tuple[str, ...]] = ()
    """Those that are other finite numbers."""

    @abstractmethod
    def _state(self) -> dict[str, Any]:
        """Return what else was fitted, as arrays by name; None of what there is not."""

    @abstractmethod
    def _restore(self, arrays: Mapping[str, Any], about: Description) -> None:
        """Set what `_state` returned, from arrays that may come from a file and are checked.

        Parameters
        ----------
        arrays : the arrays.
        about : what scorers are told of a model; what was kept beside arrays is set already.
        """

    @abstractmethod
    def _require_settings(self) -> None:
        """Refuse settings that are not what they may be."""

    def arrays(self) -> dict[str, Any]:
        settings = {name: _listed(written_setting(name, value)) for name, value in self.get_params(deep=False).items()}
        fitted = {name: getattr(self, name) for name in self._names()}
        try:
            text = json.dumps({"format": FORMAT, "settings": settings, "fitted": fitted}, default=plain_number)
        except TypeError as error:
            raise InputError(f"{type(self).__name__} cannot be written: {error}") from None
        state = {name: array for name, array in self._state().items() if array is not None}
        return {self._kind: np.array(text), **state, **common_arrays(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        text = contents(cls._kind, arrays)
        settings, fitted = text["settings"], text["fitted"]
        names = cls._names()
        require_names("the file", settings, cls._get_param_names())
        require_names("what was fitted", fitted, names, names)
        read = {name: read_setting(name, value) for name, value in settings.items() if name in _CHECKED_AS_READ}
        estimator = cls(**(settings | read))
        estimator._require_settings()
        require_switch("_fitted_with_qid", fitted["_fitted_with_qid"])
        for name, least in {"n_features_in_": 1, **cls._counts}.items():
            require_integer(name, fitted[name], least)
        for name in cls._figures:
            require_number(name, fitted[name])
        for name, value in fitted.items():
            setattr(estimator, name, value)
        take_common(estimator, arrays)
        estimator._restore(arrays, Description(cls._kind, KINDS[cls._kind], estimator.n_features_in_))
        return estimator

    @classmethod
    def _names(cls) -> list[str]:
        return ["n_features_in_", "_fitted_with_qid", *cls._counts, *cls._figures]


def curve(arrays: Mapping[str, Any], name: str, steps: int | None = None) -> Vector | None:
    """Return a figure of each step of training; None where the file has none.

    Parameters
    ----------
    arrays : those of the file.
    name : of the array.
    steps : number of steps; None: as many as it has.
    """
    if name not in arrays:
        return None
    require_numbers(arrays, name, shape(arrays, name)[:1] if steps is None else (steps,))
    return finite_numbers(arrays, name)


def _listed(value: Any) -> Any:
    """Return arrays as lists."""
    return value.tolist() if isinstance(value, np.ndarray) else value
